#pragma once

#include <optional>
#include <vector>

#include "jobman/base/task.hpp"
#include "jobman/core/guest.hpp"

namespace jobman::ports {

using base::Result;
using base::Status;
using base::Task;

/// The record of a guest that cannot be used.
struct UnreadGuest {
  core::Guest login = {};  ///< whose it is: the user and the key, no more
  base::Error error = {};
  friend bool operator==(const UnreadGuest&, const UnreadGuest&) = default;
};

/// Who is let in to the hosts of slices beside the jobs' own logins (ADR 27). A guest is one user
/// with one key. The object must outlive its coroutines.
class GuestStore {
 public:
  virtual ~GuestStore() = default;

  /// By user, then key; those that are leaving too. Without those of UnreadGuests().
  virtual Task<Result<std::vector<core::Guest>>> Guests() = 0;
  /// Those whose record is damaged, or of a newer jobman: they are let in nowhere, and their key is
  /// taken away nowhere.
  virtual Task<Result<std::vector<UnreadGuest>>> UnreadGuests() = 0;
  /// Replaces the record `was` by `now`, of the same user and key: nothing for `was` adds one,
  /// nothing for `now` drops it; one of them must be there. kStale, and nothing is changed, if the
  /// record is not as `was`.
  virtual Task<Status> SetGuest(std::optional<core::Guest> was, std::optional<core::Guest> now) = 0;
};

}  // namespace jobman::ports
