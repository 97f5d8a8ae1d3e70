#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/line_writer.hpp"
#include "bench/logs_follow.hpp"
#include "bench/place.hpp"
#include "jobman/base/state_paths.hpp"

namespace jobman::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kMostOfACore = 0.5;
constexpr useconds_t kLookUs = 200'000;  ///< rarely: it takes a processor from the hosts
constexpr auto kLimit = std::chrono::minutes{10};

/// A FIFO for each host, whose command prints what is written to it.
std::vector<base::Path> MakeFifos(const Place& place, int hosts) {
  std::vector<base::Path> fifos;
  for (int host = 0; host < hosts; ++host) {
    fifos.push_back(place.dir() / fmt::format("line-{}", host));
    if (mkfifo(fifos.back().c_str(), 0600) != 0)
      throw std::runtime_error("cannot make " + fifos.back().string());
  }
  return fifos;
}

/// Opened for both, a FIFO has a writer at all times, so `cat` sees no end.
std::string JobFile(const Place& place, int hosts) {
  return place.Write("pod.yaml",
                     fmt::format("job: {{name: pod}}\ncloud: local\n"
                                 "tpu: {{accelerator: v5p-{}, zone: us-central1-a}}\n"
                                 "command: {{cmd: 'exec cat <> {}/line-$JOBMAN_HOST_INDEX'}}\n",
                                 8 * hosts, place.dir().string()));
}

std::string LogOf(const Place& place, int host) {
  const base::StatePaths paths{.home = place.home()};
  return base::ReadFile(paths.LogPath(1, 1, "run", host)).value_or("");
}

std::string WrittenTo(int host, int lines) {
  std::string text;
  for (int line = 0; line < lines; ++line) text += LineWriter::Line(host, line) + "\n";
  return text;
}

/// Whether all logs are complete; std::runtime_error if one has what was not written.
bool HasAll(const Place& place, const LineWriter& writer) {
  usleep(kLookUs);
  for (int host = 0; host < writer.hosts(); ++host) {
    const std::string log = LogOf(place, host);
    const std::string wanted = WrittenTo(host, writer.lines());
    if (!wanted.starts_with(log))
      throw std::runtime_error(fmt::format("the log of host {} lost or changed a line", host));
    if (log.size() < wanted.size()) return false;
  }
  return true;
}

double MsSince(Clock::time_point began) {
  return std::chrono::duration<double, std::milli>(Clock::now() - began).count();
}

}  // namespace

void CollectGrowingLogs(int hosts, int seconds) {
  Place place({"--delays", "0", "--light"});
  place.StartController();
  LineWriter writer(MakeFifos(place, hosts));
  place.Take(place.Jobman({"create", JobFile(place, hosts)}));
  const auto is_up = [&] {
    usleep(kLookUs);
    return IsUpEverywhere(place, "pod");
  };
  Await("the command to run on every host", is_up, kLimit);
  const auto has_all = [&] { return HasAll(place, writer); };
  writer.Write();
  Await("the first line of each host", has_all, kLimit);
  const double before = CpuMsOf(place.controller());
  const double simulator = TreeCpuMs(place.simulator());
  const auto began = Clock::now();
  writer.WriteFor(seconds);
  const double wall = MsSince(began);
  Await("the last line of each host", has_all, kLimit);
  const double late = MsSince(began) - wall;
  // What comes late belongs to what was printed in this time.
  const double cpu = (CpuMsOf(place.controller()) - before) / wall;
  const Extent extent = ExtentOf(place.controller());
  fmt::print(
      "a controller collects {} logs with {} lines/s each, for {:.0f} s: {:.2f} of a core {}\n",
      hosts, LineWriter::kPerSecond, wall / 1000, cpu, AtMost(cpu, kMostOfACore, ""));
  fmt::print(
      "{} lines, none lost or changed; the last one here after {:.0f} ms; {:.1f} MB, {} files\n",
      std::int64_t{writer.lines()} * hosts, late, extent.resident_mb, extent.files);
  fmt::print("the hosts, all on this machine: {:.2f} of a core\n",
             (TreeCpuMs(place.simulator()) - simulator) / wall);
}

}  // namespace jobman::bench
