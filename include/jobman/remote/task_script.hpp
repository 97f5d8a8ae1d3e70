#pragma once

#include <string>

/// What a run of a task of a queue runs on a host: a clean working folder, the repository at its
/// branch, the environment, then the task's script (docs/adr/0023-task-queue.md). Pure text, made
/// of src/remote/setup/task.sh and task-enter.sh; it runs as any command does (see RunOrder).
namespace jobman::remote {

struct TaskPlan {
  /// A word that names the run, the same on all its hosts: they may share a home folder, and then
  /// one of them makes the working folder for all.
  std::string run_key = {};
  std::string workdir = {};  ///< below the home folder; not empty
  std::string url = {};      ///< of the repository; empty: the working folder is empty
  std::string branch = {};   ///< a branch or a tag
  std::string env = {};      ///< a conda or venv environment; empty: none
  std::string run = {};      ///< the script: for bash (sh if missing), or begins with "#!"
  friend bool operator==(const TaskPlan&, const TaskPlan&) = default;
};

// Exit codes of a task whose script did not begin. The last line of its log says why and what to
// do. Scripts may end with them too.

/// The task or the host is at fault: no such branch, no access to the repository, no git, a folder
/// at `workdir` that jobman did not make, no such environment, a full disk. As EX_CONFIG.
inline constexpr int kTaskCannotBegin = 78;
/// The network is at fault, or something took too long: another time it may work. As EX_TEMPFAIL.
inline constexpr int kTaskCannotBeginNow = 75;

/// The script of a run. No value of the plan becomes shell text, apart from `run`.
///
/// Before `run` begins:
/// - ~/WORKDIR is made anew. One that bears jobman's mark is removed first. One without the mark, a
///   link on the way, or a mount below it is refused; nothing is changed then.
/// - The branch is fetched, by the host itself, into a cache that all tasks of the host share
///   (~/.jobman/git), without its history. It never asks for a password or a host key. Each call of
///   git may take ten minutes; what the network breaks is tried four times.
/// - The commit is printed, written to ~/.jobman/runs/RUN_ID/commit, and is in JOBMAN_TASK_COMMIT.
/// - The environment is activated: one that the section conda made, ~/ENV, or one that a conda of
///   the host knows, the first that is there.
std::string TaskScript(const TaskPlan& plan);

}  // namespace jobman::remote
