#include "ssh/way.hpp"

#include <fmt/format.h>

#include "jobman/core/ssh_way.hpp"
#include "ssh/error_map.hpp"

namespace jobman::ssh {
namespace {

/// One client per hop, each the proxy of the next: those that -J starts would ask questions.
base::Result<std::string> JumpCommand(const ports::HostTarget& target) {
  JM_ASSIGN_OR_RETURN(const auto jumps, core::ParseJumpHosts(target.proxy_jump));
  const core::ProxyTokens tokens{
      .address = target.address, .port = target.port, .user = target.user};
  return core::ExpandProxyCommand(core::JumpCommand(jumps), tokens);
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
  if (core::IsHostAddress(address)) return base::Ok();
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
