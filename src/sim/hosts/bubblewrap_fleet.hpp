#pragma once

#include <sys/types.h>

#include <map>
#include <mutex>
#include <vector>

#include "sim/hosts/full_backlog.hpp"
#include "sim/hosts/local_fleet.hpp"

namespace jobman::sim {

/// One bubblewrap sandbox with its own sshd per host.
class BubblewrapFleet final : public LocalFleet {
 public:
  BubblewrapFleet(FleetOptions options, Report report);
  ~BubblewrapFleet() override;
  std::vector<std::string> Shutdown() override;
  bool IsOf(const std::string& name, const Peer& peer) const override;

 protected:
  base::Status Launch(const HostPlan& plan) override;
  base::Result<bool> IsUp(const std::string& name) override;
  void Kill(const std::string& name) override;
  void Relink(const std::string& name, Link link) override;
  bool Tend() override;
  HostDisk DiskOf(const std::string& name) const override;

 private:
  /// bubblewrap has two processes: one outside, and the first one of the new process tree; when
  /// that ends, the whole tree ends.
  struct Pair {
    pid_t outer = 0;
    pid_t inner = 0;
  };
  std::vector<std::string> Command(const HostPlan& plan) const;
  /// Of the command, what lets the host use docker.
  std::vector<std::string> DockerWords(const HostDisk& disk) const;
  /// The files of /etc with the host's own name, and how names are found.
  base::Status WriteNames(const HostPlan& plan) const;
  static bool IsGone(Pair& pair);
  /// Waits until no process of an earlier boot is left, so that its addresses are free.
  void AwaitEnd(const std::string& name);

  base::Path bwrap_;
  base::Path sshd_;
  /// Records the first process of a host; 0: it is off.
  void SetRoot(const std::string& name, pid_t root);

  mutable std::mutex roots_mutex_ = {};
  std::map<std::string, pid_t> roots_ = {};  ///< of the hosts that run, for other threads
  std::map<std::string, Pair> running_ = {};
  std::multimap<std::string, Pair> dying_ = {};
  std::map<std::string, std::vector<std::string>> addresses_ = {};
  std::map<std::string, FullBacklog> cut_ = {};
};

}  // namespace jobman::sim
