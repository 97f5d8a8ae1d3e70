#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "jobman/config/load.hpp"
#include "jobman/core/task_definition.hpp"

namespace jobman::config {

/// Longest script of a task. Its text is in the store, and again in the record of the job that runs
/// it.
inline constexpr std::size_t kLongestTaskScript = std::size_t{256} << 10;

/// What the command line says of the tasks, each empty if it says nothing. It beats the file.
struct SubmitOptions {
  std::string accelerator = {};
  std::string zone = {};
  std::string name = {};         ///< the id of a script's task; a job file has its own --name
  std::string max_retries = {};  ///< a number
  // These are taken for scripts that name them, and say nothing about a task here.
  std::string tpu_version = {};
  std::string pricing = {};
};

/// A script that is to become a task, with its arguments.
struct TaskScriptRequest {
  base::Path file = {};                  ///< "-" is standard input
  std::optional<std::string> text = {};  ///< used instead of reading `file`
  std::vector<std::string> arguments = {};
  SubmitOptions options = {};
};

/// Tasks for the queue of submitted tasks: none if there are problems.
struct Submission {
  std::vector<core::TaskDefinition> tasks = {};
  /// The ids are only what they begin with, "train" of "train-001": no option says them.
  bool numbered = false;
  std::vector<Problem> problems = {};  ///< what has no meaning for a task, each by name
  std::vector<Problem> warnings = {};  ///< what was passed over, and why
};

/// Reads a script with "#JOBMAN --accelerator=v4-8" lines before its first command, as the branch
/// refactor of Python jobman submits it. The task runs it on host 0; its text is copied. Arguments
/// are given to a script for a shell by a line at its head. Reads only `file`, writes nothing.
/// Never throws.
Submission ReadTaskScript(const TaskScriptRequest& request);

/// The tasks that the jobs of `file` become, one for each element of its array or matrix: they run
/// its command on workers instead of slices of their own. The ids are the names of the jobs. The
/// variables of the job are exported at the head of the script. What has no meaning for a task is
/// refused where the file or an option says it; the user's defaults are for jobs, and are passed
/// over. Pure.
Submission TasksOfJobs(const std::string& file, const std::vector<Loaded>& jobs,
                       const SubmitOptions& options);

}  // namespace jobman::config
