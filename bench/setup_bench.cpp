// The setup steps of sections on 16 simulated hosts: keys (ssh.identities, ssh.host_to_host), a
// bucket (gcsfuse, whose program is played by tests/support/gcsfuse.hpp) and a virtual environment,
// then a short command; once on new hosts, then again on the same. The peer, in the same run and on
// the same hosts, follows Python jobman's pattern: a process and a connection for each check, each
// step and the command on each host, all hosts at once.
//
// usage: setup_bench [ROUNDS [HOSTS]]      5 rounds of the second run, 16 hosts by default
#include <fmt/format.h>

#include <cstdio>
#include <stdexcept>

#include "bench/place.hpp"
#include "jobman/base/shell.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/ui/table.hpp"
#include "tests/support/gcsfuse.hpp"
#include "tests/support/temp_dir.hpp"

namespace {

using namespace jobman;
using bench::kMedian;
using bench::Place;
using bench::Words;

constexpr const char* kPython = "/usr/bin/python3";

/// "3.11": of this machine, which the simulated hosts share.
std::string PythonVersion() {
  FILE* const pipe = popen(
      "/usr/bin/python3 -I -c 'import ensurepip, venv, sys; print(\"%d.%d\" % "
      "sys.version_info[:2])'",
      "r");
  char line[16] = {};
  const bool read = pipe != nullptr && fgets(line, sizeof line, pipe) != nullptr;
  if (pipe != nullptr) pclose(pipe);
  if (!read) throw std::runtime_error("python3 with venv is needed (Debian: python3-venv)");
  return std::string(base::Trim(line));
}

/// A folder that the hosts share with this machine, with gcsfuse and a bucket.
class Buckets {
 public:
  Buckets() {
    const std::string why = test::WhyNoMounts();
    if (!why.empty()) throw std::runtime_error(why);
    test::InstallGcsfuse(dir_.path(), {"data"});
  }
  std::string path() const { return dir_.path().string(); }
  std::string tools() const { return path() + "/tools"; }

 private:
  test::TempDir dir_;
};

std::string JobFile(const Place& place, const Buckets& buckets, int hosts) {
  return fmt::format(
      "job: {{name: sections, env_type: venv, environment: {{PATH: '{}:/usr/bin:/bin'}}}}\ncloud: "
      "local\n"
      "tpu: {{accelerator: v4-{}, zone: us-central2-b, pricing: ondemand}}\n"
      "ssh:\n  host_to_host: true\n  identities: [{{private_key: {}, config_entry: 'Host 10.*'}}]\n"
      "venv: {{name: ours, python: \"{}\"}}\n"
      "gcsfuse: {{bucket_name: data, mount_path: ~/gcs}}\n"
      "command: {{cmd: python -c pass}}\n",
      buckets.tools(), hosts * 8, place.Write("pod_key", "a key\n"), PythonVersion());
}

/// A check on every host, and what follows where it fails.
std::string OnAllHosts(const bench::Hosts& hosts, const std::string& check,
                       const std::string& step) {
  const std::string client = hosts.client + " $host ";
  return fmt::format(
      "all=\nfor host in {}; do ({} || {}) & all=\"$all $!\"; done\n"
      "for one in $all; do wait $one; done\n",
      base::Join(hosts.addresses, " "), client + base::ShellQuote(check),
      client + base::ShellQuote(step));
}

std::string PythonsPattern(const Place& place, const Buckets& buckets, const std::string& job) {
  const bench::Hosts hosts = bench::HostsOf(place, job);
  return place.Write(
      "pattern.sh",
      "set -e\n" +
          OnAllHosts(
              hosts, "test -e ~/.ssh/their_key && grep -q Host ~/.ssh/their_config",
              "umask 077; echo a key >~/.ssh/their_key; echo Host 10.* >~/.ssh/their_config") +
          OnAllHosts(hosts, "mountpoint -q ~/their_gcs",
                     "mkdir -p ~/their_gcs && " + buckets.tools() + "/gcsfuse data ~/their_gcs") +
          OnAllHosts(hosts, "test -e ~/theirs/bin/activate",
                     // Without the internet pip's retries would be most of the time.
                     std::string(kPython) +
                         " -m venv ~/theirs && { ~/theirs/bin/pip install -q --retries 0 "
                         "--upgrade pip || true; }") +
          OnAllHosts(hosts, ". ~/theirs/bin/activate && python -c pass", "false"));
}

struct Took {
  bench::Samples first = {};
  bench::Samples second = {};
};

/// The command line, the controller, or the clients of the peer; not the hosts.
bench::Cost Take(const Place& place, const Words& argv) {
  const double before = bench::CpuMsOf(place.controller());
  bench::Cost cost = place.Take(argv);
  cost.cpu_ms += bench::CpuMsOf(place.controller()) - before;
  return cost;
}

void Print(const Took& ours, const Took& theirs) {
  ui::Table table({{.header = "WHAT"},
                   {.header = "WALL ms", .right = true},
                   {.header = "CLIENT'S CPU ms", .right = true}});
  const auto add = [&](const char* what, const bench::Samples& samples) {
    table.AddRow({what, fmt::format("{:.0f}", samples.Wall(kMedian)),
                  fmt::format("{:.0f}", samples.Cpu(kMedian))});
  };
  add("jobman, new hosts (with the request of the slice)", ours.first);
  add("Python's pattern, new hosts", theirs.first);
  add("jobman, again", ours.second);
  add("Python's pattern, again", theirs.second);
  fmt::print("{}", table.Render({}));
  const auto ratio = [](const char* what, const bench::Samples& a, const bench::Samples& b) {
    fmt::print("ratio to Python's pattern, {}: {:.2f} of the wall time, {:.2f} of the CPU\n", what,
               a.Wall(kMedian) / b.Wall(kMedian), a.Cpu(kMedian) / b.Cpu(kMedian));
  };
  ratio("new hosts", ours.first, theirs.first);
  ratio("again", ours.second, theirs.second);
}

void Bench(int rounds, int hosts) {
  const Buckets buckets;
  Place place({"--delays", "0", "--fuse", "--share", buckets.path()});
  place.StartController();
  const std::string file = place.Write("job.yaml", JobFile(place, buckets, hosts));
  Took ours, theirs;
  ours.first.Add(Take(place, place.Jobman({"run", file})));
  const Words pattern = {"sh", PythonsPattern(place, buckets, "sections")};
  theirs.first.Add(Take(place, pattern));
  for (int round = 0; round < rounds; ++round) {
    ours.second.Add(Take(place, place.Jobman({"run", "sections"})));
    theirs.second.Add(Take(place, pattern));
  }
  fmt::print(
      "{} simulated hosts: keys, a bucket and a virtual environment; the second run {} times\n",
      hosts, rounds);
  Print(ours, theirs);
}

}  // namespace

int main(int argc, char** argv) {
  return bench::Main("setup_bench", [&] {
    Bench(bench::Argument(argc, argv, 1, 5), bench::Argument(argc, argv, 2, 16));
  });
}
