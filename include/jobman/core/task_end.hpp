#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace jobman::core {

/// How a run of a task ended.
enum class TaskEndKind {
  kSucceeded,
  kFailed,       ///< counts towards max_retries
  kInterrupted,  ///< the machine's fault, or the cloud's: counts as nothing
  kStopped,      ///< by the user: counts as nothing
};
struct TaskEnd {
  TaskEndKind kind = TaskEndKind::kFailed;
  /// Its worker has to find another slice first, so the task need not wait before its next run.
  bool slice_lost = false;
  std::string why = {};  ///< a sentence without its subject: "exit code 3 on host 0"
  /// What was run of the task's repository; empty: it has none, or the run did not come so far.
  std::string commit = {};
  friend bool operator==(const TaskEnd&, const TaskEnd&) = default;
};
/// "succeeded", "failed", "interrupted", "stopped".
std::string_view TaskEndName(TaskEndKind kind);
std::optional<TaskEndKind> TaskEndFromName(std::string_view name);

/// A line of output that says how the run ended, whatever its exit code.
struct TaskOutputRule {
  std::string_view match = {};  ///< the line has this text
  std::string_view then = {};   ///< and this one somewhere behind it
  TaskEndKind means = TaskEndKind::kFailed;
};
/// The stronger rules first: of those that match any line of a run, the first one counts.
///
/// MaxText's multihost_runner.py ends with 0 or another code than its command did, and prints what
/// became of it. Source: that script (AI-Hypercomputer/maxtext), and the lines that Python jobman
/// looked for in the output of its queue.
std::span<const TaskOutputRule> TaskOutputRules();
/// The index of the strongest rule that the line matches.
std::optional<std::size_t> RuleForLine(std::string_view line);
/// The commit that the line names, if it is the one in which jb_task (remote/setup/task.sh) says
/// what it has put into the working folder; else empty.
std::string CommitInLine(std::string_view line);

/// What is known of a run when all its hosts have ended.
struct TaskRunFacts {
  int exit_code = 0;  ///< of the first host that failed, else 0
  int host = 0;       ///< whose it is
  /// Why its slice or a host is lost ("slice S was preempted"): the exit code says nothing then.
  std::optional<std::string> lost = {};
  std::optional<std::size_t> rule = {};  ///< the least RuleForLine() of its output
};
/// In this order: output that says success, a lost slice, other output, the exit code (0; 143 and
/// 255, which a stopped process and a broken connection leave; any other).
TaskEnd JudgeTaskRun(const TaskRunFacts& facts);

}  // namespace jobman::core
