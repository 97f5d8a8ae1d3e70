// `jobman exec` on the light hosts of one pod, beside the programs that people use for that, on the
// same hosts with the same login and the same command: pdsh, clush, parallel-ssh and OpenSSH
// clients in xargs, 64 at once, those of them that are installed; and a loop of bare libssh
// sessions (libssh_client.cpp), which is what the servers and the library need. Then without the
// controller whose connections exec uses otherwise, and once more with one host in a hundred
// resetting connections for a while, 128 places in each host's backlog, and a limit of open files
// that is too low.
//
//   exec_bench [HOSTS...]      16 64 256 1024 by default; fifteen rounds with up to 16 hosts, five
//                              with up to 256, then two
//
// All sessions are new: open ones end before each round. The client's CPU is counted (of jobman
// that of the controller, too, while the command runs), never that of the hosts, which run on the
// same processors. The pod of 1,024 takes ten minutes on two cores.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "bench/ssh_peers.hpp"
#include "jobman/ui/table.hpp"

namespace {

using namespace jobman;
using bench::AtMost;
using bench::kMedian;
using bench::Place;
using bench::Words;

constexpr double kMostCpuMs = 1.2;     ///< a host
constexpr double kMostOfPdsh = 0.25;   ///< of its wall time, at kManyHosts
constexpr double kMostOfLeast = 1.15;  ///< of the wall time of bare libssh
constexpr double kMostMb = 64;         ///< resident
constexpr int kMostThreads = 8;
constexpr int kFilesAHost = 2;
constexpr int kFilesBeside = 64;  ///< store, terminal, libraries
constexpr int kManyHosts = 1024;
constexpr int kWindow = 64;  ///< handshakes at once, as in jobman::ssh::SshOptions

constexpr const char* kSaid = "meow";
constexpr const char* kCommand = "echo meow";

/// One way to run the command on all hosts, and what it took.
struct Way {
  std::string name = {};
  Words argv = {};
  bench::Samples took = {};
  bench::Extent extent = {};
  int answered = kManyHosts * 2;  ///< in the round in which the fewest did
};

double CpuAHost(const Way& way, int hosts) {
  return way.took.Cpu(kMedian) / hosts;
}

std::vector<Way> WaysTo(const Place& place, const bench::Hosts& hosts) {
  const bench::SshFiles files = bench::WriteSshFiles(place, hosts);
  std::vector<Way> ways = {
      {.name = "jobman exec", .argv = place.Jobman({"-q", "exec", "pod", "--", kCommand})},
      {.name = "bare libssh",
       .argv = {(base::SelfExe().parent_path() / "libssh_client").string(), hosts.private_key,
                std::to_string(hosts.port), hosts.user, std::to_string(kWindow), files.addresses,
                kCommand}}};
  for (const bench::Peer& peer : bench::PeersOf(files, kCommand))
    ways.push_back({.name = peer.name, .argv = peer.argv});
  return ways;
}

/// What the controller does meanwhile is counted as the way's only if that is jobman's.
void Measure(const Place& place, Way& way, bool is_ours) {
  place.HangUp();
  const base::Path output = place.dir() / "answers";
  const double before = bench::CpuMsOf(place.controller());
  bench::Cost cost = bench::RunAnyhow(way.argv, output, is_ours ? &way.extent : nullptr);
  if (is_ours) cost.cpu_ms += bench::CpuMsOf(place.controller()) - before;
  way.took.Add(cost);
  way.answered = std::min(way.answered, bench::CountLines(output, kSaid));
}

/// One host alone: what a process takes before it connects, and what it takes to end, is in this.
Way MeasureOne(const Place& place, int rounds) {
  Way way{.name = "jobman exec, one host",
          .argv = place.Jobman({"-q", "exec", "pod", "-w", "0", "--", kCommand})};
  for (int round = 0; round < rounds; ++round) Measure(place, way, true);
  return way;
}

/// It makes the sessions itself, as without a controller.
Way MeasureAlone(const Place& place, int rounds) {
  Way way{.name = "jobman exec, no controller",
          .argv = place.Jobman({"-q", "exec", "pod", "--", kCommand})};
  for (int round = 0; round < rounds; ++round) {
    place.HangUp();
    const bench::WithoutSharedSessions alone(place);
    const base::Path output = place.dir() / "answers";
    way.took.Add(bench::RunAnyhow(way.argv, output, &way.extent));
    way.answered = std::min(way.answered, bench::CountLines(output, kSaid));
  }
  return way;
}

/// With hosts that reset connections at first, and few files allowed.
Way MeasureResets(const Place& place) {
  Way way{.name = "jobman exec, 1 % reset for 3 s"};
  way.argv = {"sh", "-c", "ulimit -Sn 128 && exec \"$@\"", "sh"};
  for (std::string& word :
       place.Jobman({"-q", "exec", "pod", "--patience", "120s", "--", kCommand}))
    way.argv.push_back(std::move(word));
  place.HangUp();
  place.Take(place.Sim({"host", "*/1%", "reset", "--for", "3s"}));
  const base::Path output = place.dir() / "answers";
  const double before = bench::CpuMsOf(place.controller());
  bench::Cost cost = bench::RunAnyhow(way.argv, output, &way.extent);
  cost.cpu_ms += bench::CpuMsOf(place.controller()) - before;
  way.took.Add(cost);
  way.answered = bench::CountLines(output, kSaid);
  place.Take(place.Sim({"calm"}));
  return way;
}

void AddRow(ui::Table& table, const Way& way, const Way& ours, int hosts) {
  const double wall = way.took.Wall(kMedian);
  const double cpu = CpuAHost(way, hosts);
  table.AddRow({way.name, fmt::format("{:.0f}", wall), fmt::format("{:.2f}", cpu),
                fmt::format("{:.1f}", way.took.Peak()), fmt::format("{}/{}", way.answered, hosts),
                fmt::format("{:.2f}", ours.took.Wall(kMedian) / wall),
                fmt::format("{:.3f}", CpuAHost(ours, hosts) / cpu)});
}

void PrintTable(const std::vector<Way>& ways, const Way& alone, const Way& resets, int hosts,
                int rounds) {
  ui::Table table({{.header = "WHAT"},
                   {.header = "WALL ms", .right = true},
                   {.header = "CPU ms/HOST", .right = true},
                   {.header = "PEAK MB", .right = true},
                   {.header = "ANSWERED", .right = true},
                   {.header = "WALL RATIO", .right = true},
                   {.header = "CPU RATIO", .right = true}});
  for (const Way& way : ways) AddRow(table, way, ways.front(), hosts);
  AddRow(table, alone, ways.front(), hosts);
  AddRow(table, resets, ways.front(), hosts);
  fmt::print("\n{} on {} light hosts, medians of {} rounds; RATIO: jobman exec to it\n{}", kCommand,
             hosts, rounds, table.Render({}));
}

const Way* Find(const std::vector<Way>& ways, const std::string& name) {
  const auto found =
      std::find_if(ways.begin(), ways.end(), [&](const Way& way) { return way.name == name; });
  return found == ways.end() ? nullptr : &*found;
}

void PrintPace(const std::vector<Way>& ways, const Way& one, int hosts) {
  const Way& ours = ways.front();
  const double wall = ours.took.Wall(kMedian);
  const double cpu = CpuAHost(ours, hosts);
  fmt::print("client CPU, the start of the process included: {:.2f} ms a host {}\n", cpu,
             AtMost(cpu, kMostCpuMs, " ms"));
  // All hosts but the first: from connect to exit status.
  const double more = (ours.took.Cpu(kMedian) - one.took.Cpu(kMedian)) / (hosts - 1);
  fmt::print("client CPU of each host more ({:.1f} ms with one): {:.2f} ms {}\n",
             one.took.Cpu(kMedian), more, AtMost(more, kMostCpuMs, " ms"));
  const double of_least = wall / Find(ways, "bare libssh")->took.Wall(kMedian);
  fmt::print("wall time to bare libssh: {:.2f} {}\n", of_least, AtMost(of_least, kMostOfLeast, ""));
  const Way* const pdsh = Find(ways, "pdsh -f 64");
  if (pdsh == nullptr) return;
  const double of_pdsh = wall / pdsh->took.Wall(kMedian);
  fmt::print("wall time to pdsh -f 64: {:.2f} {}\n", of_pdsh,
             hosts < kManyHosts ? fmt::format("(the target is for {} hosts)", kManyHosts)
                                : AtMost(of_pdsh, kMostOfPdsh, ""));
}

void PrintExtent(const char* of, const Way& way, int hosts) {
  const double resident = std::max(way.took.Peak(), way.extent.resident_mb);
  const int most_files = kFilesAHost * hosts + kFilesBeside;
  fmt::print("{}: peak memory: {:.1f} MB {}; threads: {} {}; open files: {} {}\n", of, resident,
             AtMost(resident, kMostMb, " MB"), way.extent.threads,
             AtMost(way.extent.threads, kMostThreads, ""), way.extent.files,
             AtMost(way.extent.files, most_files, ""));
}

void PrintRest(const Place& place, const Way& ours, const Way& alone, const Way& resets,
               int hosts) {
  Way shared = ours;
  shared.extent.Widen(resets.extent);
  PrintExtent("exec", shared, hosts);
  PrintExtent("exec, no controller", alone, hosts);
  const double controller_mb = bench::PeakMbOf(place.controller());
  fmt::print("peak memory of the controller: {:.1f} MB {}\n", controller_mb,
             AtMost(controller_mb, kMostMb, " MB"));
  const int silent = hosts - std::min({ours.answered, alone.answered, resets.answered});
  fmt::print("hosts that did not answer, also with resets and a backlog of 128: {} {}\n", silent,
             AtMost(silent, 0, ""));
}

/// A job that has succeeded and holds its slice.
void StartPod(const Place& place, int hosts) {
  const std::string file = place.Write("pod.yaml", fmt::format("job: {{name: pod}}\ncloud: local\n"
                                                               "tpu: {{accelerator: v5p-{}, "
                                                               "zone: us-central1-a}}\n"
                                                               "command: {{cmd: 'true'}}\n",
                                                               8 * hosts));
  place.Take(place.Jobman({"run", file}));
}

void Bench(int hosts) {
  Place place({"--delays", "0", "--light", "--backlog", "128"});
  place.StartController();
  StartPod(place, hosts);
  std::vector<Way> ways = WaysTo(place, bench::HostsOf(place, "pod"));
  const int rounds = hosts > 256 ? 2 : hosts > 16 ? 5 : 15;
  // Round by round, so that a busy moment of the machine affects all ways alike.
  for (int round = 0; round < rounds; ++round)
    for (Way& way : ways) Measure(place, way, &way == &ways.front());
  const Way one = MeasureOne(place, rounds);
  const Way alone = MeasureAlone(place, rounds);
  const Way resets = MeasureResets(place);
  PrintTable(ways, alone, resets, hosts, rounds);
  PrintPace(ways, one, hosts);
  PrintRest(place, ways.front(), alone, resets, hosts);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::Main("exec_bench", [&] {
    std::vector<int> sizes;
    for (int i = 1; i < argc; ++i) sizes.push_back(bench::Argument(argc, argv, i, 16));
    if (sizes.empty()) sizes = {16, 64, 256, kManyHosts};
    for (const int hosts : sizes) Bench(hosts);
  });
}
