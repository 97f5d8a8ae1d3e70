#include "sim/hosts/host_disk.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "jobman/base/random.hpp"
#include "jobman/base/shell.hpp"
#include "jobman/base/strings.hpp"
#include "sim/wire/json.hpp"

namespace jobman::sim {

using base::Path;
using base::Status;

namespace {

bool IsUserName(const std::string& name) {
  return !name.empty() && name.size() <= 32 && name != "." && name != ".." && name[0] != '-' &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '_' || c == '-' || c == '.';
         });
}

/// A random UUID in the form of the kernel's boot ids.
std::string BootId() {
  std::string hex = base::RandomHex(16);
  for (const std::size_t dash : {8U, 13U, 18U, 23U}) hex.insert(dash, "-");
  return hex;
}

}  // namespace

Status WriteInPlace(const Path& path, std::string_view content, mode_t mode) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << content;
  file.close();
  if (!file) return base::FromErrno(errno, "writing " + path.string());
  chmod(path.c_str(), mode);
  return base::Ok();
}

Path LoginShell() {
  return access("/bin/bash", X_OK) == 0 ? "/bin/bash" : "/bin/sh";
}

std::vector<Login> LoginsOf(const Metadata& metadata) {
  std::vector<Login> logins;
  const auto keys = metadata.find("ssh-keys");
  if (keys == metadata.end()) return logins;
  for (const std::string& line : base::Split(keys->second, '\n')) {
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string user(base::Trim(line.substr(0, colon)));
    if (!IsUserName(user)) continue;
    auto login = std::find_if(logins.begin(), logins.end(),
                              [&](const Login& known) { return known.user == user; });
    if (login == logins.end()) login = logins.insert(logins.end(), {.user = user});
    login->keys += std::string(base::Trim(line.substr(colon + 1))) + "\n";
  }
  return logins;
}

Status HostDisk::Create(const HostKey& key) {
  for (const Path& folder : {homes(), tmp(), etc() / "keys", state()}) {
    JM_TRY(base::EnsureDir(folder));
  }
  return WriteInPlace(etc() / "host_key", key.private_file, 0600);
}

Status HostDisk::SetHung(bool hung, bool trickles) {
  const Path flag = etc() / "hang";
  JM_TRY(hung ? WriteInPlace(flag, trickles ? "trickle\n" : "") : base::RemoveAll(flag));
  return WriteShell(hung);
}

std::string HostDisk::WaitWhileHung() const {
  const Path flag = layout_.etc / "hang";
  return fmt::format("while [ -e {0} ]; do [ ! -s {0} ] || echo trickling; sleep 0.2; done\n",
                     base::ShellQuote(flag.string()));
}

/// The shell waits, and no ForceCommand: to a forced command, sshd passes no signals on. sshd runs
/// it under the name of its file. A login may begin at any moment, so that the file is replaced by
/// a rename, and sh is named a file that stays.
Status HostDisk::WriteShell(bool waits) {
  const Path file = etc() / LoginShell().filename();
  const Path fresh = etc() / "shell.new";
  JM_TRY(base::RemoveAll(fresh));
  std::error_code problem;
  if (waits) {
    JM_TRY(WriteInPlace(fresh, "#!/bin/sh " + (layout_.etc / "wait").string() + "\n", 0755));
  } else {
    std::filesystem::create_symlink(LoginShell(), fresh, problem);
  }
  if (!problem) std::filesystem::rename(fresh, file, problem);
  return problem ? base::FromErrno(problem.value(), "writing " + file.string()) : base::Ok();
}

/// What sh reads in place of the login shell; its first argument is the path of that.
Status HostDisk::WriteWait() {
  return WriteInPlace(etc() / "wait",
                      fmt::format("{}shift\n[ $# -gt 0 ] || set -- -l\nexec {} \"$@\"\n",
                                  WaitWhileHung(), LoginShell().string()));
}

