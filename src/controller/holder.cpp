#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>

#include "jobman/base/files.hpp"
#include "jobman/base/hash.hpp"
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
  return base::Join({HostName(), BootId() + "/" + PidNamespace(), std::to_string(getpid()),
                     LookAt(getpid()).started,
                     (passing ? std::string{kTick} : std::string{}) + base::RandomHex(4)},
                    ":");
}

std::optional<std::int64_t> HolderPid(const std::string& holder) {
  const auto parts = base::Split(holder, ':');
  return parts.size() == 5 ? base::ParseNumber(parts[2]) : std::nullopt;
}

bool IsPassing(const std::string& holder) {
  const auto parts = base::Split(holder, ':');
  return parts.size() == 5 && parts[4].starts_with(kTick);
}

bool HolderIsDead(const std::string& holder) {
  const auto parts = base::Split(holder, ':');
  if (parts.size() != 5 || parts[0] != HostName()) return false;
  const auto place = base::Split(parts[1], '/');
  if (place[0] != BootId()) return true;  // this machine was restarted since
  if (place.size() != 2 || place[1] != PidNamespace()) return false;
  const auto pid = HolderPid(holder);
  if (!pid) return false;
  if (kill(static_cast<pid_t>(*pid), 0) != 0 && errno == ESRCH) return true;
  const Process process = LookAt(*pid);
  // A zombie: PID 1 of many containers does not wait for orphaned processes.
  if (process.state == "Z" || process.state == "X") return true;
  return !process.started.empty() && process.started != parts[3];
}

}  // namespace jobman::controller
