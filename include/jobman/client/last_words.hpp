#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jobman/base/state_paths.hpp"
#include "jobman/core/job.hpp"
#include "jobman/ports/records.hpp"

namespace jobman::client {

/// What a host wrote before its stage failed.
struct LastWords {
  int host = 0;
  std::string stage = {};
  std::vector<std::string> lines = {};  ///< at most five, fit to be shown
  friend bool operator==(const LastWords&, const LastWords&) = default;
};

/// The end of the log that says why the job failed, or waits for its next try: that of the first
/// host that ended the last stage with an exit code of its own (143 is that of a host that was
/// stopped because another one failed). `exits` are those of the job, from JobStore::Exits. Empty
/// when no exit code is the cause, and when that host wrote nothing.
std::optional<LastWords> FindLastWords(const base::StatePaths& paths, const core::Job& job,
                                       const std::vector<ports::ExitRecord>& exits);

}  // namespace jobman::client
