#pragma once

#include <asio/io_context.hpp>
#include <functional>
#include <string>

#include "jobman/base/clock.hpp"
#include "jobman/base/task.hpp"
#include "jobman/ports/lease_store.hpp"

namespace jobman::controller {

/// Takes a store's lease for a controller, and renews it each third of its time in a coroutine of
/// its own. Says whether the controller may act: nobody takes over while the lease lasts.
class LeaseKeeper {
 public:
  /// `on_lost` is called once, when another one has taken over.
  LeaseKeeper(asio::io_context& loop, ports::LeaseStore& store, const base::Clock& clock,
              base::Duration lease_time, std::function<void()> on_lost);

  /// Takes the lease, from a holder that is dead at once, and begins to renew it. kAborted when
  /// another controller holds it.
  base::Task<base::Status> Take(std::string holder);
  /// Stops renewing, and lets others have it.
  base::Task<base::Status> GiveBack();

  /// Whether the lease is ours at this moment: by the clock, else the store is asked. Where that
  /// cannot record it (a full disk), it is ours as long as nobody else's token stands there.
  base::Task<bool> MayAct();
  /// The same without waiting, for what cannot wait: false also where the store must be asked.
  bool Holds() const;

  /// A write was refused because another one holds the lease.
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
  base::TimePoint confirmed_ = {};  ///< nobody else's token stood there then
  bool lost_ = false;
  base::CancelScope renewing_ = {};
};

}  // namespace jobman::controller
