#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "jobman/core/job.hpp"

namespace jobman::core {

/// A job on one host: whose runs they are, and where they run. Job numbers repeat over stores, host
/// numbers over nodes, hosts may share one home folder (NFS), and stores one machine; these four
/// together are unique in the world.
struct JobOnHost {
  std::string store = {};  ///< the store's id
  JobId job = {};
  std::string node = {};  ///< Node's id, which no other slice of the store ever had
  int host = 0;           ///< its number within the node
  friend bool operator==(const JobOnHost&, const JobOnHost&) = default;
};

/// The command, in one attempt.
struct CommandRun {
  int attempt = 0;
  friend bool operator==(const CommandRun&, const CommandRun&) = default;
};
/// A setup step. The same in every attempt on the same machines, so that what was done is not done
/// again.
struct SetupRun {
  int step = 0;  ///< its index in the spec
  std::string content =
      {};              ///< hexadecimal digits that change with the step's text and environment
  int generation = 0;  ///< Slice::generation
  int epoch = 0;       ///< Job::setup_epoch
  friend bool operator==(const SetupRun&, const SetupRun&) = default;
};

/// A run: a stage on one host. Its id is STORE.JOB.NODE.HOST.WHAT:
///
///     f5d33d77c34a.j000042.train-000042-a3.h0.a3                     the command in attempt 3
///     f5d33d77c34a.j000042.train-000042-a3.h0.s1-0123456789ab-g0e0   setup step 1
///
/// It is a file name and a shell word, at most 160 characters. src/remote/host.sh takes it apart at
/// the dots, and the command's at the number in its end.
struct RunId {
  JobOnHost on = {};
  std::variant<CommandRun, SetupRun> what = {};
  friend bool operator==(const RunId&, const RunId&) = default;
};

/// The store and the node must be letters, digits, _ and -, and not empty. The id of a command is
/// also the prefix by which host.sh finds the job's commands of earlier attempts on that host: it
/// ends in the attempt's number.
std::string FormatRunId(const RunId& run);
/// Nothing for what FormatRunId() did not write.
std::optional<RunId> ParseRunId(std::string_view text);

/// What the ids of all runs of the job on that host begin with.
std::string RunIdPrefix(const JobOnHost& on);

/// The job on host number `host` of the slice that it holds.
JobOnHost OnHost(const std::string& store_id, const Job& job, int host);

}  // namespace jobman::core
