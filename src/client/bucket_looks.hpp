#pragma once

#include <memory>
#include <string>
#include <vector>

#include "jobman/client/context.hpp"

namespace jobman::client {

/// What to look up, and when what was found before is good enough.
struct BucketQuestion {
  std::vector<std::string> buckets = {};
  std::string region = {};  ///< of the slice
  /// Take any location from the store's cache, not only one in this region: nothing hangs on it.
  bool any_kept = false;
};

/// Asks where the buckets are, several at a time; in their order. What is found is cached for a
/// day. `api` must outlive the coroutine. Each bucket fails by itself.
base::Task<std::vector<base::Result<core::BucketLocation>>> LookAtBuckets(Context context,
                                                                          ports::BucketApi* api,
                                                                          BucketQuestion question);

}  // namespace jobman::client
