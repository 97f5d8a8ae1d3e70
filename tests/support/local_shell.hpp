#pragma once

#include <map>
#include <set>
#include <string>

#include "jobman/base/files.hpp"
#include "jobman/ports/host_shell.hpp"

namespace jobman::test {

/// A HostShell whose hosts are folders: runs real host scripts on this machine, under /bin/sh, with
/// a home folder per address. Output arrives when the command has ended.
class LocalShell final : public ports::HostShell {
 public:
  explicit LocalShell(base::Path root) : root_(std::move(root)) {}
  /// Kills what runs on the hosts.
  ~LocalShell() override;
  LocalShell(const LocalShell&) = delete;
  LocalShell& operator=(const LocalShell&) = delete;

  base::Task<base::Result<int>> Run(ports::SharedTarget target, ports::RemoteCommand command,
                                    ports::ByteSink out, ports::ByteSink err) override;
  void Drop(const ports::HostTarget&) override {}

  /// Calls to that address fail with "connection refused" until PlugIn().
  void Unplug(const std::string& address) { unplugged_.insert(address); }
  void PlugIn(const std::string& address) { unplugged_.erase(address); }
  /// After `first` more calls the next `times`, to any host, end as if the connection broke after
  /// the work was done.
  void LoseAnswers(int times, int first = 0) {
    lost_answers_ = times;
    kept_answers_ = first;
  }
  base::Path HomeOf(const std::string& address) const { return root_ / address; }
  int calls() const { return calls_; }

 private:
  base::Path root_;
  std::set<std::string> unplugged_ = {};
  int lost_answers_ = 0;
  int kept_answers_ = 0;
  int calls_ = 0;
};

}  // namespace jobman::test