Status HostDisk::WriteMetadata(const Metadata& metadata) {
  const std::string shell = (layout_.etc / LoginShell().filename()).string();
  std::string passwd;
  std::string group;
  for (const Login& login : LoginsOf(metadata)) {
    JM_TRY(WriteInPlace(etc() / "keys" / login.user, login.keys, 0600));
    JM_TRY(base::EnsureDir(homes() / login.user));
    passwd += fmt::format("{0}:x:{1}:{1}::{2}/{0}:{3}\n", login.user, kSandboxUid,
                          layout_.homes_inside.string(), shell);
    group += fmt::format("{}:x:{}:\n", login.user, kSandboxUid);
  }
  // sshd does not start if its uid has no name.
  if (passwd.empty()) passwd = fmt::format("nobody:x:{0}:{0}::/home:{1}\n", kSandboxUid, shell);
  JM_TRY(WriteInPlace(etc() / "passwd", passwd));
  JM_TRY(WriteInPlace(etc() / "group", group));
  JM_TRY(WriteInPlace(etc() / "metadata.json", Json(metadata).dump(2)));
  const auto script = metadata.find("startup-script");
  return WriteInPlace(etc() / "startup-script",
                      script == metadata.end() ? std::string() : script->second, 0755);
}

Status HostDisk::PrepareBoot(const HostPlan& plan) {
  JM_TRY(base::RemoveAll(tmp()));
  JM_TRY(base::EnsureDir(tmp()));
  JM_TRY(base::RemoveAll(state() / "sshd.pid"));
  JM_TRY(WriteInPlace(etc() / "boot_id", BootId() + "\n"));
  JM_TRY(WriteWait());
  JM_TRY(SetHung(false));
  JM_TRY(base::RemoveAll(etc() / "full"));
  JM_TRY(WriteMetadata(plan.metadata));
  JM_TRY(WriteEnvironment(plan));
  return WriteSshdConfig(plan);
}

Environment HostDisk::EnvironmentOf(const HostPlan& plan) const {
  Environment environment = layout_.environment;
  if (layout_.metadata_port != 0) {
    // Google's libraries read these two. The host's own address tells the server which host asks.
    const std::string server = fmt::format("{}:{}", plan.internal_ip, layout_.metadata_port);
    environment["GCE_METADATA_HOST"] = server;
    environment["GCE_METADATA_IP"] = server;
  }
  return environment;
}

Status HostDisk::WriteEnvironment(const HostPlan& plan) {
  std::string text;
  for (const auto& [name, value] : EnvironmentOf(plan)) text += name + "=" + value + "\n";
  return WriteInPlace(etc() / "environment", text);
}

Status HostDisk::WriteSshdConfig(const HostPlan& plan) {
  std::string config = fmt::format("Port {}\nListenAddress {}\n", layout_.port, plan.internal_ip);
  if (!plan.external_ip.empty()) config += fmt::format("ListenAddress {}\n", plan.external_ip);
  config += fmt::format(
      "HostKey \"{}/host_key\"\nAuthorizedKeysFile \"{}/keys/%u\" .ssh/authorized_keys\nPidFile "
      "\"{}/sshd.pid\"\n",
      layout_.etc.string(), layout_.etc.string(), layout_.state.string());
  config +=
      "PubkeyAuthentication yes\nPasswordAuthentication no\nKbdInteractiveAuthentication no\n"
      "PermitRootLogin prohibit-password\nUsePAM no\nStrictModes no\nPrintMotd no\n"
      "PrintLastLog no\nUseDNS no\nX11Forwarding no\nAllowTcpForwarding yes\n"
      "MaxStartups 10000\nMaxSessions 1000\nAcceptEnv LANG LC_*\nLogLevel VERBOSE\n";
  const Environment environment = EnvironmentOf(plan);
  if (!environment.empty()) config += "SetEnv";  // sshd reads the first such line only
  for (const auto& [name, value] : environment) {
    config += fmt::format(" \"{}={}\"", name, value);
  }
  return WriteInPlace(etc() / "sshd_config", config + "\n" + layout_.extra);
}

bool HostDisk::IsUp() const {
  return base::FileSize(state() / "sshd.pid").value_or(0) > 0;
}

}  // namespace jobman::sim
