// How long a preemption interrupts a job: from the moment the simulator preempts a running slice to
// the request for the next one, and until the command runs again on all hosts. Once with
// connections that end, and once with packets that are lost, so that only the API tells of the
// preemption. The peer is a shell loop on one node: describe, and when it is PREEMPTED, delete and
// create.
//
// usage: recovery_bench [ROUNDS [HOSTS]]      5 rounds, 16 hosts by default
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <optional>
#include <stdexcept>
#include <thread>

#include "bench/place.hpp"
#include "jobman/base/clock.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/base/time.hpp"
#include "jobman/ui/table.hpp"

namespace {

using namespace jobman;
using bench::kMedian;
using bench::Place;
using bench::Words;

constexpr double kMostAskMs = 2000;
constexpr double kMostRunMs = 4000;
constexpr double kMostAskSilentMs = 16'000;  // the longest time between looks, and 1 s
/// After a change jobman looks often, then ever more rarely: this long after it, each 15 s.
constexpr double kCalmSeconds = 45;
constexpr int kLoopSeconds = 15;  // jobman's own longest time between looks

struct Recovered {
  std::vector<double> asked_ms = {};
  std::vector<double> running_ms = {};
};

base::TimePoint Now() {
  return base::SystemClock().Now();
}

bool IsUpEverywhere(const base::Json& shown) {
  if (base::GetString(shown, "state") != "RUNNING") return false;
  for (const base::Json& host : shown["stage"]["hosts"])
    if (base::GetString(host, "phase") != "running") return false;
  return true;
}

/// When the journal says that the attempt entered the state.
std::optional<base::TimePoint> Entered(const Place& place, int attempt, const std::string& state) {
  const base::Json history = place.Ask({"history", "bench"});
  for (const base::Json& event : history["events"]) {
    const bool it = base::GetString(event, "kind") == "state" &&
                    base::GetString(event, "subject") == state &&
                    base::GetInt(event, "attempt") == attempt;
    if (!it) continue;
    const auto at = base::ParseRfc3339(base::GetString(event, "at"));
    if (at.ok()) return *at;
  }
  return std::nullopt;
}

double MsBetween(base::TimePoint from, const std::optional<base::TimePoint>& to) {
  if (!to) throw std::runtime_error("the journal does not tell when the job went on");
  return static_cast<double>((*to - from).count());
}

void AwaitRunning(const Place& place, int attempt) {
  bench::Await(fmt::format("attempt {} to run on every host", attempt), [&] {
    const base::Json shown = place.Ask({"show", "bench"})["jobs"][0];
    return base::GetInt(shown, "attempt") == attempt && IsUpEverywhere(shown);
  });
}

/// Preemptions come at any time between two looks.
void SleepIntoRound(double first, int round, int rounds) {
  std::this_thread::sleep_for(
      std::chrono::duration<double>(first + kLoopSeconds * (round + 0.5) / rounds));
}

Recovered MeasureJobman(int rounds, int hosts, const char* mode, bool silent) {
  Place place({"--delays", "0"});
  place.StartController();
  const std::string file = place.Write(
      "job.yaml", fmt::format("job: {{name: bench}}\ncloud: local\n"
                              "tpu: {{accelerator: v4-{}, zone: us-central2-b, pricing: spot, "
                              "allocation_mode: {}}}\n"
                              "command: {{cmd: 'echo up; sleep 3600', grace: 1s}}\n",
                              hosts * 8, mode));
  place.Take(place.Jobman({"create", file}));
  Recovered recovered;
  for (int attempt = 1; attempt <= rounds; ++attempt) {
    AwaitRunning(place, attempt);
    if (silent) SleepIntoRound(kCalmSeconds, attempt - 1, rounds);
    const base::TimePoint taken = Now();
    Words preempt = {"preempt", fmt::format("bench-000001-a{}", attempt)};
    if (silent) preempt.insert(preempt.end(), {"--as", "silent", "--for", "60s"});
    place.Take(place.Sim(preempt));
    AwaitRunning(place, attempt + 1);
    recovered.asked_ms.push_back(MsBetween(taken, Entered(place, attempt + 1, "REQUESTING")));
    recovered.running_ms.push_back(MsBetween(taken, Entered(place, attempt + 1, "RUNNING")));
  }
  return recovered;
}

/// curl with the simulator's token.
std::string Curl(const Place& place) {
  return "curl -H \"Authorization: Bearer $(cat " + (place.home() / "sim/token").string() + ")\"";
}

/// The loop people write, with curl in place of gcloud, whose start alone takes half a second.
std::string Loop(const Place& place, const std::string& nodes) {
  return place.Write(
      "loop.sh",
      fmt::format("curl() {{ command {3} \"$@\"; }}\n"
                  "create() {{ curl -sS --fail -X POST -H 'Content-Type: application/json' -d "
                  "'{{\"acceleratorType\": \"v4-8\", \"runtimeVersion\": \"tpu-ubuntu2204-base\", "
                  "\"schedulingConfig\": {{\"spot\": true}}}}' '{0}?nodeId=loop' >/dev/null; }}\n"
                  "create\n"
                  "while sleep {1}; do\n"
                  "  case $(curl -sS {0}/loop) in\n"
                  "    *PREEMPTED*) curl -sS -X DELETE {0}/loop >/dev/null\n"
                  "      until create 2>/dev/null; do sleep 1; done\n"
                  "      date +%s%3N >>{2}/asked ;;\n"
                  "  esac\n"
                  "done\n",
                  nodes, kLoopSeconds, place.home().string(), Curl(place)));
}

std::vector<double> MeasureLoop(int rounds) {
  Place place({"--delays", "0", "--light"});
  const auto sim = base::ParseJson(base::ReadFile(place.home() / "sim/sim.json").value_or(""));
  const std::string nodes = base::GetString(*sim, "endpoint") +
                            "/v2/projects/local-project/locations/us-central2-b/nodes";
  const pid_t loop = bench::Start({"sh", Loop(place, nodes)}, place.home() / "loop.log");
  std::vector<double> asked_ms;
  for (int round = 0; round < rounds; ++round) {
    bench::Await("the loop's node to be READY", [&] {
      return bench::Works({"sh", "-c", Curl(place) + " -sS " + nodes + "/loop | grep -q READY"});
    });
    SleepIntoRound(0, round, rounds);
    const base::TimePoint taken = Now();
    place.Take(place.Sim({"preempt", "loop"}));
    std::vector<std::string> lines;
    bench::Await("the loop to ask again", [&] {
      lines = base::Split(base::ReadFile(place.home() / "asked").value_or(""), '\n');
      return static_cast<int>(lines.size()) > round + 1;
    });
    const auto at = base::ParseNumber(lines[static_cast<std::size_t>(round)]);
    asked_ms.push_back(MsBetween(taken, base::FromMillis(at.value_or(0))));
  }
  bench::Stop(loop);
  return asked_ms;
}

std::string Ms(const std::vector<double>& values, double quantile) {
  return fmt::format("{:.0f}", bench::Quantile(values, quantile));
}

std::string Verdict(const std::vector<double>& values, double target) {
  const bool met = bench::Quantile(values, 1) <= target;
  return fmt::format("{:.0f} ms: {}", target, met ? "met" : "MISSED");
}

void Bench(int rounds, int hosts) {
  const Recovered jobman = MeasureJobman(rounds, hosts, "tpu-vm", false);
  const Recovered queued = MeasureJobman(rounds, hosts, "queued-resources", false);
  const Recovered silent = MeasureJobman(rounds, hosts, "tpu-vm", true);
  const auto loop = MeasureLoop(rounds);
  ui::Table table({{.header = "FROM THE PREEMPTION TO"},
                   {.header = "MEDIAN ms", .right = true},
                   {.header = "WORST ms", .right = true},
                   {.header = "TARGET, WORST"}});
  table.AddRow({"the next request", Ms(jobman.asked_ms, kMedian), Ms(jobman.asked_ms, 1),
                Verdict(jobman.asked_ms, kMostAskMs)});
  table.AddRow({fmt::format("the command running on {} hosts", hosts),
                Ms(jobman.running_ms, kMedian), Ms(jobman.running_ms, 1),
                Verdict(jobman.running_ms, kMostRunMs)});
  table.AddRow({"the next request, of a queued resource", Ms(queued.asked_ms, kMedian),
                Ms(queued.asked_ms, 1), Verdict(queued.asked_ms, kMostAskMs)});
  table.AddRow({"its command running on them", Ms(queued.running_ms, kMedian),
                Ms(queued.running_ms, 1), Verdict(queued.running_ms, kMostRunMs)});
  table.AddRow({"the next request, packets being lost", Ms(silent.asked_ms, kMedian),
                Ms(silent.asked_ms, 1), Verdict(silent.asked_ms, kMostAskSilentMs)});
  table.AddRow({fmt::format("the next request of a shell loop, every {} s", kLoopSeconds),
                Ms(loop, kMedian), Ms(loop, 1)});
  fmt::print("a running slice is preempted, simulator delays 0, {} rounds\n{}", rounds,
             table.Render({}));
  fmt::print("ratio to the shell loop: {:.3f} of its median time to the next request\n",
             bench::Quantile(jobman.asked_ms, kMedian) / bench::Quantile(loop, kMedian));
}

}  // namespace

int main(int argc, char** argv) {
  return bench::Main("recovery_bench", [&] {
    Bench(bench::Argument(argc, argv, 1, 5), bench::Argument(argc, argv, 2, 16));
  });
}
