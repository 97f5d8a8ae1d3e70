#pragma once

#include <functional>
#include <memory>

#include "jobman/ports/host_shell.hpp"
#include "jobman/ports/slice_api.hpp"

namespace jobman::controller {

/// Whether we hold the lease; see LeaseKeeper.
struct LeaseGuard {
  std::function<base::Task<bool>()> may_act;
  std::function<bool()> holds;
};

/// Guards the ports through which a controller acts. A controller that was suspended (a closed
/// laptop, SIGSTOP) resumes in the middle of its work, and must notice that another one has taken
/// the lease before it acts again: calls that change something fail as kLeaseLost then. Calls that
/// only read pass.
std::shared_ptr<ports::SliceApi> FenceSlices(std::shared_ptr<ports::SliceApi> inner,
                                             LeaseGuard guard);

/// Also keeps output of hosts from a controller that may not act, since it would write it to the
/// logs. Output cannot wait for the store's answer: when the lease has expired by the clock, the
/// call ends as kLeaseLost, and the next call asks the store.
class FencedShell final : public ports::HostShell {
 public:
  FencedShell(ports::HostShell* inner, LeaseGuard guard)
      : inner_(inner), guard_(std::move(guard)) {}

  base::Task<base::Result<int>> Run(ports::SharedTarget target, ports::RemoteCommand command,
                                    ports::ByteSink out, ports::ByteSink err) override;
  void Drop(const ports::HostTarget& target) override { inner_->Drop(target); }

 private:
  ports::ByteSink Fence(ports::ByteSink sink) const;

  ports::HostShell* inner_;
  LeaseGuard guard_;
};

}  // namespace jobman::controller
