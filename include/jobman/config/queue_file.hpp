#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jobman/config/load.hpp"
#include "jobman/core/task_list.hpp"

namespace jobman::config {

/// Which queue file to read.
struct QueueFileRequest {
  base::Path file = {};
  std::optional<std::string> text = {};  ///< used instead of reading `file`
  Defaults defaults = {};                ///< only its environment is used
};

/// Either `list`, with a problem for each thing that is wrong with its refused tasks; or no list,
/// and at least one problem of the file as a whole: then the last good one goes on.
struct QueueFileResult {
  std::optional<core::TaskList> list = {};
  std::vector<Problem> problems = {};
  std::vector<Problem> warnings = {};  ///< what may not be what was meant
};

/// Reads a queue file: `repos`, `defaults`, `accelerators.<type>.tasks`. Interpolates as in a job
/// file, checks every key, and fills in the defaults of each level. What is wrong outside of a task
/// concerns many, so the file is refused as a whole; what is wrong within a task refuses that one.
/// Reads no other file, writes nothing, uses no network; it may take a second for ten thousand
/// tasks. Never throws; input is bounded in size, nesting and expansion.
QueueFileResult ReadQueueFile(const QueueFileRequest& request);

/// A problem in one line, which can be stored and printed: "tasks.yaml:12: unknown key ... (did you
/// mean ...?)". The file is named without its folder; a long cause is shortened.
std::string LineOf(const Problem& problem);
/// That the file cannot be read, as a problem of it.
Problem UnreadableFile(const base::Path& file, const base::Error& error);

}  // namespace jobman::config
