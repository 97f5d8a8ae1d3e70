#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jobman/base/state_paths.hpp"
#include "jobman/core/job.hpp"
#include "jobman/core/task.hpp"
#include "jobman/ports/records.hpp"

namespace jobman::client {

/// What a host wrote before its stage failed.
struct LastWords {
  int host = 0;
  std::string stage = {};
  std::vector<std::string> lines = {};  ///< at most ten, fit to be shown; long ones end in "..."
  friend bool operator==(const LastWords&, const LastWords&) = default;
};

/// The end of the log that says why the job failed, or waits for its next try: that of the first
/// host that ended the last stage with an exit code of its own (143 is that of a host that was
/// stopped because another one failed). `exits` are those of the job, from JobStore::Exits. Empty
/// when no exit code is the cause, and when that host wrote nothing.
std::optional<LastWords> FindLastWords(const base::StatePaths& paths, const core::Job& job,
                                       const std::vector<ports::ExitRecord>& exits);

/// The same of a task's run that is over: of the host that its end names. Empty if it names none.
std::optional<LastWords> FindTaskWords(const base::StatePaths& paths, core::QueueId queue,
                                       const std::string& task, const core::TaskRun& run);

/// The last thing that a host of a stage wrote.
struct LastOutput {
  int host = 0;
  std::string stage = {};
  core::TimePoint at = {};
  std::string line = {};  ///< fit to be shown; empty: a blank line, or the beginning of one
};

/// Of the stage that the job is in now; nothing if there is none, or nothing was written yet. As
/// far as it was fetched.
std::optional<LastOutput> FindLastOutput(const base::StatePaths& paths, const core::Job& job);
/// The same for a job that is over: of the last stage of its latest attempt that has logs.
std::optional<LastOutput> FindFinalOutput(const base::StatePaths& paths, const core::Job& job);
/// "12s ago, host 3: step 1200, loss 0.12"
std::string LastOutputText(const LastOutput& output, core::TimePoint now);

}  // namespace jobman::client
