// The cost of waiting: many jobs over four zones in one controller, for each state they wait in.
// Counts the requests that the simulator received, and compares them with those for ten jobs in
// each zone, and with a shell loop for each job that describes its slice as often as jobman looks.
//
// usage: watch_bench [JOBS [SECONDS]]      1000 jobs, 60 seconds by default
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <thread>

#include "bench/place.hpp"
#include "jobman/ui/table.hpp"

namespace {

using namespace jobman;
using bench::Place;
using bench::Words;

constexpr double kMostMb = 100;
constexpr double kMostPercent = 2;
constexpr double kPollSeconds = 15;  // of jobman, and of the loop it is compared with
constexpr std::array kZones = {"us-east1-d", "us-east5-a", "europe-west4-a", "asia-northeast1-b"};

struct Asked {
  double requests_per_minute = 0;
  double cpu_percent = 0;
  double peak_mb = 0;
};

constexpr int kFewPerZone = 10;
constexpr double kMostGrowth = 1.5;  // of the requests, from few jobs to many

/// A way to wait: how the slices are asked for, what becomes of it, and the state that it leads to.
struct Way {
  const char* mode;
  const char* fault;
  const char* state;
};
constexpr std::array kWays = {Way{"queued-resources", "waits_forever", "WAITING"},
                              Way{"tpu-vm", "provisions_forever", "PROVISIONING"},
                              Way{"tpu-vm", "stockout", "BACKOFF"}};

void CreateJobs(const Place& place, const Way& way, int jobs) {
  for (const char* zone : kZones) {
    Words create = {"--quiet", "create"};
    for (int i = 0; i < jobs / static_cast<int>(kZones.size()); ++i) {
      create.push_back(place.Write(
          fmt::format("{}-{}.yaml", zone, i),
          fmt::format("job: {{name: wait-{}}}\ncloud: local\n"
                      "tpu: {{accelerator: v6e-8, zone: {}, pricing: spot, allocation_mode: {}}}\n"
                      "command: {{cmd: 'true'}}\n",
                      i, zone, way.mode)));
    }
    place.Take(place.Jobman(create));
  }
}

void AwaitAll(const Place& place, const Way& way, int jobs) {
  bench::Await(fmt::format("{} jobs to be {}", jobs, way.state), [&] {
    const base::Json listed = place.Ask({"list"});
    const auto waits = [&](const base::Json& job) {
      return base::GetString(job, "state") == way.state;
    };
    return std::count_if(listed["jobs"].begin(), listed["jobs"].end(), waits) == jobs;
  });
}

double Requests(const Place& place) {
  const auto file = base::ParseJson(base::ReadFile(place.home() / "sim/sim.json").value_or(""));
  const std::string output = place.Write("requests.json", "");
  bench::Run(
      {"curl", "-sS", "--fail", "-H", "Authorization: Bearer " + base::GetString(*file, "token"),
       base::GetString(*file, "endpoint") + "/sim/requests?limit=0"},
      output);
  const auto log = base::ParseJson(base::ReadFile(output).value_or(""));
  if (!log.ok()) throw std::runtime_error("the simulator counts no requests");
  return static_cast<double>(base::GetInt(*log, "total"));
}

Asked Measure(const Way& way, int jobs, int seconds) {
  Place place({"--light", "--delays", "0"});
  place.Take(place.Sim({"fault", "*.create", way.fault, "--times", "1000000"}));
  place.StartController();
  CreateJobs(place, way, jobs);
  AwaitAll(place, way, jobs);
  std::this_thread::sleep_for(std::chrono::duration<double>(2 * kPollSeconds));  // looks get rare
  const double requests = Requests(place);
  const double cpu = bench::CpuMsOf(place.controller());
  std::this_thread::sleep_for(std::chrono::seconds{seconds});
  return {.requests_per_minute = (Requests(place) - requests) * 60 / seconds,
          .cpu_percent = (bench::CpuMsOf(place.controller()) - cpu) / (10.0 * seconds),
          .peak_mb = bench::PeakMbOf(place.controller())};
}

std::string Verdict(double value, double target) {
  return value <= target ? "met" : "MISSED";
}

void Bench(int jobs, int seconds) {
  ui::Table table({{.header = "STATE"},
                   {.header = "REQUESTS/min", .right = true},
                   {.header = "OF FEW", .right = true},
                   {.header = "RATIO", .right = true},
                   {.header = "CPU % of a core", .right = true},
                   {.header = "PEAK MB", .right = true},
                   {.header = "TARGET"}});
  const double loop = jobs * 60 / kPollSeconds;
  const int few = kFewPerZone * static_cast<int>(kZones.size());
  for (const Way& way : kWays) {
    const double of_few = Measure(way, few, seconds).requests_per_minute;
    const Asked asked = Measure(way, jobs, seconds);
    table.AddRow({way.state, fmt::format("{:.0f}", asked.requests_per_minute),
                  fmt::format("{:.0f}", of_few),
                  fmt::format("{:.4f}", asked.requests_per_minute / loop),
                  fmt::format("{:.2f}", asked.cpu_percent), fmt::format("{:.1f}", asked.peak_mb),
                  fmt::format("{:.0f} %: {}, {:.0f} MB: {}, zones not jobs: {}", kMostPercent,
                              Verdict(asked.cpu_percent, kMostPercent), kMostMb,
                              Verdict(asked.peak_mb, kMostMb),
                              Verdict(asked.requests_per_minute, kMostGrowth * of_few))});
  }
  table.AddRow({"a loop per job", fmt::format("{:.0f}", loop), "", "1.0000"});
  fmt::print("one controller, {} jobs over {} zones, {} s each; few: {} jobs\n{}", jobs,
             kZones.size(), seconds, few, table.Render({}));
  fmt::print("a loop per job: by calculation, one describe each {:.0f} s\n", kPollSeconds);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::Main("watch_bench", [&] {
    const int zones = static_cast<int>(kZones.size());
    Bench(std::max(zones, bench::Argument(argc, argv, 1, 1000) / zones * zones),
          bench::Argument(argc, argv, 2, 60));
  });
}
