#pragma once

#include <sys/types.h>

#include <map>
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
  static bool IsGone(Pair& pair);
  /// Waits until no process of an earlier boot is left, so that its addresses are free.
  void AwaitEnd(const std::string& name);

  base::Path bwrap_;
  base::Path sshd_;
  std::map<std::string, Pair> running_ = {};
  std::multimap<std::string, Pair> dying_ = {};
  std::map<std::string, std::vector<std::string>> addresses_ = {};
  std::map<std::string, FullBacklog> cut_ = {};
};

}  // namespace jobman::sim
