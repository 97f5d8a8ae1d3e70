#pragma once

#include <functional>
#include <memory>

#include "jobman/ports/host_shell.hpp"
#include "jobman/ports/slice_api.hpp"

namespace jobman::controller {

/// Whether the lease is ours at this moment; see LeaseKeeper.
struct LeaseGuard {
  std::function<base::Task<bool>()> may_act;
  std::function<bool()> holds;
};

/// The ports through which a controller acts, as long as it may. One that was stopped for a while
/// (a closed laptop, SIGSTOP) goes on in the middle of what it did: its next act is to find out
/// that another one holds the lease. kLeaseLost then. What only looks passes.
std::shared_ptr<ports::SliceApi> FenceSlices(std::shared_ptr<ports::SliceApi> inner,
                                             LeaseGuard guard);

/// Also keeps what a host says from a controller that may not act: it would go into the logs. Bytes
/// cannot wait for the store's answer, so where the clock does not say that the lease is ours the
/// call ends as kLeaseLost, and the next one asks.
class FencedShell final : public ports::HostShell {
 public:
  FencedShell(ports::HostShell* inner, LeaseGuard guard)
      : inner_(inner), guard_(std::move(guard)) {}

  base::Task<base::Result<int>> Run(ports::HostTarget target, ports::RemoteCommand command,
                                    ports::ByteSink out, ports::ByteSink err) override;
  void Drop(const ports::HostTarget& target) override { inner_->Drop(target); }

 private:
  ports::ByteSink Fence(ports::ByteSink sink) const;

  ports::HostShell* inner_;
  LeaseGuard guard_;
};

}  // namespace jobman::controller
