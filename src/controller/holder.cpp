#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>

#include "jobman/base/files.hpp"
#include "jobman/base/random.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/controller/controller.hpp"

namespace jobman::controller {
namespace {

constexpr std::string_view kTick = "tick-";

std::string HostName() {
  std::array<char, 256> name = {};
  if (gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return base::ReplaceAll(name.data(), ":", "-");
}

std::string BootId() {
  const auto text = base::ReadFile("/proc/sys/kernel/random/boot_id");
  return text.ok() ? std::string(base::Trim(*text)) : std::string{"unknown"};
}

/// Process ids are only comparable within one namespace (pid_namespaces(7)): containers of one
/// machine, which may even share its name, do not see each other's processes.
std::string PidNamespace() {
  std::error_code failed;
  const auto link = std::filesystem::read_symlink("/proc/self/ns/pid", failed).string();
  return failed ? "unknown" : base::ReplaceAll(link, ":", "-");
}

std::string Where() {
  return BootId() + "/" + PidNamespace();
}

/// Fields of /proc/PID/stat after the name (proc(5)); empty when there is no such process.
struct Process {
  std::string state = {};
  /// Field 22, in clock ticks since boot: tells a process from a later one with the same id.
  std::string started = {};
};

Process LookAt(std::int64_t pid) {
  const auto stat = base::ReadFile("/proc/" + std::to_string(pid) + "/stat");
  if (!stat.ok()) return {};
  const auto name_end = stat->rfind(')');
  if (name_end == std::string::npos) return {};
  const auto fields = base::Split(std::string_view(*stat).substr(name_end + 2), ' ');
  if (fields.size() <= 19) return {};
  return {.state = fields[0], .started = fields[19]};
}

}  // namespace

std::string LeaseHolder(bool passing) {
  return base::Join({HostName(), Where(), std::to_string(getpid()), LookAt(getpid()).started,
                     (passing ? std::string{kTick} : std::string{}) + base::RandomHex(4)},
                    ":");
}

std::optional<Holder> ParseHolder(std::string_view text) {
  const auto parts = base::Split(text, ':');
  if (parts.size() != 5) return std::nullopt;
  const auto pid = base::ParseNumber(parts[2]);
  if (!pid) return std::nullopt;
  return Holder{.host = parts[0],
                .where = parts[1],
                .pid = *pid,
                .started = parts[3],
                .passing = parts[4].starts_with(kTick)};
}

std::string HolderText(const std::string& text) {
  const auto process = ParseHolder(text);
  return process ? fmt::format("process {} on {}", process->pid, process->host) : text;
}

bool IsHere(const Holder& holder) {
  return holder.host == HostName() && holder.where == Where();
}

bool HolderIsDead(const std::string& text) {
  const auto holder = ParseHolder(text);
  if (!holder || holder->host != HostName()) return false;
  // This machine was restarted since.
  if (base::Split(holder->where, '/')[0] != BootId()) return true;
  if (!IsHere(*holder)) return false;
  if (kill(static_cast<pid_t>(holder->pid), 0) != 0 && errno == ESRCH) return true;
  const Process process = LookAt(holder->pid);
  // A zombie: PID 1 of many containers does not wait for orphaned processes.
  if (process.state == "Z" || process.state == "X") return true;
  return !process.started.empty() && process.started != holder->started;
}

bool HolderRuns(const std::string& text) {
  const auto holder = ParseHolder(text);
  if (!holder || !IsHere(*holder)) return false;
  const Process process = LookAt(holder->pid);
  constexpr std::string_view kEndedOrStopped = "ZXTt";
  return process.started == holder->started &&
         kEndedOrStopped.find(process.state) == std::string_view::npos;
}

}  // namespace jobman::controller
