#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jobman/base/time.hpp"
#include "jobman/core/command_spec.hpp"
#include "jobman/core/hook_spec.hpp"
#include "jobman/core/setup_spec.hpp"
#include "jobman/core/slice_spec.hpp"
#include "jobman/core/spec_fields.hpp"
#include "jobman/core/ssh_spec.hpp"

namespace jobman::core {

using base::Duration;
using base::TimePoint;

// The job as a whole. The headers above have its sections; whoever needs several includes this one.

/// What becomes of the slice once the job is over.
enum class SliceUse { kKeep, kDelete };
struct WhenDoneSpec {
  SliceUse action = SliceUse::kKeep;
  std::optional<Duration> keep = {};  ///< it is kept for this long, then deleted; action is kKeep
  static void Fields(auto&& field) {
    field("do", &WhenDoneSpec::action);
    field("keep", &WhenDoneSpec::keep);
  }
  friend bool operator==(const WhenDoneSpec&, const WhenDoneSpec&) = default;
};

/// The task queue that the job works off: it is a worker. Its slice runs no command, but one task
/// after the other.
struct QueueSpec {
  bool enabled = false;     ///< true in a resolved spec
  std::string config = {};  ///< the queue file, an absolute path; empty: the submitted tasks
  /// The slice is given back when there was nothing to do for so long; nothing: never.
  std::optional<Duration> idle = {};
  static void Fields(auto&& field) {
    field("enabled", &QueueSpec::enabled);
    field("config", &QueueSpec::config);
    field("idle", &QueueSpec::idle);
  }
  friend bool operator==(const QueueSpec&, const QueueSpec&) = default;
};

/// Which of the jobs of one file this is: `array` or `matrix`.
struct ArraySpec {
  int index = 0;           ///< from 0
  int size = 0;            ///< how many jobs the file makes; 0: it makes one, which is no element
  std::string value = {};  ///< of a list of values; empty with a matrix
  bool empty() const { return size == 0; }
  static void Fields(auto&& field) {
    field("index", &ArraySpec::index);
    field("size", &ArraySpec::size);
    field("value", &ArraySpec::value);
  }
  friend bool operator==(const ArraySpec&, const ArraySpec&) = default;
};

/// The copies of the hosts' output on this machine.
struct LogsSpec {
  int max_bytes = 1 << 30;  ///< of the log of one host in one stage; see base::CappedFile
  static void Fields(auto&& field) { field("max_bytes", &LogsSpec::max_bytes); }
  friend bool operator==(const LogsSpec&, const LogsSpec&) = default;
};

/// A job file, resolved: defaults filled in, interpolation done, paths absolute, everything checked
/// that can be checked without the cloud. Printed as YAML it is a job file that resolves to the
/// same spec.
struct JobSpec {
  std::string name = {};
  std::map<std::string, std::string> labels = {};
  std::map<std::string, std::string> environment = {};  ///< for every setup step and the command
  /// "auto": the name is to get the smallest free number as its suffix. Any other suffix is part of
  /// the names already.
  std::string worker_num = {};
  WhenDoneSpec when_done = {};
  std::string group = {};               ///< of jobs that `max_running` counts together
  std::optional<int> max_running = {};  ///< see JobsAtWork; needs a group
  std::optional<QueueSpec> queue = {};  ///< a worker's; nothing: the job has a command
  ArraySpec array = {};
  /// The element's own values, by name. Each is an environment variable of its steps and command.
  std::map<std::string, std::string> matrix = {};
  std::optional<EnvType> env_type = {};  ///< where the command runs; nothing: kNone
  CloudSpec cloud = {};
  TpuSpec tpu = {};
  SshSpec ssh = {};
  CodeSpec code = {};
  bool allow_cross_region = false;  ///< of buckets: see client::CheckBuckets
  GcsfuseSpec gcsfuse = {};
  NfsSpec nfs = {};
  DockerSpec docker = {};  ///< of the three, only the section that env_type names has values
  CondaSpec conda = {};
  VenvSpec venv = {};
  ChecksSpec checks = {};
  std::vector<SetupStep> setup = {};  ///< between those of the sections: see SetupStage
  CommandSpec command = {};
  RetrySpec retries = {};
  WatchdogSpec watchdog = {};
  LogsSpec logs = {};
  std::vector<HookSpec> hooks = {};  ///< in the order of their events
  SmtpSpec smtp = {};
  static void Fields(auto&& field) {
    field("job.name", &JobSpec::name);
    field("job.environment", &JobSpec::environment);
    field("job.worker_num", &JobSpec::worker_num);
    field("job.env_type", &JobSpec::env_type);
    field("job.labels", &JobSpec::labels);
    field("job.when_done", &JobSpec::when_done);
    field("job.group", &JobSpec::group);
    field("job.max_running", &JobSpec::max_running);
    field("job.queue", &JobSpec::queue);
    field("array", &JobSpec::array);
    field("matrix", &JobSpec::matrix);
    field("cloud", &JobSpec::cloud);
    field("tpu", &JobSpec::tpu);
    field("ssh", &JobSpec::ssh);
    field("code", &JobSpec::code);
    field("allow_cross_region", &JobSpec::allow_cross_region);
    field("gcsfuse", &JobSpec::gcsfuse);
    field("nfs", &JobSpec::nfs);
    field("docker", &JobSpec::docker);
    field("conda", &JobSpec::conda);
    field("venv", &JobSpec::venv);
    field("checks", &JobSpec::checks);
    field("setup", &JobSpec::setup);
    field("command", &JobSpec::command);
    field("retries", &JobSpec::retries);
    field("watchdog", &JobSpec::watchdog);
    field("logs", &JobSpec::logs);
    field("on", &JobSpec::hooks);
    field("smtp", &JobSpec::smtp);
  }
  friend bool operator==(const JobSpec&, const JobSpec&) = default;
};

// The word for each enum value in job files; empty for a value out of range.

std::string_view SliceUseName(SliceUse use);
inline std::string_view WordOf(SliceUse use) {
  return SliceUseName(use);
}

/// The value that a word stands for. The values of these enums count from 0.
template <class Enum>
std::optional<Enum> FromWord(std::string_view word) {
  for (int i = 0; !WordOf(static_cast<Enum>(i)).empty(); ++i) {
    if (WordOf(static_cast<Enum>(i)) == word) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

/// What a worker waits for: "a task of /home/ada/tasks.yaml", "a submitted task".
std::string AwaitedTask(const QueueSpec& queue);
/// The values of an element of `array` or `matrix`: "lr=0.1, seed=7", "7"; empty for other jobs.
std::string ElementText(const JobSpec& spec);

}  // namespace jobman::core
