#pragma once

#include <sys/types.h>

#include <map>
#include <string>

#include "jobman/base/handle.hpp"
#include "sim/hosts/local_fleet.hpp"

namespace jobman::sim {

/// Hosts without a sandbox: a helper process listens on every address and starts an sshd for each
/// connection (see HostServer). A host has its own home folder, addresses, host key and boot id. It
/// shares this machine's process table, /tmp and users, so only those users can log in.
class PlainFleet final : public LocalFleet {
 public:
  PlainFleet(FleetOptions options, Report report);
  ~PlainFleet() override;
  std::vector<std::string> Shutdown() override;
  /// Hosts without a sandbox are processes of one user and cannot be told apart.
  bool IsOf(const std::string& name, const Peer& peer) const override;
  /// All kinds; a full disk where a process may have mounts of its own.
  base::Status MayFail(HostFaultKind kind) const override;

 protected:
  base::Status Launch(const HostPlan& plan) override;
  base::Result<bool> IsUp(const std::string& name) override;
  void Kill(const std::string& name) override;
  void Relink(const std::string& name, Link link) override;
  void Spoil(const std::string& name, const HostFault& fault) override;
  HostDisk DiskOf(const std::string& name) const override;

 private:
  base::Status StartHelper();
  void Send(const std::string& line);
  void ReadAnswers();
  base::Status WriteLoginScript(const std::string& name) const;

  base::Path sftp_server_;
  base::UniqueFd control_ = {};
  pid_t helper_ = 0;
  std::string unread_ = {};
  std::map<std::string, std::string> answers_ = {};  ///< by host: "up", or what went wrong
};

}  // namespace jobman::sim
