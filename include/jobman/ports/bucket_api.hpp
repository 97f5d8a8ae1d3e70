#pragma once

#include <string>

#include "jobman/base/task.hpp"

namespace jobman::ports {

using base::Result;
using base::Task;

/// Cloud Storage, for checks before a job is created. The object must outlive its coroutines.
class BucketApi {
 public:
  virtual ~BucketApi() = default;
  /// Where the bucket is, as the service writes it: "US-CENTRAL2", or a multi-region such as "EU".
  /// kNotFound: there is no bucket of that name.
  virtual Task<Result<std::string>> Location(std::string bucket) = 0;
};

}  // namespace jobman::ports
