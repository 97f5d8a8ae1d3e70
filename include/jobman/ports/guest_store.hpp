#pragma once

#include <optional>
#include <vector>

#include "jobman/base/task.hpp"
#include "jobman/core/guest.hpp"

namespace jobman::ports {

using base::Result;
using base::Status;
using base::Task;

/// Who is let in to the hosts of slices beside the jobs' own logins (ADR 27). A guest is one user
/// with one key. The object must outlive its coroutines.
class GuestStore {
 public:
  virtual ~GuestStore() = default;

  /// By user, then key; those that are leaving too.
  virtual Task<Result<std::vector<core::Guest>>> Guests() = 0;
  /// Replaces the record `was` by `now`, of the same user and key: nothing for `was` adds one,
  /// nothing for `now` drops it; one of them must be there. kStale, and nothing is changed, if the
  /// record is not as `was`.
  virtual Task<Status> SetGuest(std::optional<core::Guest> was, std::optional<core::Guest> now) = 0;
};

}  // namespace jobman::ports
