#include "ssh/way.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "jobman/base/shell.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/core/ssh_way.hpp"
#include "ssh/error_map.hpp"

namespace jobman::ssh {
namespace {

bool IsAddressSign(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
         c == '-' || c == '_' || c == ':';  // IPv6
}

/// For the client that is given the command as ProxyCommand: where it connects itself, after its
/// own ssh_config(5) has replaced an alias.
constexpr const char* kNextHop = "[%h]:%p";

std::string JumpName(const core::JumpHost& jump) {
  return jump.user.empty() ? jump.host : jump.user + "@" + jump.host;
}

/// The client that logs in to `jump`, by way of `proxy` if that is not empty, and forwards its
/// standard input and output to `to`.
std::string HopCommand(const core::JumpHost& jump, const std::string& proxy,
                       const std::string& to) {
  std::vector<std::string> words = {"ssh", "-o", "BatchMode=yes"};
  if (!proxy.empty())
    words.insert(words.end(), {"-o", "ProxyCommand=" + proxy, "-o", "ProxyUseFdpass=no"});
  if (jump.port != 0) words.insert(words.end(), {"-p", std::to_string(jump.port)});
  words.insert(words.end(), {"-W", to, "--", JumpName(jump)});
  return base::ShellJoin(words);
}

/// One client per hop, each the proxy of the next: those that -J starts would ask questions. Each
/// client replaces the tokens of its own proxy only, so those further in are doubled.
base::Result<std::string> JumpCommand(const ports::HostTarget& target) {
  JM_ASSIGN_OR_RETURN(auto jumps, core::ParseJumpHosts(target.proxy_jump));
  const core::JumpHost last = jumps.back();
  jumps.pop_back();
  std::string proxy;
  for (const core::JumpHost& jump : jumps)
    proxy = HopCommand(jump, base::ReplaceAll(proxy, "%", "%%"), kNextHop);
  return HopCommand(last, proxy, fmt::format("[{}]:{}", target.address, target.port));
}

/// OS Login may have named it, and a shell reads it as %r.
base::Status CheckUser(const std::string& user) {
  if (core::IsPlainWord(user)) return base::Ok();
  return base::InvalidArgument(
      "\"" + user + "\" is not a login name that a proxy command can take",
      "letters, digits, -, _ and . only, and no - in front: see ssh.user and ssh.os_login");
}

/// It counts as a host that cannot be reached yet.
Error NoName(const ports::HostTarget& target) {
  Error error = Refused(EndpointOf(target), "the name of its VM (%n) is not known");
  error.hint =
      "a new host publishes it some seconds after READY (guest attribute hostname); "
      "otherwise leave %n out of ssh.proxy_command";
  return error;
}

}  // namespace

std::string EndpointOf(const ports::HostTarget& target) {
  const std::string endpoint = Endpoint(target.address, target.port);
  if (!target.proxy_jump.empty()) return endpoint + " through " + target.proxy_jump;
  return target.proxy_command.empty() ? endpoint : endpoint + " through ssh.proxy_command";
}

base::Status CheckAddress(const std::string& address) {
  const bool clean = std::all_of(address.begin(), address.end(), IsAddressSign);
  if (clean && !address.empty() && address.front() != '-') return base::Ok();
  return base::InvalidArgument("\"" + address + "\" is not the address of a host",
                               "the cloud named it: see jobman show");
}

base::Result<std::string> ProxyCommandOf(const ports::HostTarget& target) {
  JM_TRY(CheckAddress(target.address));
  JM_TRY(CheckUser(target.user));
  if (!target.proxy_jump.empty()) return JumpCommand(target);
  if (core::NamesVm(target.proxy_command)) {
    if (target.vm_name.empty()) return NoName(target);
    JM_TRY(CheckAddress(target.vm_name));
  }
  const core::ProxyTokens tokens{
      .address = target.address, .port = target.port, .user = target.user, .name = target.vm_name};
  return core::ExpandProxyCommand(target.proxy_command, tokens);
}

}  // namespace jobman::ssh
