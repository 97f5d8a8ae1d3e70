#pragma once

#include <asio/io_context.hpp>
#include <functional>
#include <string>

#include "jobman/base/clock.hpp"
#include "jobman/base/task.hpp"
#include "jobman/ports/lease_store.hpp"

namespace jobman::controller {

/// Takes the store's lease for a controller, and renews it every third of its time in a coroutine
/// of its own. Knows whether the controller may act: nobody else takes the lease before it expires.
class LeaseKeeper {
 public:
  /// `on_lost` is called once, when another controller has taken over.
  LeaseKeeper(asio::io_context& loop, ports::LeaseStore& store, const base::Clock& clock,
              base::Duration lease_time, std::function<void()> on_lost);

  /// Takes the lease (at once if its holder is dead) and starts renewing it. kAborted when another
  /// controller holds it.
  base::Task<base::Status> Take(std::string holder);
  /// Stops renewing, and releases the lease.
  base::Task<base::Status> GiveBack();

  /// Whether we hold the lease. If it has expired by the clock, the store is asked. A store that
  /// cannot record a renewal (a full disk) leaves it ours as long as it shows our token.
  base::Task<bool> MayAct();
  /// The same without waiting: false also when the store would have to be asked.
  bool Holds() const;

  /// A write was refused because another controller holds the lease.
  void SetLost();
  bool lost() const { return lost_; }
  std::int64_t token() const { return lease_.token; }

 private:
  static base::Task<void> KeepRenewing(LeaseKeeper* self);
  base::Task<void> Renew();
  base::Task<void> Confirm();
  bool Lasts() const { return !lost_ && clock_.Now() - renewed_ < lease_time_; }

  asio::io_context& loop_;
  ports::LeaseStore& store_;
  const base::Clock& clock_;
  const base::Duration lease_time_;
  std::function<void()> on_lost_;
  std::string holder_ = {};
  ports::Lease lease_ = {};
  base::TimePoint renewed_ = {};
  base::TimePoint confirmed_ = {};  ///< the store showed our token
  bool lost_ = false;
  base::CancelScope renewing_ = {};
};

}  // namespace jobman::controller
