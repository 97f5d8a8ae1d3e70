#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "jobman/client/context.hpp"
#include "jobman/client/times.hpp"

namespace jobman::client {

/// A bucket, or why nothing is known of it.
struct BucketRow {
  std::string name = {};
  std::optional<ports::BucketSeen> seen = {};
  std::optional<base::Error> refused = {};  ///< of a bucket that was named
  std::optional<std::int64_t> bytes = {};   ///< nothing: not known, or no objects
  bool elsewhere = false;                   ///< known to be in no region of StorageAnswer::regions
};

struct StorageQuery {
  core::CloudSpec cloud = {};
  std::string project = {};
  std::vector<std::string> buckets = {};       ///< "data" or "gs://data"; empty: all of the project
  base::Duration limit = kNamedBucketsAnswer;  ///< for all that are named
};

struct StorageAnswer {
  std::vector<BucketRow> rows = {};
  std::set<std::string> regions = {};        ///< of this store's jobs that are not over
  std::optional<base::Error> no_list = {};   ///< why the project's buckets are not known
  std::optional<base::Error> no_sizes = {};  ///< why no size is known
};

/// Asks Cloud Storage for the buckets, and Cloud Monitoring for their sizes (of buckets of the
/// project only), at the same time; each has kStorageAnswer. Named buckets are looked at several at
/// a time, keep their order, and fail each by itself, with kDeadlineExceeded if it was not seen
/// within the limit. A cloud without these services, such as a simulator, is kUnimplemented as
/// `no_list`.
base::Task<StorageAnswer> AskStorage(Context context, StorageQuery query);

}  // namespace jobman::client
