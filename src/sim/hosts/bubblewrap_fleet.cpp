#include "sim/hosts/bubblewrap_fleet.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "jobman/base/handle.hpp"
#include "jobman/base/process.hpp"
#include "jobman/base/strings.hpp"
#include "sim/hosts/fuse.hpp"
#include "sim/hosts/processes.hpp"
#include "sim/hosts/sandbox.hpp"

namespace jobman::sim {

namespace {

constexpr const char* kInside =
    "/run/jobman-sim";  ///< etc/ of a host's disk, as seen inside the sandbox
constexpr auto kProbeLimit = std::chrono::seconds(30);
constexpr auto kEndLimit = std::chrono::seconds(30);  ///< SIGKILL takes milliseconds

/// The init of a host: the startup script in the background, as on a real VM, then sshd.
constexpr const char* kBoot =
    "cd /\n"
    "s=/run/jobman-sim/startup-script\n"
    "if [ -s $s ]; then\n"
    "  case \"$(head -c 2 $s)\" in\n"
    "  '#!') $s ;;\n"
    "  *) sh $s ;;\n"
    "  esac >/run/jobman-sim/state/startup.log 2>&1 </dev/null &\n"
    "fi\n"
    "exec \"$0\" -D -f /run/jobman-sim/sshd_config -E /run/jobman-sim/state/sshd.log\n";

constexpr const char* kProgramPath = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";
/// For a docker client that lies elsewhere: a folder that no sandbox has of this machine, and in
/// which jobman looks for docker.
constexpr const char* kClientInside = "/snap/bin/docker";

/// The files of /etc that a host has of its own: names of the host and of its users only.
constexpr const char* kOwnFiles[] = {"passwd", "group", "hosts", "hostname", "nsswitch.conf"};

}  // namespace

base::Status TryBubblewrap() {
  const base::Path bwrap = FindProgram("bwrap");
  if (bwrap.empty()) return base::NotFound("bubblewrap (bwrap) is not installed");
  std::vector<std::string> words = SandboxWords(bwrap);
  const std::vector<std::string> seal = SandboxSeal();
  words.insert(words.end(), seal.begin(), seal.end());
  words.insert(words.end(), {"--hostname", "probe", "/bin/sh", "-c",
                             "test -r /proc/self/status && test -x \"$0\"", FindProgram("sshd")});
  asio::io_context loop;
  JM_ASSIGN_OR_RETURN(const auto ended,
                      base::RunTask(loop, base::WithTimeout(base::RunProcess(std::move(words)),
                                                            kProbeLimit, "bubblewrap")));
  if (ended.exit_code == 0) return base::Ok();
  return base::Error{
      .code = base::Code::kFailedPrecondition,
      .message = "bubblewrap makes no sandbox here: " + std::string(base::Trim(ended.err))};
}

BubblewrapFleet::BubblewrapFleet(FleetOptions options, Report report)
    : LocalFleet(std::move(options), std::move(report)),
      bwrap_(FindProgram("bwrap")),
      sshd_(FindProgram("sshd")) {
  StartThread();
}

BubblewrapFleet::~BubblewrapFleet() {
  Shutdown();
  Join();
}

HostDisk BubblewrapFleet::DiskOf(const std::string& name) const {
  HostDisk::Layout layout{.root = HostDir(name),
                          .homes = options().homes,
                          .etc = kInside,
                          .state = base::Path(kInside) / "state",
                          .port = options().ssh_port,
                          .metadata_port = options().metadata_port,
                          .environment = {{"SHELL", LoginShell().string()}},
                          .extra = "Subsystem sftp internal-sftp\n"};
  // The daemon mounts folders of this machine, so a home has the same path on both sides.
  if (options().docker) layout.homes_inside = HostDisk(layout).homes();
  return HostDisk(std::move(layout));
}

std::vector<std::string> BubblewrapFleet::Command(const HostPlan& plan) const {
  const HostDisk disk = DiskOf(plan.name);
  std::vector<std::string> words = SandboxWords(bwrap_);
  const auto add = [&](std::initializer_list<std::string> more) {
    words.insert(words.end(), more.begin(), more.end());
  };
  add({"--bind", disk.homes(), "/home", "--bind", disk.tmp(), "/tmp"});
  add({"--ro-bind", disk.etc(), kInside, "--bind", disk.state(), std::string(kInside) + "/state"});
  for (const char* file : kOwnFiles) {
    add({"--ro-bind", disk.etc() / file, std::string("/etc/") + file});
  }
  add({"--ro-bind", disk.etc() / "boot_id", "/proc/sys/kernel/random/boot_id"});
  for (const base::Path& shared : options().shared) add({"--bind", shared, shared});
  const std::vector<std::string> docker = DockerWords(disk);
  words.insert(words.end(), docker.begin(), docker.end());
  // What a host mounts is in a table of its own: that of the sandbox belongs to bubblewrap's outer
  // user namespace, in which a host has no rights.
  if (options().fuse) add({"--dev-bind", kFuseDevice, kFuseDevice, "--cap-add", "CAP_SYS_ADMIN"});
  const std::vector<std::string> seal = SandboxSeal();
  words.insert(words.end(), seal.begin(), seal.end());
  add({"--hostname", plan.name, "--chdir", "/", "--clearenv"});
  add({"--setenv", "PATH", kProgramPath});
  add({"--setenv", "HOME", "/home", "--setenv", "LANG", "C.UTF-8"});
  for (const auto& [name, value] : disk.EnvironmentOf(plan)) add({"--setenv", name, value});
  if (options().fuse) add({"unshare", "--mount"});
  add({"/bin/sh", "-c", kBoot, sshd_});
  return words;
}

std::vector<std::string> BubblewrapFleet::DockerWords(const HostDisk& disk) const {
  if (!options().docker) return {};
  const Docker& docker = *options().docker;
  std::vector<std::string> words = {"--bind", docker.socket, "/run/docker.sock",
                                    "--bind", disk.homes(),  disk.homes()};
  const auto folders = base::Split(kProgramPath, ':');
  const std::string folder = docker.client.parent_path().string();
  if (std::find(folders.begin(), folders.end(), folder) == folders.end())
    words.insert(words.end(), {"--ro-bind", docker.client, kClientInside});
  return words;
}

base::Status BubblewrapFleet::WriteNames(const HostPlan& plan) const {
  const base::Path etc = DiskOf(plan.name).etc();
  JM_TRY(WriteInPlace(etc / "hostname", plan.name + "\n"));
  JM_TRY(WriteInPlace(etc / "hosts",
                      "127.0.0.1 localhost\n" + plan.internal_ip + " " + plan.name + "\n"));
  return WriteInPlace(etc / "nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n");
}

base::Status BubblewrapFleet::Launch(const HostPlan& plan) {
  AwaitEnd(plan.name);
  JM_TRY(WriteNames(plan));
  JM_TRY(base::EnsureDir(DiskOf(plan.name).etc() / "state"));  // where state/ is bound to
  // Not in state/: the host could put a link in its place.
  const base::Path log = HostDir(plan.name) / "bwrap.log";
  const base::UniqueFd err(open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  JM_ASSIGN_OR_RETURN(const pid_t pid,
                      base::StartProcess(Command(plan), {.out = err.get(), .err = err.get()}));
  running_[plan.name] = {.outer = pid};
  SetRoot(plan.name, pid);
  addresses_[plan.name] = {plan.internal_ip};
  if (!plan.external_ip.empty()) addresses_[plan.name].push_back(plan.external_ip);
  return base::Ok();
}

void BubblewrapFleet::SetRoot(const std::string& name, pid_t root) {
  const std::lock_guard lock(roots_mutex_);
  if (root == 0) {
    roots_.erase(name);
  } else {
    roots_[name] = root;
  }
}

bool BubblewrapFleet::IsOf(const std::string& name, const Peer& peer) const {
  pid_t root = 0;
  {
    const std::lock_guard lock(roots_mutex_);
    const auto found = roots_.find(name);
    if (found == roots_.end()) return false;
    root = found->second;
  }
  return peer.user == geteuid() && HaveOpen(Tree(root), peer);
}

base::Result<bool> BubblewrapFleet::IsUp(const std::string& name) {
  const HostDisk disk = DiskOf(name);
  if (disk.IsUp()) return true;
  const auto pair = running_.find(name);
  if (pair == running_.end() || base::HasEnded(pair->second.outer)) {
    running_.erase(name);
    SetRoot(name, 0);
    const auto said = base::ReadFile(HostDir(name) / "bwrap.log");
    const base::Path log = disk.state() / "sshd.log";
    std::error_code ignored;
    // The host may have put a link to any file of ours there.
    const bool own = !std::filesystem::is_symlink(log, ignored);
    return base::Internal("host " + name + " does not start: " + said.value_or("") +
                          (own ? base::ReadRegularFile(log).value_or("") : ""));
  }
  return false;
}

void BubblewrapFleet::Kill(const std::string& name) {
  const auto found = running_.find(name);
  if (found == running_.end()) return;
  Pair pair = found->second;
  running_.erase(found);
  SetRoot(name, 0);
  cut_.erase(name);
  addresses_.erase(name);
  // The outer process waits for the inner one and reaps it, so the inner one is killed.
  const std::vector<pid_t> children = Children(pair.outer);
  if (!children.empty()) pair.inner = children.front();
  kill(pair.inner > 0 ? pair.inner : pair.outer, SIGKILL);
  dying_.emplace(name, pair);
}

void BubblewrapFleet::Relink(const std::string& name, Link link) {
  const auto found = running_.find(name);
  if (found == running_.end()) return;
  const pid_t host = found->second.outer;
  // A login that was cut off at its start may have become a shell after it was listed.
  std::vector<pid_t> servers = link == Link::kMended ? Tree(host) : SshServers(host);
  if (link == Link::kBroken && !servers.empty()) servers.erase(servers.begin());  // the listener
  const int signal = link == Link::kCut ? SIGSTOP : (link == Link::kMended ? SIGCONT : SIGKILL);
  if (link == Link::kMended) cut_.erase(name);
  for (const pid_t server : servers) kill(server, signal);
  if (link == Link::kCut) cut_[name] = FillBacklog(addresses_[name], options().ssh_port);
}

bool BubblewrapFleet::IsGone(Pair& pair) {
  if (pair.outer > 0 && !base::HasEnded(pair.outer)) return false;
  pair.outer = 0;
  return pair.inner == 0 || !IsAlive(pair.inner);
}

void BubblewrapFleet::AwaitEnd(const std::string& name) {
  const auto deadline = std::chrono::steady_clock::now() + kEndLimit;
  while (dying_.contains(name) && std::chrono::steady_clock::now() < deadline) {
    Tend();
    if (dying_.contains(name)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

bool BubblewrapFleet::Tend() {
  for (auto pair = dying_.begin(); pair != dying_.end();) {
    pair = IsGone(pair->second) ? dying_.erase(pair) : std::next(pair);
  }
  return !dying_.empty();
}

std::vector<std::string> BubblewrapFleet::Shutdown() {
  std::vector<std::string> left;
  PostAndWait([&] {
    while (!running_.empty()) Kill(std::string(running_.begin()->first));
    const auto names = dying_;
    for (const auto& [name, pair] : names) AwaitEnd(name);
    for (const auto& [name, pair] : dying_) {
      left.push_back(fmt::format("{} (process {})", name, pair.inner));
    }
    EndContainersIn(HostsDir());
  });
  return left;
}

}  // namespace jobman::sim
