#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "jobman/base/files.hpp"

namespace jobman::base {

/// What names a run of a task: its number, from 1, and the job that runs it.
struct TaskRunName {
  int number = 0;
  std::int64_t job = 0;
  friend bool operator==(const TaskRunName&, const TaskRunName&) = default;
};

/// The paths of everything that jobman keeps on this machine. Made from JOBMAN_HOME or its default;
/// the command line and the controller both use it. Creates nothing.
struct StatePaths {
  Path home = {};

  /// Folder of the store's files.
  Path StoreDir() const;
  /// The store's database in it.
  Path StoreFile() const;
  /// jobs/000042: the files of one job.
  Path JobDir(std::int64_t job) const;
  /// jobs/000042/attempt-2
  Path AttemptDir(std::int64_t job, int attempt) const;
  /// jobs/000042/code/SHA256.tar.gz: the snapshot of its code.
  Path CodeFile(std::int64_t job, std::string_view sha256) const;
  /// jobs/000042/attempt-2/run/host-0003.log: what one host wrote in one stage, byte for byte.
  Path LogPath(std::int64_t job, int attempt, std::string_view stage, int host) const;
  /// The attempt whose folder has this name, "attempt-2"; empty for any other name.
  static std::optional<int> AttemptOfDir(std::string_view name);
  /// The host whose log has this file name, "host-0003.log"; empty for any other name.
  static std::optional<int> HostOfLog(std::string_view name);
  /// queues/3/tasks/ID: the logs of all runs of one task, which outlive the jobs that ran it. An id
  /// that is no plain file name is written as SafeFileName() does.
  Path TaskDir(std::int64_t queue, std::string_view task) const;
  /// queues/3/tasks/ID/run_001_job000042: run 1 of the task, by job 42.
  Path TaskRunDir(std::int64_t queue, std::string_view task, TaskRunName run) const;
  /// queues/3/tasks/ID/run_001_job000042/host-0000.log
  Path TaskLogPath(std::int64_t queue, std::string_view task, TaskRunName run, int host) const;
  /// The run whose folder has this name, "run_001_job000042"; empty for any other name.
  static std::optional<TaskRunName> TaskRunOfDir(std::string_view name);
  /// ssh_config(5) with a name for each host, for an Include line of the user's own.
  Path SshConfig() const;
  /// The pinned keys of these hosts, and beside it those that the OpenSSH client saw first.
  Path SshKnownHosts() const;
  Path SshSeenHosts() const;
  /// The controller's own log, when it runs in the background.
  Path ControllerLog() const;
  /// Unix datagram socket that wakes the controller. The kernel refuses paths longer than 107
  /// bytes: see SocketPathFits().
  Path ControllerSocket() const;
  /// Folder of the records and logs of `forward --background`.
  Path ForwardsDir() const;
  /// Unix stream socket at which the controller runs commands on hosts for other commands. Its path
  /// may be as long as the other's.
  Path ShellSocket() const;
  /// Folder of the local simulator that `cloud: local` starts.
  Path SimDir() const;
  /// The private key made when a job names none; the public key is beside it, ".pub".
  Path KeyPath() const;
};

/// Whether a Unix socket can be bound at `path` (sun_path holds 107 bytes).
bool SocketPathFits(const Path& path);

/// "000042": job numbers as people see them, and as folders are named.
std::string FormatJobNumber(std::int64_t job);

}  // namespace jobman::base
