#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <string>

#include "jobman/base/files.hpp"
#include "jobman/remote/host_script.hpp"

namespace jobman::remote {

struct Ended {
  int exit_code = -1;
  std::string out = {};
  std::string err = {};
};

/// A host for the script: a temporary home folder, or one shared with another host, and `shell` as
/// its sh. Commands run as local processes, and are killed with the object.
class LocalHost {
 public:
  explicit LocalHost(const std::string& shell = "", base::Path home = {});
  ~LocalHost();
  LocalHost(const LocalHost&) = delete;
  LocalHost& operator=(const LocalHost&) = delete;

  /// A call in progress; its output goes to files.
  struct Running {
    pid_t pid = -1;
    base::Path folder = {};
    std::string Out() const;
  };
  Running Start(const Call& call);
  Ended Wait(const Running& running);
  Ended Do(const Call& call) { return Wait(Start(call)); }
  /// Starts a run and follows it from its beginning.
  Ended Run(const RunOrder& order, std::int64_t offset = 0);
  RunStatus StatusOf(const std::string& run_id);
  RunStatus Stop(const std::string& run_id, int grace_seconds);

  base::Path home() const { return home_; }
  base::Path RunDir(const std::string& run_id) const { return home_ / ".jobman/runs" / run_id; }
  base::Path Log(const std::string& run_id) const { return RunDir(run_id) / "log"; }
  /// Exported to every call, as by sshd.
  std::map<std::string, std::string> env = {};

 private:
  bool owns_home_;
  base::Path home_;
};

/// Polls until `condition` holds; false when it did not within three minutes.
bool Eventually(const std::function<bool()>& condition);
bool IsAlive(pid_t pid);
std::string Slurp(const base::Path& path);

}  // namespace jobman::remote
