#pragma once

#include <functional>
#include <string>

#include "jobman/ports/host_shell.hpp"

namespace jobman::client {

/// Asks each host first how much it has of a copy, with the command that `look` gives for it, and
/// then gives the command that the host is called with the rest: its pace is a ResumingInput. A
/// host that does not answer costs the others nothing. `shell` must outlive it.
class LookFirst final : public ports::HostShell {
 public:
  using LookOn = std::function<std::string(const ports::HostTarget&)>;
  LookFirst(ports::HostShell* shell, LookOn look) : shell_(shell), look_(std::move(look)) {}
  base::Task<base::Result<int>> Run(ports::HostTarget target, ports::RemoteCommand command,
                                    ports::ByteSink out, ports::ByteSink err) override;
  void Drop(const ports::HostTarget& target) override { shell_->Drop(target); }

 private:
  ports::HostShell* shell_;
  LookOn look_;
};

}  // namespace jobman::client
