#pragma once

#include <sys/types.h>

#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "jobman/base/files.hpp"
#include "jobman/base/handle.hpp"
#include "sim/hosts/full_backlog.hpp"
#include "sim/hosts/host_fault.hpp"

namespace jobman::sim {

/// The helper process for hosts without a sandbox. It listens on the addresses of all hosts, starts
/// `sshd -i` for every connection, and is the subreaper of everything that runs, so that nothing is
/// left when a host is switched off or the simulator dies.
///
/// Commands arrive on standard input. "on NAME IP [IP]" is answered by "NAME up" or "NAME <error>";
/// "off NAME", "cut NAME", "mend NAME" and "break NAME" (see Link), and "fault NAME KIND MS" (see
/// HostFault; KIND "none" ends one) have no answer. At end of input, everything is ended.
///
/// Each connection has an sshd of its own: there is no MaxStartups, and what a client meets is the
/// backlog of the host's addresses.
class HostServer {
 public:
  /// `backlog`: how many connections of an address may wait to be accepted.
  HostServer(base::Path dir, int port, int backlog);
  /// Returns the exit code: 0, or 1 if processes were left.
  int Run();

 private:
  struct Host {
    std::vector<base::UniqueFd> listeners = {};
    std::set<pid_t> servers = {};  ///< sshd processes, one for each connection
    std::vector<std::string> addresses = {};
    bool cut = false;
    FullBacklog backlog = {};
    HostFault fault = {};
    std::deque<base::UniqueFd> mute = {};  ///< accepted, and nothing is said to them
  };

  bool ReadCommands();
  std::string SwitchOn(const std::string& name, const std::vector<std::string>& addresses);
  /// Kills everything that runs on these hosts.
  void SwitchOff(std::set<std::string> names);
  void RunStartupScript(const std::string& name) const;
  void Relink(const std::string& name, const std::string& how);
  void SetFault(const std::string& name, const std::vector<std::string>& words);
  base::Status OpenListeners(Host& host) const;
  void Accept(const std::string& name, int listener);
  /// The command that serves a new connection to the host.
  std::vector<std::string> ServerOf(const std::string& name, const HostFault& fault) const;
  void Reap();
  bool KillEverything();
  base::Path HostDir(const std::string& name) const { return dir_ / "hosts" / name; }

  base::Path dir_;
  int port_ = 0;
  int backlog_ = 0;
  base::Path sshd_;
  std::string unread_ = {};
  std::map<std::string, Host> hosts_ = {};
};

}  // namespace jobman::sim
