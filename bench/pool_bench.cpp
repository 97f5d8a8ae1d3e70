// What a command on the hosts costs with the controller's connections, beside one that logs in to
// each host: wall time and CPU of whole `jobman exec` processes, and the controller's CPU.
//
//   pool_bench [HOSTS [ROUNDS]]      32 hosts, 9 rounds by default; above 256 hosts light ones
//
// Both kinds in turn, so that a busy moment of the machine affects them alike. The simulated hosts
// and their sshd run on this machine, which counts for both in wall time.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "bench/place.hpp"
#include "jobman/ui/table.hpp"

namespace {

using namespace jobman;
using bench::kMedian;

constexpr double kMostRatio = 0.2;
constexpr int kMostFull = 256;    ///< hosts; more are light ones
constexpr int kCoresPerHost = 8;  // of v5p

struct Kind {
  std::string what = {};
  bench::Samples exec = {};
  std::vector<double> controller_ms = {};

  void Measure(const bench::Place& place, const bench::Words& argv) {
    const double before = bench::CpuMsOf(place.controller());
    exec.Add(place.Take(argv));
    controller_ms.push_back(bench::CpuMsOf(place.controller()) - before);
  }
  double CpuMs() const { return exec.Cpu(kMedian) + bench::Quantile(controller_ms, kMedian); }
};

void MakeJob(const bench::Place& place, int hosts) {
  const std::string file =
      place.Write("job.yaml", fmt::format("job: {{name: pool}}\ncloud: local\n"
                                          "tpu: {{accelerator: v5p-{}, zone: us-central1-a}}\n"
                                          "command: {{cmd: 'true'}}\n",
                                          hosts * kCoresPerHost));
  place.Take(place.Jobman({"run", file}));
}

void Bench(int hosts, int rounds) {
  const bool light = hosts > kMostFull;
  bench::Place place(light ? bench::Words{"--delays", "0", "--light"}
                           : bench::Words{"--delays", "0"});
  place.StartController();
  MakeJob(place, hosts);
  const bench::Words argv = place.Jobman({"exec", "pool", "-q", "--", "true"});
  place.Take(argv);  // the first of these opens what is missing
  Kind own{.what = "own connections"}, shared{.what = "the controller's"};
  for (int round = 0; round < rounds; ++round) {
    shared.Measure(place, argv);
    const bench::WithoutSharedSessions alone(place);
    own.Measure(place, argv);
  }
  ui::Table table({{.header = "EXEC WITH"},
                   {.header = "WALL ms", .right = true},
                   {.header = "CLIENT CPU ms", .right = true},
                   {.header = "WITH CONTROLLER", .right = true},
                   {.header = "CPU ms/HOST", .right = true}});
  for (const Kind* kind : {&own, &shared}) {
    table.AddRow({kind->what, fmt::format("{:.1f}", kind->exec.Wall(kMedian)),
                  fmt::format("{:.1f}", kind->exec.Cpu(kMedian)),
                  fmt::format("{:.1f}", kind->CpuMs()),
                  fmt::format("{:.2f}", kind->CpuMs() / hosts)});
  }
  fmt::print("exec of `true` on {} {}hosts, {} rounds\n{}", hosts, light ? "light " : "", rounds,
             table.Render({}));
  const double ratio = shared.exec.Wall(kMedian) / own.exec.Wall(kMedian);
  fmt::print(
      "ratio, wall: {:.3f} ({:.2f}: {})   CPU: {:.3f}   memory of the controller: {:.1f} MB\n",
      ratio, kMostRatio, ratio <= kMostRatio ? "met" : "MISSED", shared.CpuMs() / own.CpuMs(),
      bench::PeakMbOf(place.controller()));
}

}  // namespace

int main(int argc, char** argv) {
  const int hosts = bench::Argument(argc, argv, 1, 32);
  const int rounds = bench::Argument(argc, argv, 2, 9);
  return bench::Main("pool_bench", [&] { Bench(hosts, rounds); });
}
