#include "jobman/base/state_paths.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>
#include <sys/un.h>

#include <limits>

#include "jobman/base/strings.hpp"

namespace jobman::base {
namespace {

constexpr std::string_view kAttempt = "attempt-";
constexpr std::string_view kHost = "host-";
constexpr std::string_view kLog = ".log";
constexpr std::string_view kTaskRun = "run_";
constexpr std::string_view kOfJob = "_job";

std::string HostLogName(int host) {
  return fmt::format("{}{:04}{}", kHost, host, kLog);
}

std::string TaskRunDirName(TaskRunName run) {
  return fmt::format("{}{:03}{}{}", kTaskRun, run.number, kOfJob, FormatJobNumber(run.job));
}

/// The number in "<prefix><number><suffix>".
std::optional<int> NumberIn(std::string_view name, std::string_view prefix,
                            std::string_view suffix) {
  if (!name.starts_with(prefix) || !name.ends_with(suffix)) return std::nullopt;
  if (name.size() <= prefix.size() + suffix.size()) return std::nullopt;
  name.remove_prefix(prefix.size());
  name.remove_suffix(suffix.size());
  const auto number = ParseNumber(name);
  if (!number || *number > 1'000'000) return std::nullopt;
  return static_cast<int>(*number);
}

}  // namespace

Path StatePaths::StoreDir() const {
  return home / "store";
}

Path StatePaths::StoreFile() const {
  return StoreDir() / "jobman.db";
}

Path StatePaths::JobDir(std::int64_t job) const {
  return home / "jobs" / FormatJobNumber(job);
}

Path StatePaths::AttemptDir(std::int64_t job, int attempt) const {
  return JobDir(job) / fmt::format("{}{}", kAttempt, attempt);
}

Path StatePaths::CodeFile(std::int64_t job, std::string_view sha256) const {
  return JobDir(job) / "code" / fmt::format("{}.tar.gz", sha256);
}

Path StatePaths::LogPath(std::int64_t job, int attempt, std::string_view stage, int host) const {
  return AttemptDir(job, attempt) / std::string(stage) / HostLogName(host);
}

std::optional<int> StatePaths::AttemptOfDir(std::string_view name) {
  return NumberIn(name, kAttempt, "");
}

std::optional<int> StatePaths::HostOfLog(std::string_view name) {
  return NumberIn(name, kHost, kLog);
}

Path StatePaths::TaskDir(std::int64_t queue, std::string_view task) const {
  return home / "queues" / std::to_string(queue) / "tasks" / SafeFileName(task);
}

Path StatePaths::TaskRunDir(std::int64_t queue, std::string_view task, TaskRunName run) const {
  return TaskDir(queue, task) / TaskRunDirName(run);
}

Path StatePaths::TaskLogPath(std::int64_t queue, std::string_view task, TaskRunName run,
                             int host) const {
  return TaskRunDir(queue, task, run) / HostLogName(host);
}

// The comparison rejects leading zeros and trailing text.
std::optional<TaskRunName> StatePaths::TaskRunOfDir(std::string_view name) {
  if (!name.starts_with(kTaskRun)) return std::nullopt;
  const auto job_at = name.find(kOfJob, kTaskRun.size());
  if (job_at == std::string_view::npos) return std::nullopt;
  const auto number = ParseNumber(name.substr(kTaskRun.size(), job_at - kTaskRun.size()));
  const auto job = ParseNumber(name.substr(job_at + kOfJob.size()));
  if (!number || !job || *number > std::numeric_limits<int>::max()) return std::nullopt;
  const TaskRunName run{.number = static_cast<int>(*number), .job = *job};
  if (TaskRunDirName(run) != name) return std::nullopt;
  return run;
}

Path StatePaths::SshConfig() const {
  return home / "ssh_config";
}

Path StatePaths::SshKnownHosts() const {
  return home / "ssh_known_hosts";
}

Path StatePaths::SshSeenHosts() const {
  return home / "ssh_known_hosts.seen";
}

Path StatePaths::ControllerLog() const {
  return home / "controller.log";
}

Path StatePaths::ControllerSocket() const {
  return home / "controller.sock";
}

Path StatePaths::ForwardsDir() const {
  return home / "forwards";
}

Path StatePaths::ShellSocket() const {
  return home / "shell.sock";
}

Path StatePaths::SimDir() const {
  return home / "sim";
}

Path StatePaths::KeyPath() const {
  return home / "ssh" / "id_ed25519";
}

bool SocketPathFits(const Path& path) {
  return path.native().size() < sizeof(sockaddr_un{}.sun_path);
}

std::string FormatJobNumber(std::int64_t job) {
  return fmt::format(FMT_COMPILE("{:06}"), job);
}

}  // namespace jobman::base
