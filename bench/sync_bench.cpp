// A folder of 2,000 files and 50 MB brought to N simulated hosts, and then once more with nothing
// changed, and with one file changed: `jobman sync` beside rsync in xargs -P, over the same sshd,
// in the same run; and the first time to N hosts that may give it to each other (ssh.host_to_host).
// Wall time, CPU of the clients, and bytes over the uplink.
//
// usage: sync_bench [ROUNDS [HOSTS [PARALLEL]]]      3 rounds, 16 hosts, 16 rsyncs at once by
// default; needs 170 MB of disk for each host and round
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <random>
#include <stdexcept>

#include "bench/place.hpp"
#include "jobman/base/shell.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/ui/table.hpp"

namespace {

using namespace jobman;
using bench::kMedian;
using bench::Place;
using bench::Words;

constexpr int kFiles = 2000;
constexpr std::size_t kBytes = std::size_t{50} << 20;
/// Of rsync's wall time.
constexpr double kMostFirst = 1;
constexpr double kMostUnchanged = 0.2;

/// Files of 0 to 50 KiB in 40 folders, which do not compress.
std::string MakeTree(const base::Path& root) {
  std::minstd_rand random(7);
  for (int i = 0; i < kFiles; ++i) {
    const base::Path folder = root / fmt::format("part-{:02}/deep", i % 40);
    std::filesystem::create_directories(folder);
    std::string text(2 * kBytes / kFiles * static_cast<std::size_t>(i) / kFiles, '\0');
    for (char& byte : text) byte = static_cast<char>(random() >> 8U);
    const auto written = base::WriteFileAtomic(folder / fmt::format("file-{:04}", i), text, 0644);
    if (!written.ok()) throw std::runtime_error(written.error().ToString());
  }
  return root.string();
}

/// What one of the two took, and how much it sent, in one round each.
struct Took {
  bench::Samples samples = {};
  std::vector<double> sent = {};
};
struct Side {
  Took first = {};
  Took second = {};
  Took one = {};
  Took relayed = {};  ///< the first time, from host to host
};

class Peers {
 public:
  Peers(const Place& place, std::string tree, int parallel)
      : place_(place),
        tree_(std::move(tree)),
        parallel_(parallel),
        hosts_(bench::HostsOf(place, "sync")) {
    // rsync speaks to it over its standard input.
    hosts_.client = base::ReplaceAll(hosts_.client, "ssh -n ", "ssh ");
  }
  void Jobman(const std::string& target, Took& took) const {
    took.samples.Add(Take(place_.Jobman({"--json", "sync", tree_, target})));
    const auto json = base::ParseJson(Output());
    if (!json.ok()) throw std::runtime_error("jobman sync printed no JSON");
    took.sent.push_back(static_cast<double>(base::GetInt(*json, "bytes")));
  }
  void Rsync(const std::string& to, Took& took) const {
    const std::string script = fmt::format(
        "printf '%s\\n' {} | xargs -P {} -I '{{}}' rsync -a --stats -e {} {}/ '{{}}:{}'",
        base::Join(hosts_.addresses, " "), parallel_, base::ShellQuote(hosts_.client),
        base::ShellQuote(tree_), to);
    took.samples.Add(Take({"sh", "-c", script}));
    took.sent.push_back(static_cast<double>(SentByRsync()));
  }

