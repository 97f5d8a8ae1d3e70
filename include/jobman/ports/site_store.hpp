#pragma once

#include <string>
#include <vector>

#include "jobman/base/task.hpp"
#include "jobman/core/site.hpp"
#include "jobman/ports/job_store.hpp"

namespace jobman::ports {

/// Where a store may be used, by its own record. The object must outlive its coroutines.
class SiteStore {
 public:
  virtual ~SiteStore() = default;

  /// Empty for a store that no command has written to yet.
  virtual Task<Result<std::vector<core::Site>>> Sites() = 0;
  virtual Task<Status> SetSites(std::vector<core::Site> sites) = 0;
  /// Makes a copy a store of its own, at once or not at all: the new id, its only site, the turns
  /// of jobs that are left to the original, one after the other. The lease and undelivered events
  /// of hooks stay with the original. kStale when one of the jobs, or of their tasks, has changed
  /// since it was read.
  virtual Task<Status> BecomeAnother(std::string store_id, core::Site site,
                                     std::vector<Turn> turns) = 0;
};

}  // namespace jobman::ports
