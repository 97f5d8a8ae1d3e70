// What a connection costs the client: CPU time for each host from TCP connect to exit status, for
// jobman's ssh module and for the OpenSSH client, run once for each host. Starts an OpenSSH server
// on loopback.
//
//   ssh_bench [HOSTS]      32 by default; each host is a login of its own on the one server
//
// The server's CPU is not counted. The peer is /usr/bin/ssh, as `pdsh` and gcloud use it.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>

#include "jobman/base/strings.hpp"
#include "jobman/ssh/fan_out.hpp"
#include "jobman/ssh/file_limit.hpp"
#include "jobman/ssh/host_shell.hpp"
#include "jobman/ssh/openssh.hpp"
#include "tests/support/memory_host_keys.hpp"
#include "tests/unit/ssh/test_sshd.hpp"

namespace {

using namespace jobman;

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

double CpuOf(const rusage& usage) {
  return Seconds(usage.ru_utime) + Seconds(usage.ru_stime);
}

double OwnCpu() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return CpuOf(usage);
}

struct Cost {
  double cpu_ms = 0;   ///< of the client, per host
  double wall_ms = 0;  ///< for all hosts
};

template <class Body>
double WallMs(Body body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

/// Every host has an identity of its own, hence a connection of its own.
std::vector<ssh::FanOutHost> Hosts(const ssh::TestSshd& sshd, int count) {
  std::vector<ssh::FanOutHost> hosts;
  for (int i = 0; i < count; ++i) {
    auto target = sshd.Target();
    target.identity = fmt::format("bench/{}", i);
    hosts.push_back({.host = i, .target = target});
  }
  return hosts;
}

Cost MeasureOurs(const ssh::TestSshd& sshd, test::MemoryHostKeys& known, int count) {
  asio::io_context loop;
  Cost cost;
  const double before = OwnCpu();
  std::string summary;
  {
    ssh::SshHostShell shell(loop.get_executor(), known,
                            {.connect_timeout = std::chrono::seconds{60},
                             .login_timeout = std::chrono::seconds{60},
                             .use_agent = false});
    cost.wall_ms = WallMs([&] {
      summary = base::RunTask(loop, ssh::FanOut(&shell, Hosts(sshd, count), {.command = "true"},
                                                ssh::FanOutOptions{}))
                    .Summary();
    });
  }
  cost.cpu_ms = (OwnCpu() - before) * 1000 / count;
  fmt::print("jobman:  {}\n", summary);
  return cost;
}

/// The CPU of one ssh client, and of nothing else: wait4 tells it per child.
double RunOpenSsh(const std::vector<std::string>& words) {
  std::vector<char*> argv;
  for (const auto& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const pid_t pid = fork();
  if (pid == 0) {
    execvp(argv[0], argv.data());
    _exit(127);
  }
  rusage usage = {};
  int status = 0;
  wait4(pid, &status, 0, &usage);
  if (status != 0) fmt::print("ssh: status {}\n", status);
  return CpuOf(usage);
}

Cost MeasureOpenSsh(const ssh::TestSshd& sshd, test::MemoryHostKeys& known, int count) {
  const ports::HostTarget target = Hosts(sshd, 1).front().target;
  auto words =
      ssh::OpenSshArguments(target, known.Find(target.identity), sshd.folder() / "known_hosts");
  if (!words.ok()) return {};
  words->insert(words->begin() + 1, {"-n", "-F", "/dev/null"});
  words->push_back("true");
  Cost cost;
  cost.wall_ms = WallMs([&] {
    for (int i = 0; i < count; ++i) cost.cpu_ms += RunOpenSsh(*words) * 1000 / count;
  });
  return cost;
}

}  // namespace

int main(int argc, char** argv) {
  if (const std::string why = ssh::TestSshd::Missing(); !why.empty()) {
    fmt::print("skipped: {}\n", why);
    return 0;
  }
  const int count = argc > 1 ? static_cast<int>(base::ParseNumber(argv[1]).value_or(32)) : 32;
  ssh::RaiseFileLimit();
  const ssh::TestSshd sshd;
  test::MemoryHostKeys known;
  const Cost ours = MeasureOurs(sshd, known, count);
  const Cost theirs = MeasureOpenSsh(sshd, known, count);
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  fmt::print("{:<28}{:>12}{:>14}\n", "connect + exec + exit", "CPU ms/host", "wall ms, all");
  fmt::print("{:<28}{:>12.2f}{:>14.0f}\n", "jobman", ours.cpu_ms, ours.wall_ms);
  fmt::print("{:<28}{:>12.2f}{:>14.0f}\n", "ssh, one after another", theirs.cpu_ms, theirs.wall_ms);
  fmt::print("ratio, CPU: {:.3f}   peak memory: {:.1f} MB\n", ours.cpu_ms / theirs.cpu_ms,
             static_cast<double>(usage.ru_maxrss) / 1024);
  return 0;
}
