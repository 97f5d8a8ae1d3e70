#include "sim/hosts/host_server.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <thread>
#include <utility>

#include "jobman/base/log.hpp"
#include "jobman/base/process.hpp"
#include "jobman/base/strings.hpp"
#include "sim/hosts/fault_front.hpp"
#include "sim/hosts/processes.hpp"
#include "sim/wire/tcp_port.hpp"

namespace jobman::sim {

namespace {

constexpr std::size_t kMostMute = 64;  ///< of a host; further ones end the oldest
constexpr int kReapEveryMs = 200;
constexpr int kKillRounds = 400;  ///< of 5 ms

base::Result<base::UniqueFd> Listen(const std::string& address, int port, int backlog) {
  base::UniqueFd fd = BindTcp(address, port, OldConnections::kDoNotMatter);
  if (!fd || listen(fd.get(), backlog) != 0) {
    return base::FromErrno(errno, "listening on " + address);
  }
  return fd;
}

/// Processes whose environment marks them as belonging to a host with one of these folders,
/// whatever their current parent. One pass over all processes for any number of hosts. The folder,
/// not the name: another simulator on this machine may have a host of the same name.
std::vector<pid_t> Marked(const std::set<std::string>& folders) {
  constexpr std::string_view kMark = "JOBMAN_SIM_HOST_DIR=";
  std::vector<pid_t> marked;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const auto pid = base::ParseNumber(entry.path().filename().string());
    if (!pid) continue;
    const auto environment = base::ReadFile(entry.path() / "environ");
    if (!environment.ok()) continue;
    for (const std::string& variable : base::Split(*environment, '\0')) {
      if (variable.starts_with(kMark) && folders.contains(variable.substr(kMark.size())))
        marked.push_back(static_cast<pid_t>(*pid));
    }
  }
  return marked;
}

void Pause() {
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

}  // namespace

HostServer::HostServer(base::Path dir, int port, int backlog)
    : dir_(std::move(dir)), port_(port), backlog_(backlog), sshd_(FindProgram("sshd")) {}

int HostServer::Run() {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  signal(SIGPIPE, SIG_IGN);
  // The simulator decides when to end.
  for (const int stop : {SIGINT, SIGHUP, SIGTERM}) signal(stop, SIG_IGN);
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  if (geteuid() == 0) mkdir("/run/sshd", 0755);  // sshd as root does not start without it

  bool open = true;
  while (open) {
    std::vector<pollfd> polled = {{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0}};
    std::vector<std::string> names = {""};
    for (const auto& [name, host] : hosts_) {
      if (host.cut) continue;
      for (const base::UniqueFd& listener : host.listeners) {
        polled.push_back({.fd = listener.get(), .events = POLLIN, .revents = 0});
        names.push_back(name);
      }
    }
    poll(polled.data(), polled.size(), kReapEveryMs);
    for (std::size_t i = 1; i < polled.size(); ++i) {
      if ((polled[i].revents & POLLIN) != 0) Accept(names[i], polled[i].fd);
    }
    Reap();
    if (polled[0].revents != 0) open = ReadCommands();
  }
  return KillEverything() ? 0 : 1;
}

bool HostServer::ReadCommands() {
  char buffer[64 * 1024];
  const ssize_t n = read(STDIN_FILENO, buffer, sizeof buffer);
  if (n <= 0) return false;
  unread_.append(buffer, static_cast<std::size_t>(n));
  std::set<std::string> off;  // collected, since a whole slice ends at once
  for (auto end = unread_.find('\n'); end != std::string::npos; end = unread_.find('\n')) {
    std::vector<std::string> words = base::Split(unread_.substr(0, end), ' ');
    unread_.erase(0, end + 1);
    std::erase(words, "");
    if (words.size() < 2) continue;
    if (words[0] == "off") {
      off.insert(words[1]);
      continue;
    }
    SwitchOff(std::exchange(off, {}));
    if (words[0] == "fault") {
      SetFault(words[1], words);
      continue;
    }
    if (words[0] != "on") {
      Relink(words[1], words[0]);
      continue;
    }
    const std::string answer =
        words[1] + " " + SwitchOn(words[1], {words.begin() + 2, words.end()}) + "\n";
    if (write(STDOUT_FILENO, answer.data(), answer.size()) < 0) return false;  // nobody reads it
  }
  SwitchOff(std::move(off));
  return true;
}

std::string HostServer::SwitchOn(const std::string& name,
                                 const std::vector<std::string>& addresses) {
  SwitchOff({name});
  Host& host = hosts_[name];
  host.addresses = addresses;
  if (base::Status open = OpenListeners(host); !open.ok()) return open.error().ToString();
  RunStartupScript(name);
  return "up";
}

base::Status HostServer::OpenListeners(Host& host) const {
  for (const std::string& address : host.addresses) {
    JM_ASSIGN_OR_RETURN(base::UniqueFd listener, Listen(address, port_, backlog_));
    host.listeners.push_back(std::move(listener));
  }
  return base::Ok();
}

void HostServer::RunStartupScript(const std::string& name) const {
  const base::Path script = HostDir(name) / "etc" / "startup-script";
  if (base::FileSize(script).value_or(0) == 0) return;
  const base::Path log = HostDir(name) / "state" / "startup.log";
  const base::UniqueFd out(open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  const auto content = base::ReadFile(script);
  std::vector<std::string> words = {"/usr/bin/env"};
  const auto environment = base::ReadFile(HostDir(name) / "etc" / "environment");
  for (const std::string& variable : base::Split(environment.value_or(""), '\n')) {
    if (!variable.empty()) words.push_back(variable);
  }
  if (!content.ok() || !content->starts_with("#!")) words.push_back("/bin/sh");
  words.push_back(script.string());
  (void)base::StartProcess(words, {.out = out.get(), .err = out.get()}).ok();
}

void HostServer::Relink(const std::string& name, const std::string& how) {
  const auto found = hosts_.find(name);
  if (found == hosts_.end()) return;
  Host& host = found->second;
  const int signal = how == "cut" ? SIGSTOP : (how == "mend" ? SIGCONT : SIGKILL);
  for (const pid_t server : host.servers) {
    // A login that was cut off at its start may have become a shell after it was listed.
    for (const pid_t pid : how == "mend" ? Tree(server) : SshServers(server)) kill(pid, signal);
  }
  if (how == "break") return;
  host.cut = how == "cut";
  host.backlog.clear();
  // A shorter backlog fills sooner.
  for (const base::UniqueFd& listener : host.listeners) {
    listen(listener.get(), host.cut ? 0 : backlog_);
  }
  if (host.cut) host.backlog = FillBacklog(host.addresses, port_);
}

void HostServer::SetFault(const std::string& name, const std::vector<std::string>& words) {
  const auto found = hosts_.find(name);
  if (found == hosts_.end() || words.size() < 4) return;
  Host& host = found->second;
  const bool listened = host.fault.kind != HostFaultKind::kRefuse;
  host.fault = {.kind = HostFaultNamed(words[2]).value_or(HostFaultKind::kNone),
                .late = Duration{base::ParseNumber(words[3]).value_or(0)}};
  host.mute.clear();
  if (host.fault.kind == HostFaultKind::kRefuse) {
    host.listeners.clear();
  } else if (!listened) {
    const base::Status open = OpenListeners(host);
    if (!open.ok()) base::Log(base::LogLevel::kError, "hosts", "{}", open.error().ToString());
  }
}

std::vector<std::string> HostServer::ServerOf(const std::string& name,
                                              const HostFault& fault) const {
  const base::Path dir = HostDir(name);
  const std::string log = (dir / "state/sshd.log").string();
  std::vector<std::string> words = {sshd_.string(), "-i", "-f", (dir / "etc/sshd_config").string()};
  if (fault.kind == HostFaultKind::kWrongKey) {
    // Before the one of the configuration, which is of the same type.
    words.insert(words.end(), {"-h", (dir / "etc/other_key").string()});
  }
  const bool fronted = fault.kind == HostFaultKind::kSlow ||
                       fault.kind == HostFaultKind::kHangAfterAuth ||
                       fault.kind == HostFaultKind::kResetMiddle;
  if (!fronted) {
    words.insert(words.end(), {"-E", log});
    return words;
  }
  std::vector<std::string> front = {
      base::SelfExe().string(),           "serve-fault", std::string(HostFaultName(fault.kind)),
      std::to_string(fault.late.count()), log,           "--"};
  words.emplace_back("-e");
  front.insert(front.end(), words.begin(), words.end());
  return front;
}

void HostServer::Accept(const std::string& name, int listener) {
  base::UniqueFd connection(accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
  if (!connection) return;
  Host& host = hosts_[name];
  if (host.fault.kind == HostFaultKind::kReset) return ResetOnClose(connection.get());
  if (host.fault.kind == HostFaultKind::kHangHandshake) {
    host.mute.push_back(std::move(connection));
    if (host.mute.size() > kMostMute) host.mute.pop_front();
    return;
  }
  const auto pid = base::StartProcess(ServerOf(name, host.fault),
                                      {.in = connection.get(), .out = connection.get()});
  if (pid.ok()) host.servers.insert(*pid);
}

void HostServer::SwitchOff(std::set<std::string> names) {
  std::erase_if(names, [this](const std::string& name) { return !hosts_.contains(name); });
  std::set<std::string> folders;
  for (const std::string& name : names) {
    hosts_[name].listeners.clear();
    hosts_[name].mute.clear();
    folders.insert(HostDir(name).string());
  }
  for (int round = 0; !names.empty() && round < kKillRounds; ++round) {
    Reap();
    std::vector<pid_t> doomed = Marked(folders);
    for (const std::string& name : names) {
      for (const pid_t server : hosts_[name].servers) {
        const std::vector<pid_t> tree = Tree(server);
        doomed.insert(doomed.end(), tree.begin(), tree.end());
      }
    }
    if (doomed.empty()) break;
    for (const pid_t pid : doomed) kill(pid, SIGKILL);
    Pause();
  }
  for (const std::string& name : names) hosts_.erase(name);
}

void HostServer::Reap() {
  for (pid_t pid = 0; (pid = waitpid(-1, nullptr, WNOHANG)) > 0;) {
    for (auto& [name, host] : hosts_) host.servers.erase(pid);
  }
}

bool HostServer::KillEverything() {
  hosts_.clear();
  for (int round = 0; round < kKillRounds; ++round) {
    Reap();
    std::vector<pid_t> doomed = Tree(getpid());
    doomed.erase(doomed.begin());  // ourselves
    if (doomed.empty()) return true;
    for (const pid_t pid : doomed) kill(pid, SIGKILL);
    Pause();
  }
  return false;
}

}  // namespace jobman::sim
