#include "bench/logs_follow.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/line_writer.hpp"
#include "bench/place.hpp"
#include "jobman/base/clock.hpp"
#include "jobman/base/state_paths.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/controller/controller.hpp"
#include "jobman/store/sqlite_store.hpp"
#include "tests/support/direct_store.hpp"

namespace jobman::bench {
namespace {

using Clock = std::chrono::steady_clock;

void Need(const base::Status& status) {
  if (!status.ok()) throw std::runtime_error(status.error().ToString());
}

/// A job that runs, number 1. This program holds the lease, so that no controller is started.
void StoreRunningJob(const base::StatePaths& paths) {
  Need(base::EnsureDir(paths.StoreDir()));
  auto opened = store::SqliteStore::Open(paths.StoreDir(), store::OpenMode::kReadWrite);
  if (!opened.ok()) throw std::runtime_error(opened.error().ToString());
  const test::DirectStore store(*std::move(opened));
  const auto now = base::SystemClock().Now();
  core::Job job{.name = "bench", .user = "ada"};
  job.spec.name = job.name;
  job.spec.tpu.accelerator = "v5p-8192";
  job.spec.tpu.zone = "us-east5-a";
  const auto id = store.Create(job, "", now);
  if (!id.ok()) throw std::runtime_error(id.error().ToString());
  job = store.Get(*id).value();
  job.state = core::Running{};
  job.attempt = 1;
  job.wish_new = false;
  Need(store.Commit({.job = job, .events = {{.at = now, .kind = "state"}}}, 0));
  const auto lease = store.TakeLease(controller::LeaseHolder(), now, std::chrono::hours{1});
  if (!lease.ok()) throw std::runtime_error(lease.error().ToString());
}

std::vector<base::Path> LogsOf(const base::StatePaths& paths, int hosts) {
  std::vector<base::Path> logs;
  for (int host = 0; host < hosts; ++host) logs.push_back(paths.LogPath(1, 1, "run", host));
  Need(base::EnsureDir(logs.front().parent_path()));
  return logs;
}

/// How many lines of hosts were printed; std::runtime_error if one is not as it was written.
std::int64_t CheckLines(const base::Path& output, const LineWriter& written) {
  std::vector<int> next(static_cast<std::size_t>(written.hosts()), 0);
  std::int64_t count = 0;
  std::ifstream in(output);
  for (std::string line; std::getline(in, line);) {
    const auto bar = line.find(" | ");
    if (!line.starts_with("host ") || bar == std::string::npos || in.eof()) continue;
    const auto host = base::ParseNumber(line.substr(5, bar - 5));
    if (!host || *host >= written.hosts()) throw std::runtime_error("an odd line: " + line);
    const std::string wanted =
        LineWriter::Line(static_cast<int>(*host), next[static_cast<std::size_t>(*host)]++);
    if (line.substr(bar + 3) != wanted)
      throw std::runtime_error("lost or changed: '" + line + "' in place of '" + wanted + "'");
    ++count;
  }
  return count;
}

/// Ends a program also where a check fails.
struct EndsWithScope {
  explicit EndsWithScope(pid_t program) : pid(program) {}
  ~EndsWithScope() { Stop(pid); }
  EndsWithScope(const EndsWithScope&) = delete;
  EndsWithScope& operator=(const EndsWithScope&) = delete;
  pid_t pid;
};

}  // namespace

void FollowGrowingLogs(int hosts, int seconds) {
  const Place place({"--delays", "0"});
  const base::StatePaths paths{.home = place.home()};
  StoreRunningJob(paths);
  LineWriter writer(LogsOf(paths, hosts));
  writer.Write();
  const base::Path output = place.home() / "followed";
  const EndsWithScope follower(Start(place.Jobman({"logs", "-f", "1"}), output));
  const pid_t jobman = follower.pid;
  const auto has_all = [&] {
    return CheckLines(output, writer) == std::int64_t{writer.lines()} * writer.hosts();
  };
  Await("the first line of each host", has_all);
  const double before = CpuMsOf(jobman);
  const auto began = Clock::now();
  writer.WriteFor(seconds);
  const double wall = std::chrono::duration<double, std::milli>(Clock::now() - began).count();
  const double cpu = CpuMsOf(jobman) - before;
  Await("the last line of each host", has_all);
  const double late =
      std::chrono::duration<double, std::milli>(Clock::now() - began).count() - wall;
  const double peak = PeakMbOf(jobman);
  fmt::print(
      "logs -f of {} hosts with {} lines/s each, for {:.0f} s: {:.2f} of a core (target 0.5), ",
      hosts, LineWriter::kPerSecond, wall / 1000, cpu / wall);
  fmt::print(
      "{:.1f} MB at most; {} lines, none lost or changed; the last one seen after {:.0f} ms\n",
      peak, CheckLines(output, writer), late);
}

}  // namespace jobman::bench
