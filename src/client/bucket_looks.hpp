#pragma once

#include <memory>
#include <string>
#include <vector>

#include "jobman/client/context.hpp"
#include "jobman/client/times.hpp"

namespace jobman::client {

/// What to look up, and when what was found before is good enough.
struct BucketQuestion {
  std::vector<std::string> buckets = {};
  std::string region = {};  ///< of the slice
  /// Take any location from the store's cache, not only one in this region: nothing hangs on it.
  bool any_kept = false;
  base::Duration limit = kBucketsAnswer;  ///< for all of them
};

/// Asks where the buckets are, several at a time; in their order. A fault of the service is asked
/// about again, twice. What is found is cached for a day. Each bucket fails by itself, with
/// kDeadlineExceeded if it was not seen within the limit.
base::Task<std::vector<base::Result<core::BucketLocation>>> LookAtBuckets(
    Context context, std::shared_ptr<ports::BucketApi> api, BucketQuestion question);

}  // namespace jobman::client
