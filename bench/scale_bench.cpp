// A pod of 1,024 light hosts: how long the simulator takes to have them up and in how much memory,
// and what hosts that fail cost the others: `exec` on all, without faults, with one percent of the
// hosts refusing, one resetting, and one showing a wrong key, and with one percent that hang in the
// handshake and one that hang after the login.
//
//   scale_bench [HOSTS [ROUNDS]]      1024 hosts, 3 rounds by default; takes minutes on two cores
//
// The command's own cost is counted, not that of the hosts, which run on the same processors.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <vector>

#include "bench/place.hpp"
#include "jobman/base/time.hpp"
#include "jobman/ui/table.hpp"

namespace {

using namespace jobman;
using bench::AtMost;
using bench::kMedian;
using bench::Place;

constexpr double kMostUpS = 10;
constexpr double kMostFaultRatio = 1.25;  ///< of the wall time without faults

/// How long the job was in PROVISIONING, by its journal: its node was being created.
double ProvisioningMs(const Place& place, const std::string& job) {
  const base::Json history = place.Ask({"history", job});
  base::TimePoint since = {};
  bool provisioning = false;
  for (const base::Json& event : history["events"]) {
    if (base::GetString(event, "kind") != "state") continue;
    const auto at = base::ParseRfc3339(base::GetString(event, "at"));
    if (!at.ok()) continue;
    if (provisioning) return static_cast<double>((*at - since).count());
    provisioning = base::GetString(event, "subject") == "PROVISIONING";
    since = *at;
  }
  return 0;
}

/// `exec` on all hosts, some of which may fail: when they are logged in to.
bench::Cost Exec(const Place& place) {
  place.HangUp();
  return bench::RunAnyhow(place.Jobman({"-q", "exec", "pod", "--", "hostname"}),
                          place.dir() / "output");
}

/// When the last host of those that answer had answered. exec goes on as long as some hang.
double LastAnswerMs(const Place& place) {
  place.HangUp();
  const base::Path out = place.dir() / "answers";
  const auto began = std::filesystem::file_time_type::clock::now();
  bench::RunAnyhow(place.Jobman({"-q", "exec", "pod", "--patience", "1m", "--force", "--out",
                                 out.string(), "--", "hostname"}),
                   place.dir() / "output");
  auto last = began;
  for (const auto& file : std::filesystem::directory_iterator(out))
    if (file.file_size() > 0) last = std::max(last, file.last_write_time());
  return std::chrono::duration<double, std::milli>(last - began).count();
}

void Strike(const Place& place, std::initializer_list<const char*> faults, int round) {
  for (const char* fault : faults)
    place.Take(place.Sim({"host", "*/1%", fault, "--seed", std::to_string(round)}));
}

void Bench(int hosts, int rounds) {
  Place place({"--delays", "0", "--light"});
  place.StartController();
  const std::string file =
      place.Write("pod.yaml", fmt::format("job: {{name: pod}}\ncloud: local\n"
                                          "tpu: {{accelerator: v5p-{}, zone: us-central1-a}}\n"
                                          "command: {{cmd: 'true'}}\n",
                                          8 * hosts));
  const bench::Cost job = place.Take(place.Jobman({"run", file}));
  const double up_ms = ProvisioningMs(place, "pod");
  const double memory = bench::PeakMbOf(place.simulator());
  bench::Samples well, failing;
  std::vector<double> patient, beside_hanging;
  for (int round = 0; round < rounds; ++round) {
    well.Add(Exec(place));
    Strike(place, {"refuse", "reset", "wrong-key"}, round);
    failing.Add(Exec(place));
    place.Take(place.Sim({"calm"}));
    patient.push_back(LastAnswerMs(place));
    Strike(place, {"hang-handshake", "hang-after-auth"}, round);
    beside_hanging.push_back(LastAnswerMs(place));
    place.Take(place.Sim({"calm"}));
  }
  const double ratio = failing.Wall(kMedian) / well.Wall(kMedian);
  ui::Table table({{.header = "WHAT"},
                   {.header = "WALL ms", .right = true},
                   {.header = "CPU ms", .right = true},
                   {.header = "PEAK MB", .right = true}});
  const auto add = [&table](const char* what, const bench::Samples& took) {
    table.AddRow({what, fmt::format("{:.0f}", took.Wall(kMedian)),
                  fmt::format("{:.0f}", took.Cpu(kMedian)), fmt::format("{:.1f}", took.Peak())});
  };
  table.AddRow({"all hosts up", fmt::format("{:.0f}", up_ms), "", ""});
  table.AddRow({"a job on them, create to SUCCEEDED", fmt::format("{:.0f}", job.wall_ms), "", ""});
  add("exec on all", well);
  add("exec, 3 % of them failing", failing);
  const double last = bench::Quantile(patient, kMedian);
  const double last_beside = bench::Quantile(beside_hanging, kMedian);
  table.AddRow({"exec --patience, the last answer", fmt::format("{:.0f}", last), "", ""});
  table.AddRow({"  the same, 2 % of them hanging", fmt::format("{:.0f}", last_beside), "", ""});
  fmt::print("{} light hosts, delays 0, medians of {} rounds\n{}", hosts, rounds, table.Render({}));
  fmt::print("all up in {:.1f} s {}; peak memory of the simulator: {:.1f} MB\n", up_ms / 1000,
             AtMost(up_ms / 1000, kMostUpS, " s"), memory);
  fmt::print("wall time with failing hosts to that without: {:.2f} {}\n", ratio,
             AtMost(ratio, kMostFaultRatio, ""));
  fmt::print("time to the last answer with hosts that hang to that without: {:.2f} {}\n",
             last_beside / last, AtMost(last_beside / last, kMostFaultRatio, ""));
}

}  // namespace

int main(int argc, char** argv) {
  return bench::Main("scale_bench", [&] {
    Bench(bench::Argument(argc, argv, 1, 1024), bench::Argument(argc, argv, 2, 3));
  });
}
