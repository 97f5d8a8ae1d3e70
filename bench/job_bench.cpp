// A job on 16 simulated hosts from `create` to SUCCEEDED: wall time, and the CPU time of jobman
// (command and controller) and of the simulator with its sshd processes. The peer, in the same run,
// is a shell loop of parallel OpenSSH clients that does the same two steps on the same hosts. Then
// `cancel` of a command that ignores TERM.
//
// The OpenSSH client runs twice: with its defaults, and with the key exchange that jobman's library
// uses, which is cheaper.
//
// usage: job_bench [ROUNDS [HOSTS]]      7 rounds, 16 hosts by default
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <map>
#include <stdexcept>

#include "bench/place.hpp"
#include "jobman/base/shell.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/base/time.hpp"
#include "jobman/ui/table.hpp"

namespace {

using namespace jobman;
using bench::kMedian;
using bench::Place;
using bench::Words;

constexpr double kMostWallMs = 2000;
constexpr double kMostCpuMs = 1000;
constexpr double kGraceMs = 1000;
constexpr double kMostOverGraceMs = 1000;

constexpr const char* kSetup = "mkdir -p ~/bench && echo ready > ~/bench/state && echo prepared";
constexpr const char* kCommand =
    "cat ~/bench/state; for step in 1 2 3 4 5; do echo \"step $step of 5\"; done; echo done";
constexpr const char* kStubborn = "trap \"\" TERM; echo up; while :; do sleep 1; done";

std::string JobFile(const std::string& name, int hosts, const std::string& command) {
  return fmt::format(
      "job: {{name: {}}}\ncloud: local\n"
      "tpu: {{accelerator: v4-{}, zone: us-central2-b, pricing: spot, "
      "allocation_mode: queued-resources}}\n"
      "setup:\n  - name: prepare\n    run: {}\n"
      "command:\n  grace: 1s\n  cmd: {}\n",
      name, hosts * 8, base::ShellQuote(kSetup), base::ShellQuote(command));
}

/// What one thing took: of whoever did it, and of the simulator on the other side.
struct Took {
  bench::Samples own = {};
  bench::Samples simulator = {};
};

struct Measured {
  Took job = {};                                           ///< create to SUCCEEDED
  bench::Samples command = {};                             ///< the CLI's part of it
  bench::Samples controller = {};                          ///< the controller's part of it
  std::map<std::string, std::vector<double>> states = {};  ///< how long it was in each, ms
  Took by_hand = {};
  Took by_hand_p256 = {};
  std::vector<double> cancel_ms = {};
};

/// Runs `argv` and adds what it, the controller and the simulator took.
bench::Cost TakeAll(const Place& place, const Words& argv, double& controller_ms, double& sim_ms) {
  const double controller = bench::CpuMsOf(place.controller());
  const double simulator = bench::TreeCpuMs(place.simulator());
  const bench::Cost cost = place.Take(argv);
  controller_ms = bench::CpuMsOf(place.controller()) - controller;
  sim_ms = bench::TreeCpuMs(place.simulator()) - simulator;
  return cost;
}

/// How long the job was in each state, by its journal.
void AddStates(const Place& place, const std::string& job, Measured& measured) {
  const base::Json history = place.Ask({"history", job});
  std::string state;
  base::TimePoint since = {};
  for (const base::Json& event : history["events"]) {
    if (base::GetString(event, "kind") != "state") continue;
    const auto at = base::ParseRfc3339(base::GetString(event, "at"));
    if (!at.ok()) continue;
    if (!state.empty())
      measured.states[state].push_back(static_cast<double>((*at - since).count()));
    state = base::GetString(event, "subject");
    since = *at;
  }
}

void MeasureJob(const Place& place, const std::string& name, const std::string& file,
                Measured& measured) {
  double controller_ms = 0;
  double sim_ms = 0;
  const auto cost = TakeAll(place, place.Jobman({"create", file, "--follow", "--name", name}),
                            controller_ms, sim_ms);
  measured.command.Add(cost);
  measured.controller.Add({.cpu_ms = controller_ms});
  measured.job.own.Add({.wall_ms = cost.wall_ms, .cpu_ms = cost.cpu_ms + controller_ms});
  measured.job.simulator.Add({.cpu_ms = sim_ms});
  AddStates(place, name, measured);
}

/// One client per host and step, all hosts at once, as people do it with a loop in the shell.
std::string ByHand(const Place& place, const std::string& job, const std::string& more) {
  const bench::Hosts hosts = bench::HostsOf(place, job);
  std::string script = "set -e\n";
  for (const char* step : {kSetup, kCommand})
    script += fmt::format(
        "all=\nfor host in {}; do {} {} $host {} & all=\"$all $!\"; done\n"
        "for one in $all; do wait $one; done\n",
        base::Join(hosts.addresses, " "), hosts.client, more, base::ShellQuote(step));
  return place.Write("by_hand.sh", script);
}

void MeasureByHand(const Place& place, const std::string& job, const std::string& more,
                   Took& by_hand) {
  const std::string script = ByHand(place, job, more);
  double controller_ms = 0;
  double sim_ms = 0;
  by_hand.own.Add(TakeAll(place, {"sh", script}, controller_ms, sim_ms));
  by_hand.simulator.Add({.cpu_ms = sim_ms});
}

void MeasureCancel(const Place& place, int rounds, int hosts, Measured& measured) {
  const std::string file = place.Write("stubborn.yaml", JobFile("stubborn", hosts, kStubborn));
  place.Take(place.Jobman({"create", file}));
  for (int round = 0; round < rounds; ++round) {
    if (round > 0) place.Take(place.Jobman({"resume", "stubborn"}));
    bench::Await("the command to run on every host",
                 [&] { return bench::IsUpEverywhere(place, "stubborn"); });
    measured.cancel_ms.push_back(
        place.Take(place.Jobman({"cancel", "stubborn", "--wait"})).wall_ms);
  }
}

std::string Ms(double ms) {
  return fmt::format("{:.0f}", ms);
}

std::string Verdict(double value, double target, const char* what) {
  return fmt::format("{} {:.0f} ms: {}", what, target, value <= target ? "met" : "MISSED");
}

void AddByHand(ui::Table& table, const char* what, const Took& took) {
  table.AddRow({what, Ms(took.own.Wall(kMedian)), Ms(took.own.Cpu(kMedian)),
                Ms(took.simulator.Cpu(kMedian))});
}

void PrintJob(const Measured& measured) {
  const double wall = measured.job.own.Wall(kMedian);
  const double cpu = measured.job.own.Cpu(kMedian);
  ui::Table table({{.header = "WHAT"},
                   {.header = "WALL ms", .right = true},
                   {.header = "CPU ms", .right = true},
                   {.header = "SIMULATOR'S CPU ms", .right = true},
                   {.header = "TARGET"}});
  table.AddRow({"jobman: create to SUCCEEDED", Ms(wall), Ms(cpu),
                Ms(measured.job.simulator.Cpu(kMedian)), Verdict(wall, kMostWallMs, "wall")});
  table.AddRow({"  of it the command", "", Ms(measured.command.Cpu(kMedian)), "",
                Verdict(cpu, kMostCpuMs, "CPU")});
  table.AddRow({"  of it the controller", "", Ms(measured.controller.Cpu(kMedian))});
  for (const char* state : {"REQUESTING", "WAITING", "PROVISIONING", "SETUP", "RUNNING"}) {
    const auto found = measured.states.find(state);
    if (found == measured.states.end()) continue;
    table.AddRow({fmt::format("  in {}", state), Ms(bench::Quantile(found->second, kMedian))});
  }
  AddByHand(table, "by hand: ssh to all, setup, then command", measured.by_hand);
  AddByHand(table, "  the same, KexAlgorithms=ecdh-sha2-nistp256", measured.by_hand_p256);
  fmt::print("{}", table.Render({}));
}

double MedianIn(const Measured& measured, const std::string& state) {
  const auto found = measured.states.find(state);
  return found == measured.states.end() ? 0 : bench::Quantile(found->second, kMedian);
}

void PrintRatios(const Measured& measured) {
  const double wall = MedianIn(measured, "SETUP") + MedianIn(measured, "RUNNING");
  const double cpu = measured.job.own.Cpu(kMedian);
  for (const Took* took : {&measured.by_hand, &measured.by_hand_p256})
    fmt::print(
        "ratio to by hand{}: {:.2f} of the wall time (SETUP and RUNNING), {:.2f} of the CPU\n",
        took == &measured.by_hand ? "" : " with P-256", wall / took->own.Wall(kMedian),
        cpu / took->own.Cpu(kMedian));
}

void PrintCancel(const Measured& measured) {
  const double worst = bench::Quantile(measured.cancel_ms, 1);
  fmt::print(
      "cancel --wait of a command that ignores TERM, {:.0f} ms of grace: median {:.0f} ms, "
      "worst {:.0f} ms; {}\n",
      kGraceMs, bench::Quantile(measured.cancel_ms, kMedian), worst,
      Verdict(worst, kGraceMs + kMostOverGraceMs, "worst"));
}

void Bench(int rounds, int hosts) {
  Measured measured;
  Place place({"--delays", "0"});
  place.StartController();
  const std::string file = place.Write("job.yaml", JobFile("bench", hosts, kCommand));
  for (int round = 0; round < rounds; ++round) {
    const std::string name = fmt::format("bench-{}", round);
    MeasureJob(place, name, file, measured);
    MeasureByHand(place, name, "", measured.by_hand);
    MeasureByHand(place, name, "-o KexAlgorithms=ecdh-sha2-nistp256", measured.by_hand_p256);
    place.Take(place.Jobman({"delete", name, "--wait"}));
  }
  MeasureCancel(place, rounds, hosts, measured);
  fmt::print("a job on {} simulated hosts, delays 0, medians of {} rounds\n", hosts, rounds);
  PrintJob(measured);
  PrintRatios(measured);
  PrintCancel(measured);
  fmt::print("peak memory: controller {:.1f} MB, create --follow {:.1f} MB\n",
             bench::PeakMbOf(place.controller()), measured.command.Peak());
}

}  // namespace

int main(int argc, char** argv) {
  return bench::Main("job_bench", [&] {
    Bench(bench::Argument(argc, argv, 1, 7), bench::Argument(argc, argv, 2, 16));
  });
}
