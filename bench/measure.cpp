#include "bench/measure.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

#include "jobman/base/strings.hpp"

extern char** environ;

namespace jobman::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr useconds_t kAwaitPause = 10'000;
constexpr useconds_t kLookPause = 20'000;

double Millis(const timeval& time) {
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
}

double MillisSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

pid_t Spawn(const Words& argv, const base::Path& output, int flags) {
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, output.c_str(), O_WRONLY | O_CREAT | flags, 0600);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  pid_t pid = 0;
  const int failed = posix_spawnp(&pid, words[0], &files, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0) throw std::runtime_error("cannot start " + argv[0]);
  return pid;
}

/// A line of /proc/PID/stat behind the name, which may hold blanks and brackets.
struct Stat {
  pid_t parent = 0;
  double ended_children_ms = 0;
};

std::optional<Stat> ReadStat(const base::Path& process) {
  const auto line = base::ReadFile(process / "stat");
  if (!line.ok()) return {};
  std::istringstream fields(line->substr(line->rfind(')') + 1));
  std::string skipped;
  Stat stat;
  fields >> skipped >> stat.parent;
  for (int field = 5; field < 16; ++field) fields >> skipped;
  double user = 0;
  double system = 0;
  fields >> user >> system;
  stat.ended_children_ms = (user + system) * 1e3 / static_cast<double>(sysconf(_SC_CLK_TCK));
  return stat;
}

/// The number behind `name` in /proc/PID/status; 0 if it is not there.
double StatusNumber(const base::Path& process, const std::string& name) {
  const auto status = base::ReadFile(process / "status");
  const auto line = status.ok() ? status->find("\n" + name + ":") : std::string::npos;
  return line == std::string::npos ? 0 : std::stod(status->substr(line + name.size() + 2));
}

struct Ended {
  Cost cost = {};
  int status = 0;
};

/// Waits for the end of `pid`; looks at it meanwhile if `extent` is given.
Ended AwaitEnd(pid_t pid, Clock::time_point start, Extent* extent) {
  rusage usage = {};
  int status = 0;
  while (wait4(pid, &status, extent != nullptr ? WNOHANG : 0, &usage) == 0) {
    extent->Widen(ExtentOf(pid));
    usleep(kLookPause);
  }
  return {.cost = {.wall_ms = MillisSince(start),
                   .cpu_ms = Millis(usage.ru_utime) + Millis(usage.ru_stime),
                   .peak_mb = static_cast<double>(usage.ru_maxrss) / 1024},
          .status = status};
}

}  // namespace

double Quantile(std::vector<double> values, double quantile) {
  if (values.empty()) return 0;
  const auto rank =
      static_cast<std::size_t>(std::lround(quantile * static_cast<double>(values.size() - 1)));
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(rank),
                   values.end());
  return values[rank];
}

double Samples::Quantile(double quantile, double Cost::*member) const {
  std::vector<double> values;
  for (const Cost& cost : costs_) values.push_back(cost.*member);
  return bench::Quantile(std::move(values), quantile);
}

double Samples::Wall(double quantile) const {
  return Quantile(quantile, &Cost::wall_ms);
}

double Samples::Cpu(double quantile) const {
  return Quantile(quantile, &Cost::cpu_ms);
}

double Samples::Peak() const {
  return Quantile(1, &Cost::peak_mb);
}

Cost Run(const Words& argv, const base::Path& output) {
  const auto start = Clock::now();
  const Ended ended = AwaitEnd(Spawn(argv, output, O_TRUNC), start, nullptr);
  if (ended.status == 0) return ended.cost;
  const auto said = base::ReadFile(output);
  throw std::runtime_error(fmt::format("{} ended with status {:#x}: {}", base::Join(argv, " "),
                                       ended.status, said.value_or("")));
}

Cost RunAnyhow(const Words& argv, const base::Path& output, Extent* extent) {
  const auto start = Clock::now();
  return AwaitEnd(Spawn(argv, output, O_TRUNC), start, extent).cost;
}

void Extent::Widen(const Extent& other) {
  resident_mb = std::max(resident_mb, other.resident_mb);
  threads = std::max(threads, other.threads);
  files = std::max(files, other.files);
}

Extent ExtentOf(pid_t pid) {
  const base::Path process = fmt::format("/proc/{}", pid);
  Extent extent{.resident_mb = StatusNumber(process, "VmHWM") / 1024,
                .threads = static_cast<int>(StatusNumber(process, "Threads"))};
  std::error_code ended;
  for (std::filesystem::directory_iterator file(process / "fd", ended), last;
       !ended && file != last; file.increment(ended))
    ++extent.files;
  return extent;
}

pid_t Start(const Words& argv, const base::Path& output) {
  return Spawn(argv, output, O_APPEND);
}

void Stop(pid_t pid) {
  kill(pid, SIGTERM);
  waitpid(pid, nullptr, 0);
}

bool Works(const Words& argv) {
  try {
    Run(argv, "/dev/null");
    return true;
  } catch (const std::runtime_error&) {
    return false;
  }
}

void Await(const std::string& what, const std::function<bool()>& is_so,
           std::chrono::seconds limit) {
  const auto start = Clock::now();
  while (!is_so()) {
    if (Clock::now() - start > limit) throw std::runtime_error("waited in vain for " + what);
    usleep(kAwaitPause);
  }
}

int Argument(int argc, char** argv, int index, int otherwise) {
  const auto given = index < argc ? base::ParseNumber(argv[index]) : std::nullopt;
  return given && *given > 0 ? static_cast<int>(*given) : otherwise;
}

int Main(const char* program, const std::function<void()>& body) {
  try {
    body();
    return 0;
  } catch (const std::exception& malfunction) {
    fmt::print(stderr, "{}: {}\n", program, malfunction.what());
    return 1;
  }
}

double CpuMsOf(pid_t pid) {
  clockid_t clock = 0;
  timespec time = {};
  if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

double TreeCpuMs(pid_t root) {
  std::multimap<pid_t, pid_t> children;
  std::map<pid_t, double> ended;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const auto pid = base::ParseNumber(entry.path().filename().string());
    const auto stat = pid ? ReadStat(entry.path()) : std::nullopt;
    if (!stat) continue;
    children.emplace(stat->parent, static_cast<pid_t>(*pid));
    ended[static_cast<pid_t>(*pid)] = stat->ended_children_ms;
  }
  double sum = 0;
  std::vector<pid_t> left = {root};
  while (!left.empty()) {
    const pid_t pid = left.back();
    left.pop_back();
    sum += CpuMsOf(pid) + ended[pid];
    const auto [first, last] = children.equal_range(pid);
    for (auto child = first; child != last; ++child) left.push_back(child->second);
  }
  return sum;
}

double PeakMbOf(pid_t pid) {
  const double peak_kb = StatusNumber(fmt::format("/proc/{}", pid), "VmHWM");
  if (peak_kb <= 0) throw std::runtime_error(fmt::format("process {} has ended", pid));
  return peak_kb / 1024;
}

void ForgetPeak(pid_t pid) {
  std::ofstream(fmt::format("/proc/{}/clear_refs", pid)) << 5;
}

std::string AtMost(double value, double most, const char* unit) {
  return fmt::format("(at most {:.4g}{}: {})", most, unit, value <= most ? "met" : "MISSED");
}

}  // namespace jobman::bench
