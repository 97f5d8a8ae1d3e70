#include "sim/hosts/plain_fleet.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jobman/base/log.hpp"
#include "jobman/base/process.hpp"
#include "jobman/base/shell.hpp"
#include "sim/hosts/full_disk.hpp"
#include "sim/hosts/processes.hpp"

namespace jobman::sim {

PlainFleet::PlainFleet(FleetOptions options, Report report)
    : LocalFleet(std::move(options), std::move(report)), sftp_server_(FindProgram("sftp-server")) {
  StartThread();
  PostAndWait([this] {
    const base::Status started = StartHelper();
    if (!started.ok()) base::Log(base::LogLevel::kError, "hosts", "{}", started.error().ToString());
  });
}

PlainFleet::~PlainFleet() {
  Shutdown();
  Join();
}

base::Status PlainFleet::StartHelper() {
  int ends[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return base::FromErrno(errno, "making a socket pair");
  }
  control_ = base::UniqueFd(ends[0]);
  const base::UniqueFd theirs(ends[1]);
  JM_ASSIGN_OR_RETURN(
      helper_,
      base::StartProcess({options().self.string(), "serve-hosts", options().dir.string(),
                          std::to_string(options().ssh_port), std::to_string(options().backlog)},
                         {.in = theirs.get(), .out = theirs.get(), .err = STDERR_FILENO}));
  return base::Ok();
}

HostDisk PlainFleet::DiskOf(const std::string& name) const {
  const base::Path root = HostDir(name);
  const std::string etc = (root / "etc").string();
  Environment environment = {{"SHLVL", "1"},
                             {"JOBMAN_SIM_HOST", name},
                             {"JOBMAN_SIM_HOST_DIR", root.string()},
                             {"JOBMAN_BOOT_ID_FILE", etc + "/boot_id"}};
  if (options().docker) environment["DOCKER_HOST"] = "unix://" + options().docker->socket.string();
  // ForceCommand gives each host its own home without an entry in the password file. SHLVL keeps
  // bash from reading this machine's .bashrc first, which it does at level 1 below sshd. dash runs
  // the last command of a line in another process, too, so that the login would lead no group.
  return HostDisk({.root = root,
                   .homes = options().homes,
                   .etc = root / "etc",
                   .state = root / "state",
                   .port = options().ssh_port,
                   .metadata_port = options().metadata_port,
                   .environment = std::move(environment),
                   .extra = fmt::format("ForceCommand exec {}\nSubsystem sftp {}\n",
                                        base::ShellQuote(etc + "/login"), sftp_server_.string())});
}

base::Status PlainFleet::WriteLoginScript(const std::string& name) const {
  const HostDisk disk = DiskOf(name);
  const std::string etc = base::ShellQuote(disk.etc().string());
  const std::string text = fmt::format(
      "#!/bin/sh\n"
      "{}"
      "HOME={}/\"$USER\"\n"
      "TMPDIR={}\n"
      "export HOME TMPDIR\n"
      "unset SHLVL\n"
      "{{ [ -d \"$HOME\" ] || mkdir -p \"$HOME\"; }} && cd \"$HOME\"\n"
      "[ $# -gt 0 ] || [ ! -e {}/full ] || exec {}/full \"$0\"\n"
      "if [ -n \"$SSH_ORIGINAL_COMMAND\" ]; then\n"
      "  exec \"${{SHELL:-/bin/sh}}\" -c \"$SSH_ORIGINAL_COMMAND\"\n"
      "fi\n"
      "exec \"${{SHELL:-/bin/sh}}\" -l\n",
      disk.WaitWhileHung(), base::ShellQuote(disk.homes().string()),
      base::ShellQuote(disk.tmp().string()), etc, etc);
  return WriteInPlace(disk.etc() / "login", text, 0755);
}

bool PlainFleet::IsOf(const std::string&, const Peer& peer) const {
  return peer.user == geteuid();
}

base::Status PlainFleet::Launch(const HostPlan& plan) {
  if (!options().scripts && plan.metadata.contains("startup-script")) {
    return base::Error{.code = base::Code::kFailedPrecondition,
                       .message = "host " + plan.name +
                                  " has a startup script, which is not run without a sandbox: "
                                  "jobman-sim up --no-sandbox allows it"};
  }
  JM_TRY(WriteLoginScript(plan.name));
  answers_.erase(plan.name);
  Send("on " + plan.name + " " + plan.internal_ip + " " + plan.external_ip);
  return base::Ok();
}

base::Result<bool> PlainFleet::IsUp(const std::string& name) {
  ReadAnswers();
  const auto answer = answers_.find(name);
  if (answer == answers_.end()) {
    if (!base::HasEnded(helper_)) return false;
    return base::Internal("the helper that serves the hosts ended");
  }
  if (answer->second == "up") return true;
  return base::Internal("host " + name + " does not start: " + answer->second);
}

void PlainFleet::Kill(const std::string& name) {
  Send("off " + name);
}

void PlainFleet::Relink(const std::string& name, Link link) {
  switch (link) {
    case Link::kHung:
    case Link::kTrickling:
      return;
    case Link::kCut:
      return Send("cut " + name);
    case Link::kMended:
      return Send("mend " + name);
    case Link::kBroken:
      return Send("break " + name);
  }
}

base::Status PlainFleet::MayFail(HostFaultKind kind) const {
  return kind == HostFaultKind::kFull ? TryFullDisk() : base::Ok();
}

void PlainFleet::Spoil(const std::string& name, const HostFault& fault) {
  const base::Path etc = DiskOf(name).etc();
  base::Status done = base::Ok();
  if (fault.kind == HostFaultKind::kWrongKey) {
    done = WriteInPlace(etc / "other_key", MakeHostKey(name).private_file, 0600);
  }
  if (done.ok()) {
    done = fault.kind == HostFaultKind::kFull ? WriteInPlace(etc / "full", FullDiskScript(), 0755)
                                              : base::RemoveAll(etc / "full");
  }
  if (!done.ok()) base::Log(base::LogLevel::kError, "hosts", "{}", done.error().ToString());
  const std::string_view kind = HostFaultName(fault.kind);
  Send(fmt::format("fault {} {} {}", name, kind.empty() ? "none" : kind, fault.late.count()));
}

void PlainFleet::Send(const std::string& line) {
  const std::string text = line + "\n";
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t n =
        send(control_.get(), text.data() + sent, text.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0) {
      sent += static_cast<std::size_t>(n);
    } else if (errno == EAGAIN || errno == EINTR) {
      // With many requests under way, the helper may be waiting for us to read its answers.
      pollfd ready{.fd = control_.get(), .events = POLLIN | POLLOUT, .revents = 0};
      poll(&ready, 1, -1);
      ReadAnswers();
    } else {
      return base::Log(base::LogLevel::kWarn, "hosts", "the helper that serves the hosts is gone");
    }
  }
}

void PlainFleet::ReadAnswers() {
  char buffer[4096];
  ssize_t n = 0;
  while ((n = recv(control_.get(), buffer, sizeof buffer, MSG_DONTWAIT)) > 0) {
    unread_.append(buffer, static_cast<std::size_t>(n));
  }
  for (auto end = unread_.find('\n'); end != std::string::npos; end = unread_.find('\n')) {
    const std::string line = unread_.substr(0, end);
    unread_.erase(0, end + 1);
    const auto space = line.find(' ');
    if (space != std::string::npos) answers_[line.substr(0, space)] = line.substr(space + 1);
  }
}

std::vector<std::string> PlainFleet::Shutdown() {
  std::vector<std::string> left;
  PostAndWait([&] {
    if (helper_ <= 0) return;
    shutdown(control_.get(), SHUT_WR);  // tells the helper to end everything
    int status = 0;
    waitpid(helper_, &status, 0);
    helper_ = 0;
    if (status != 0) left.push_back("processes of hosts (see sim.log)");
    EndContainersIn(HostsDir());
  });
  return left;
}

}  // namespace jobman::sim
