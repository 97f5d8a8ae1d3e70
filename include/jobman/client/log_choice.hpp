#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jobman/client/log_files.hpp"
#include "jobman/client/log_follower.hpp"

namespace jobman::client {

/// Which logs of a job the user asks for.
struct LogQuery {
  std::optional<int> attempt = {};  ///< empty: the latest that has logs
  std::string stage = {};           ///< see core::IsStageCalled(); empty: the one that ran last
  core::HostSet hosts = {};
};
/// The logs of one stage, by host.
struct ChosenLogs {
  LogStage stage = {};
  std::vector<LogFile> files = {};
};

/// The logs that the query means. Empty if the job has none yet; kNotFound if it has some, but not
/// those that the query names: the hint says which there are.
base::Result<std::optional<ChosenLogs>> ChooseLogs(const base::StatePaths& paths, core::JobId job,
                                                   const LogQuery& query);
/// How to follow the logs that the query means: from the stage on that ChooseLogs() chooses, or
/// that will come next.
LogFollower::Options FollowFrom(const base::StatePaths& paths, const core::Job& job,
                                const LogQuery& query);

}  // namespace jobman::client
