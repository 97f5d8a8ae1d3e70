#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "jobman/base/task.hpp"
#include "jobman/base/time.hpp"

namespace jobman::ports {

using base::Result;
using base::Status;
using base::Task;

/// The right to act: at most one controller holds it. `token` grows with every change of holder.
struct Lease {
  std::string holder = {};
  std::int64_t token = 0;
  base::TimePoint expires = {};
};

/// No controller takes a lease for longer than an hour; the rest is for clocks that differ.
inline constexpr base::Duration kLongestLease = std::chrono::hours{2};

/// Whether a lease ends so far ahead that a wrong clock wrote it, or not jobman. It holds nobody
/// off, so that it cannot lock a store for years; its holder, if it lives, renews it in time or
/// finds out that it lost it.
inline bool IsTooFarAhead(const Lease& lease, base::TimePoint now) {
  return lease.expires > now + kLongestLease;
}

/// The lease of a store. The object must outlive its coroutines.
class LeaseStore {
 public:
  virtual ~LeaseStore() = default;

  /// Takes or extends the lease; nothing when another holder's has not expired and is
  /// not IsTooFarAhead().
  virtual Task<Result<std::optional<Lease>>> TakeLease(std::string holder, base::TimePoint now,
                                                       base::Duration time_to_live) = 0;
  /// kLeaseLost when the lease has changed hands.
  virtual Task<Status> DropLease(Lease lease) = 0;
  virtual Task<Result<std::optional<Lease>>> CurrentLease() = 0;
};

}  // namespace jobman::ports
