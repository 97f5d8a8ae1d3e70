#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "jobman/base/result.hpp"
#include "jobman/base/state_paths.hpp"
#include "jobman/core/job.hpp"

namespace jobman::client {

/// A stage of an attempt that left logs.
struct LogStage {
  int attempt = 0;
  std::string name = {};
  friend bool operator==(const LogStage&, const LogStage&) = default;
};

/// Whether `word` means this stage: its name, or what the job file calls the setup step
/// ("workspace" for "setup-0-workspace").
bool IsCalled(const LogStage& stage, std::string_view word);

/// A host's log in a stage.
struct LogFile {
  int host = 0;
  base::Path path = {};
};

/// The attempts of a job that left logs, ascending.
std::vector<int> LogAttempts(const base::StatePaths& paths, core::JobId job);
/// The stages of an attempt that left logs, in the order they run.
std::vector<LogStage> LogStages(const base::StatePaths& paths, core::JobId job, int attempt);
/// The logs of a stage, by host.
std::vector<LogFile> LogFiles(const base::StatePaths& paths, core::JobId job,
                              const LogStage& stage);

/// How many hosts the job has, as far as the job and its logs tell: never 0.
int HostCount(const base::StatePaths& paths, const core::Job& job, const LogStage& stage);

/// Hands what the file holds from `offset` on to `take`, piece by piece, and gives back the offset
/// behind the last piece. A file that is absent holds nothing. Stops at the file's present end,
/// and when `take` says false.
base::Result<std::int64_t> ReadLog(const base::Path& path, std::int64_t offset,
                                   const std::function<bool(std::string_view)>& take);

}  // namespace jobman::client
