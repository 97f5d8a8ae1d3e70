// What jobman costs on a pod of light hosts beyond `exec` (that is exec_bench, and pool_bench): a
// stream of a gigabyte from one host beside the OpenSSH client's, a whole job with a setup step and
// a command on all hosts, and what the hosts and the controller do while a command runs on all of
// them.
//
//   pod_bench [HOSTS [ROUNDS]]      1024 hosts, 3 rounds by default; takes minutes on two cores
//
// The hosts run on the same processors as what is measured. The client's CPU is that of the command
// and of the controller.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <fstream>
#include <stdexcept>
#include <string>

#include "bench/ssh_peers.hpp"
#include "jobman/ui/table.hpp"

namespace {

using namespace jobman;
using bench::AtMost;
using bench::kMedian;
using bench::Place;
using bench::Words;
using Clock = std::chrono::steady_clock;

constexpr double kLeastOfSsh = 1.0;  ///< of the rate of the OpenSSH client
constexpr double kMostGrowthMb = 4;  ///< of the memory, by four times the bytes
/// More of the controller's memory, while streams pass through it.
constexpr double kMostPassingMb = 16;
constexpr double kMostJobCpuMs = 4;  ///< a host, for a job
constexpr double kMostMb = 64;       ///< resident, of the controller
constexpr int kMostThreads = 8;
constexpr auto kWaiting = std::chrono::seconds{20};
constexpr useconds_t kLookUs = 1'000'000;  ///< rarely: it takes a processor from the hosts
constexpr auto kStartLimit = std::chrono::minutes{10};

std::string PodFile(const Place& place, const std::string& name, int hosts,
                    const std::string& rest) {
  return place.Write(name + ".yaml",
                     fmt::format("job: {{name: {}}}\ncloud: local\n"
                                 "tpu: {{accelerator: v5p-{}, zone: us-central1-a}}\n{}",
                                 name, 8 * hosts, rest));
}

// --- a stream ----------------------------------------------------------------------------------

struct Stream {
  std::string name = {};
  int megabytes = 0;
  Words argv = {};
  bool is_ours = false;
  bench::Samples took = {};
};

double RateOf(const Stream& stream) {
  return stream.megabytes / stream.took.Wall(kMedian) * 1e3;
}

std::array<Stream, 4> StreamsOf(const Place& place) {
  const bench::Hosts hosts = bench::HostsOf(place, "pod");
  const auto line = [](int megabytes) { return fmt::format("head -c {}M /dev/zero", megabytes); };
  const auto ours = [&](int megabytes) {
    return place.Jobman({"-q", "exec", "pod", "-w", "0", "--", line(megabytes)});
  };
  const auto ssh = [&](const std::string& more) {
    return Words{
        "sh", "-c",
        fmt::format("exec {} {} {} '{}'", hosts.client, more, hosts.addresses.front(), line(1024))};
  };
  return {
      Stream{.name = "jobman exec", .megabytes = 1024, .argv = ours(1024), .is_ours = true},
      Stream{
          .name = "jobman exec, a quarter", .megabytes = 256, .argv = ours(256), .is_ours = true},
      Stream{.name = "ssh", .megabytes = 1024, .argv = ssh("")},
      Stream{.name = "ssh -c aes128-gcm@openssh.com",
             .megabytes = 1024,
             .argv = ssh("-c aes128-gcm@openssh.com")}};
}

void MeasureStreams(const Place& place, int rounds) {
  std::array<Stream, 4> streams = StreamsOf(place);
  bench::ForgetPeak(place.controller());
  const double resident = bench::PeakMbOf(place.controller());
  for (int round = 0; round < rounds; ++round) {
    for (Stream& stream : streams) {
      const double before = bench::CpuMsOf(place.controller());
      bench::Cost cost = bench::Run(stream.argv, "/dev/null");
      if (stream.is_ours) cost.cpu_ms += bench::CpuMsOf(place.controller()) - before;
      stream.took.Add(cost);
    }
  }
  ui::Table table({{.header = "WHAT"},
                   {.header = "MB", .right = true},
                   {.header = "MB/s", .right = true},
                   {.header = "CPU ms/GB", .right = true},
                   {.header = "PEAK MB", .right = true}});
  for (const Stream& stream : streams)
    table.AddRow({stream.name, std::to_string(stream.megabytes),
                  fmt::format("{:.0f}", RateOf(stream)),
                  fmt::format("{:.0f}", stream.took.Cpu(kMedian) * 1024 / stream.megabytes),
                  fmt::format("{:.1f}", stream.took.Peak())});
  const auto& [ours, quarter, ssh, ssh_gcm] = streams;
  const double rate = RateOf(ours) / RateOf(ssh);
  const double growth = ours.took.Peak() - quarter.took.Peak();
  fmt::print("one host streams to /dev/null, medians of {} rounds\n{}", rounds, table.Render({}));
  fmt::print("rate to that of ssh: {:.2f} (at least {:.0f}: {}); to ssh with aes128-gcm: {:.2f}\n",
             rate, kLeastOfSsh, rate >= kLeastOfSsh ? "met" : "MISSED",
             RateOf(ours) / RateOf(ssh_gcm));
  fmt::print("memory for four times the bytes: {:+.1f} MB {}\n", growth,
             AtMost(growth, kMostGrowthMb, " MB"));
  const double passing = bench::PeakMbOf(place.controller()) - resident;
  fmt::print(
      "the controller, which passes them on: peak {:.1f} MB, {:.1f} MB more than before {}\n\n",
      resident + passing, passing, AtMost(passing, kMostPassingMb, " MB"));
}

// --- a whole job -------------------------------------------------------------------------------

constexpr const char* kJob =
    "setup:\n  - name: prepare\n    run: mkdir -p ~/bench && echo ready > ~/bench/state\n"
    "command: {cmd: 'cat ~/bench/state; echo done'}\n";

void MeasureJob(const Place& place, int hosts) {
  const std::string file = PodFile(place, "job", hosts, kJob);
  bench::ForgetPeak(place.controller());
  const double controller = bench::CpuMsOf(place.controller());
  const double simulator = bench::TreeCpuMs(place.simulator());
  const bench::Cost cost = place.Take(place.Jobman({"create", file, "--follow"}));
  const double ours = bench::CpuMsOf(place.controller()) - controller;
  const double theirs = bench::TreeCpuMs(place.simulator()) - simulator;
  const double peak = bench::PeakMbOf(place.controller());
  ui::Table table({{.header = "WHAT"},
                   {.header = "WALL ms", .right = true},
                   {.header = "CPU ms/HOST", .right = true},
                   {.header = "PEAK MB", .right = true}});
  table.AddRow({"create --follow to SUCCEEDED", fmt::format("{:.0f}", cost.wall_ms),
                fmt::format("{:.2f}", (cost.cpu_ms + ours) / hosts), ""});
  table.AddRow({"  of it the command", "", fmt::format("{:.2f}", cost.cpu_ms / hosts),
                fmt::format("{:.1f}", cost.peak_mb)});
  table.AddRow({"  of it the controller", "", fmt::format("{:.2f}", ours / hosts),
                fmt::format("{:.1f}", peak)});
  table.AddRow({"the hosts", "", fmt::format("{:.2f}", theirs / hosts), ""});
  const double each = (cost.cpu_ms + ours) / hosts;
  fmt::print("a job with a setup step and a command on {} light hosts, once\n{}", hosts,
             table.Render({}));
  fmt::print("client CPU: {:.2f} ms a host {}; controller's peak memory: {:.1f} MB {}\n", each,
             AtMost(each, kMostJobCpuMs, " ms"), peak, AtMost(peak, kMostMb, " MB"));
  fmt::print("hosts' CPU to the client's: {:.1f}\n\n", theirs / hosts / each);
}

// --- a command that runs on all hosts -----------------------------------------------------------

/// Waits, and looks how many processes want a processor at a time: the mean, without this one.
double MeanRunnable(Clock::time_point until) {
  constexpr useconds_t kSampleUs = 100'000;
  double sum = 0;
  int samples = 0;
  while (Clock::now() < until) {
    usleep(kSampleUs);
    double minute = 0, five = 0, fifteen = 0, runnable = 0;
    std::ifstream("/proc/loadavg") >> minute >> five >> fifteen >> runnable;  // then "/TOTAL"
    sum += runnable - 1;
    ++samples;
  }
  return sum / samples;
}

/// The job is not ended: hosts and controller go with the place.
void MeasureWaiting(const Place& place, int hosts) {
  const std::string file = PodFile(place, "idle", hosts, "command: {cmd: 'sleep 86400'}\n");
  bench::ForgetPeak(place.controller());
  place.Take(place.Jobman({"create", file}));
  const auto is_up = [&] {
    usleep(kLookUs);
    return bench::IsUpEverywhere(place, "idle");
  };
  bench::Await("the command to run on every host", is_up, kStartLimit);
  const double controller = bench::CpuMsOf(place.controller());
  const double simulator = bench::TreeCpuMs(place.simulator());
  const auto began = Clock::now();
  const double runnable = MeanRunnable(began + kWaiting);
  const double seconds = std::chrono::duration<double>(Clock::now() - began).count();
  const double ours = (bench::CpuMsOf(place.controller()) - controller) / seconds;
  const double theirs = (bench::TreeCpuMs(place.simulator()) - simulator) / seconds;
  bench::Extent extent = bench::ExtentOf(place.controller());
  extent.resident_mb = bench::PeakMbOf(place.controller());  // throws if it has ended
  fmt::print("a command that sleeps on {} light hosts, {:.0f} s once it runs everywhere\n", hosts,
             seconds);
  fmt::print(
      "controller: {:.1f} ms of CPU a second, peak {:.1f} MB {}, {} threads {}, {} open files\n",
      ours, extent.resident_mb, AtMost(extent.resident_mb, kMostMb, " MB"), extent.threads,
      AtMost(extent.threads, kMostThreads, ""), extent.files);
  fmt::print(
      "a host: {:.2f} ms of CPU a second; processes that want a processor at a time: {:.1f}\n",
      theirs / hosts, runnable);
}

void Bench(int hosts, int rounds) {
  Place place({"--delays", "0", "--light"});
  place.StartController();
  const std::string pod = PodFile(place, "pod", hosts, "command: {cmd: 'true'}\n");
  place.Take(place.Jobman({"run", pod}));
  MeasureStreams(place, rounds);
  place.Take(place.Jobman({"delete", "pod", "--wait"}));
  MeasureJob(place, hosts);
  place.Take(place.Jobman({"delete", "job", "--wait"}));
  MeasureWaiting(place, hosts);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::Main("pod_bench", [&] {
    Bench(bench::Argument(argc, argv, 1, 1024), bench::Argument(argc, argv, 2, 3));
  });
}
