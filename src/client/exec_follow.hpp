#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "jobman/base/capped_file.hpp"
#include "jobman/base/task.hpp"
#include "jobman/base/time.hpp"
#include "jobman/ports/host_shell.hpp"
#include "jobman/remote/host_script.hpp"
#include "jobman/ssh/fan_out.hpp"

/// Following a detached run of `exec`: a coroutine for each host, so that none waits for another.
namespace jobman::client {

/// What hosts say beside what goes to their sinks, by host.
using RunTalk = std::shared_ptr<std::map<int, std::string>>;
/// What the script says is short; the rest of a talkative shell is dropped.
ports::ByteSink KeepTalk(const RunTalk& talk, int host);

base::Error NoSuchRun(const std::string& name);
/// How a run that has ended counts; an error for all others.
base::Result<int> CodeOfRun(const base::Result<remote::RunStatus>& status, const std::string& name);

struct RunToFollow {
  std::function<std::string(int host)> id_on = {};  ///< its run id on that host
  std::string name = {};                            ///< what the user calls it
  base::Duration patience = {};                     ///< with a host from which nothing comes
  int window = 0;                                   ///< hosts at once, at least 1
  std::function<base::TimePoint()> now = {};
  /// Told of parts of a log that the host no longer has; may be empty.
  std::function<void(int host, base::FileGap)> missing = {};
};

/// Gives each host's sink its log from the beginning until the run has ended there. The results are
/// the exit codes of the run, a row per host in the order given. Cancelling ends the following, not
/// the run. The shell must outlive the coroutine.
base::Task<ssh::FanOutResult> FollowOnHosts(ports::HostShell* shell,
                                            std::vector<ssh::FanOutHost> hosts, RunToFollow run);

}  // namespace jobman::client
