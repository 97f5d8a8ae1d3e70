#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jobman/base/result.hpp"
#include "jobman/base/state_paths.hpp"
#include "jobman/core/job.hpp"

namespace jobman::client {

/// A stage of an attempt that has logs.
struct LogStage {
  int attempt = 0;
  std::string name = {};
  friend bool operator==(const LogStage&, const LogStage&) = default;
};

/// The log of one host in a stage.
struct LogFile {
  int host = 0;
  base::Path path = {};
};

/// The attempts of a job that have logs, ascending.
std::vector<int> LogAttempts(const base::StatePaths& paths, core::JobId job);
/// The stages of an attempt that have logs, in the order in which they run.
std::vector<LogStage> LogStages(const base::StatePaths& paths, core::JobId job, int attempt);
/// The logs of a stage, by host.
std::vector<LogFile> LogFiles(const base::StatePaths& paths, core::JobId job,
                              const LogStage& stage);

/// The number of hosts, as far as the job and its logs show; never 0.
int HostCount(const base::StatePaths& paths, const core::Job& job, const LogStage& stage);

/// Passes the file's content from `offset` on to `take`, in pieces, and returns the offset after
/// the last piece. What a long log has lost (base::CappedFile) is passed over, with a line that
/// says how much it was. A missing file counts as empty. Stops at the current end of the file, or
/// when `take` returns false.
base::Result<std::int64_t> ReadLog(const base::Path& path, std::int64_t offset,
                                   const std::function<bool(std::string_view)>& take);

/// For a log that is read to its end.
inline constexpr std::int64_t kWholeLog = std::numeric_limits<std::int64_t>::max();
/// The same, with the place of each piece in the file; the line about what is lost has none. Stops
/// also `most` bytes further on; what is lost counts.
base::Result<std::int64_t> ReadPlacedLog(
    const base::Path& path, std::int64_t offset,
    const std::function<bool(std::optional<std::int64_t> place, std::string_view bytes)>& take,
    std::int64_t most = kWholeLog);

/// Where the last `lines` lines of the file begin. Looks at its last 16 MiB at most; a missing file
/// is empty.
std::int64_t LastLinesFrom(const base::Path& path, std::int64_t lines);

}  // namespace jobman::client
