#pragma once

#include <string>

#include "jobman/base/task.hpp"
#include "jobman/core/regions.hpp"

namespace jobman::ports {

using base::Result;
using base::Task;

/// Cloud Storage, for checks before a job is created. The object must outlive its coroutines.
class BucketApi {
 public:
  virtual ~BucketApi() = default;
  /// Where the bucket is. kNotFound: there is no bucket of that name. kPermissionDenied: these
  /// credentials may neither see the bucket nor list what is in it.
  virtual Task<Result<core::BucketLocation>> Location(std::string bucket) = 0;
};

}  // namespace jobman::ports
