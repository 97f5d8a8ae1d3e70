#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "jobman/core/job.hpp"

namespace jobman::core {

/// Identifies the runs of a job on one host. Job numbers repeat across stores and host numbers
/// across nodes; hosts may share a home folder (NFS), and stores a machine. The four together are
/// globally unique.
struct JobOnHost {
  std::string store = {};  ///< the store's id
  JobId job = {};
  std::string node = {};  ///< the node's id, never reused within the store
  int host = 0;           ///< its number within the node
  friend bool operator==(const JobOnHost&, const JobOnHost&) = default;
};

/// The command, in one attempt.
struct CommandRun {
  int attempt = 0;
  friend bool operator==(const CommandRun&, const CommandRun&) = default;
};
/// A run of a task, by a worker: the job's Job::task_runs then, which it never has again.
struct WorkRun {
  int number = 0;
  friend bool operator==(const WorkRun&, const WorkRun&) = default;
};
/// A setup step. Its id is the same in every attempt on the same machines, so that a finished step
/// is not repeated.
struct SetupRun {
  int step = 0;  ///< its index in the spec
  /// Hexadecimal digits that change with the step's text and environment.
  std::string content = {};
  int generation = 0;  ///< Slice::generation
  int epoch = 0;       ///< Job::setup_epoch
  friend bool operator==(const SetupRun&, const SetupRun&) = default;
};

/// A run: a stage on one host. Its id is STORE.JOB.NODE.HOST.WHAT:
///
///     f5d33d77c34a.j000042.train-000042-a3.h0.a3                     the command in attempt 3
///     f5d33d77c34a.j000042.train-000042-a3.h0.t7                     the job's seventh run of a
///     task f5d33d77c34a.j000042.train-000042-a3.h0.s1-0123456789ab-g0e0   setup step 1
///
/// It is a file name and a shell word of at most 160 characters. src/remote/host.sh splits it at
/// the dots, and the id of a command or task also before the number at its end.
struct RunId {
  JobOnHost on = {};
  std::variant<CommandRun, SetupRun, WorkRun> what = {};
  friend bool operator==(const RunId&, const RunId&) = default;
};

/// Whether a text can be the store or the node of a run id: letters, digits, _ and -, not empty.
bool IsRunIdField(std::string_view text);

/// Store and node must be fields (IsRunIdField). A command's id ends in the attempt number; what
/// precedes it is the prefix by which host.sh finds the job's commands of earlier attempts on that
/// host. With tasks and their numbers it is the same.
std::string FormatRunId(const RunId& run);
/// Nothing for text that FormatRunId() did not write.
std::optional<RunId> ParseRunId(std::string_view text);

/// The common prefix of the ids of all runs of the job on that host.
std::string RunIdPrefix(const JobOnHost& on);

/// The id of a detached run of `exec` by the name `name`, a field: "...x-NAME". It is no stage of
/// the job: ParseRunId() does not know it.
std::string ExecRunId(const JobOnHost& on, std::string_view name);
/// The common prefix of the ids of all of them on that host.
std::string ExecRunPrefix(const JobOnHost& on);

/// The job on host number `host` of the slice that it holds.
JobOnHost OnHost(const std::string& store_id, const Job& job, int host);

}  // namespace jobman::core
