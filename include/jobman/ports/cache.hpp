#pragma once

#include <optional>
#include <string>

#include "jobman/base/task.hpp"
#include "jobman/base/time.hpp"

namespace jobman::ports {

using base::Result;
using base::Status;
using base::Task;

/// A small fact that can be fetched again elsewhere, and when it was fetched.
struct CachedFact {
  std::string value = {};
  base::TimePoint at = {};
};

/// Small facts ("offers:types:...") that commands share. The object must outlive its coroutines.
class Cache {
 public:
  virtual ~Cache() = default;

  virtual Task<Result<std::optional<CachedFact>>> Cached(std::string key) = 0;
  virtual Task<Status> PutInCache(std::string key, CachedFact fact) = 0;
};

}  // namespace jobman::ports