 private:
  /// The disk has written what the one before left to it, so that this one does not wait for that.
  bench::Cost Take(const Words& argv) const {
    ::sync();
    return place_.Take(argv);
  }
  std::string Output() const {
    return base::ReadFile(place_.home().parent_path() / "output").value_or("");
  }
  /// "Total bytes sent: 52,123,456", once for each host.
  std::int64_t SentByRsync() const {
    std::int64_t sum = 0;
    for (const std::string& line : base::Split(Output(), '\n')) {
      constexpr std::string_view kSent = "Total bytes sent: ";
      if (!line.starts_with(kSent)) continue;
      sum += base::ParseNumber(base::ReplaceAll(line.substr(kSent.size()), ",", "")).value_or(0);
    }
    return sum;
  }
  const Place& place_;
  std::string tree_;
  int parallel_;
  bench::Hosts hosts_;
};

std::string Megabytes(const Took& took) {
  return fmt::format("{:.2f}", bench::Quantile(took.sent, kMedian) / 1e6);
}

void Print(const Side& ours, const Side& theirs, bool compared) {
  ui::Table table({{.header = "WHAT"},
                   {.header = "WALL ms", .right = true},
                   {.header = "CLIENT'S CPU ms", .right = true},
                   {.header = "UPLINK MB", .right = true}});
  const auto add = [&](const std::string& what, const Took& took) {
    if (took.samples.empty()) return;
    table.AddRow({what, fmt::format("{:.0f}", took.samples.Wall(kMedian)),
                  fmt::format("{:.0f}", took.samples.Cpu(kMedian)), Megabytes(took)});
  };
  add("jobman, first", ours.first);
  add("jobman, first, from host to host", ours.relayed);
  add("rsync, first", theirs.first);
  add("jobman, nothing changed", ours.second);
  add("rsync, nothing changed", theirs.second);
  add("jobman, one file changed", ours.one);
  add("rsync, one file changed", theirs.one);
  fmt::print("{}", table.Render({}));
  if (!compared) return;
  const auto ratio = [](const char* what, const Took& a, const Took& b) {
    fmt::print(
        "ratio to rsync, {}: {:.2f} of the wall time, {:.2f} of the CPU, {:.2f} of the bytes\n",
        what, a.samples.Wall(kMedian) / b.samples.Wall(kMedian),
        a.samples.Cpu(kMedian) / b.samples.Cpu(kMedian),
        bench::Quantile(a.sent, kMedian) / bench::Quantile(b.sent, kMedian));
  };
  ratio("first", ours.first, theirs.first);
  ratio("first, from host to host", ours.relayed, theirs.first);
  ratio("nothing changed", ours.second, theirs.second);
  ratio("one file changed", ours.one, theirs.one);
  const auto judge = [](const char* what, const Took& a, const Took& b, double most) {
    const double of = a.samples.Wall(kMedian) / b.samples.Wall(kMedian);
    fmt::print("wall time to rsync, {}: {:.2f} {}\n", what, of, bench::AtMost(of, most, ""));
  };
  judge("first", ours.first, theirs.first, kMostFirst);
  judge("nothing changed", ours.second, theirs.second, kMostUnchanged);
}

void Bench(int rounds, int hosts, int parallel) {
  Place place({"--delays", "0"});
  place.StartController();
  for (const char* job : {"sync", "relay"}) {
    const std::string file = place.Write(
        "job.yaml",
        fmt::format("job: {{name: {}}}\ncloud: local\n"
                    "tpu: {{accelerator: v4-{}, zone: us-central2-b, pricing: ondemand}}\n"
                    "ssh: {{host_to_host: {}}}\ncommand: {{cmd: 'true'}}\n",
                    job, hosts * 8, std::string_view(job) == "relay"));
    place.Take(place.Jobman({"run", file}));
  }
  const base::Path tree = place.home().parent_path() / "tree";
  const Peers peers(place, MakeTree(tree), parallel);
  const bool compared = bench::Works({"rsync", "--version"});
  if (!compared) fmt::print("rsync is not installed (Debian: rsync): nothing to compare with\n");
  Side ours, theirs;
  for (int round = 0; round < rounds; ++round) {
    // Nothing is removed between rounds: ext4 passes over the inodes of removed files for minutes,
    // at the cost of who makes files next.
    const std::string ours_to = fmt::format("ours-{}", round);
    const std::string theirs_to = fmt::format("theirs-{}", round);
    peers.Jobman("sync:" + ours_to, ours.first);
    peers.Jobman("relay:" + ours_to, ours.relayed);
    if (compared) peers.Rsync(theirs_to, theirs.first);
    peers.Jobman("sync:" + ours_to, ours.second);
    if (compared) peers.Rsync(theirs_to, theirs.second);
    place.Write("tree/part-00/deep/file-0000", fmt::format("changed in round {}\n", round));
    peers.Jobman("sync:" + ours_to, ours.one);
    if (compared) peers.Rsync(theirs_to, theirs.one);
  }
  fmt::print("{} simulated hosts, {} files, {} MB, {} rounds; rsync with xargs -P {}\n", hosts,
             kFiles, kBytes >> 20U, rounds, parallel);
  Print(ours, theirs, compared);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::Main("sync_bench", [&] {
    Bench(bench::Argument(argc, argv, 1, 3), bench::Argument(argc, argv, 2, 16),
          bench::Argument(argc, argv, 3, 16));
  });
}
