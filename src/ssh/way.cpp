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

std::string HopText(const core::JumpHost& jump, bool with_port) {
  const bool v6 = base::Contains(jump.host, ":");
  std::string text = jump.user.empty() ? "" : jump.user + "@";
  text += v6 && with_port ? "[" + jump.host + "]" : jump.host;
  return with_port && jump.port != 0 ? text + ":" + std::to_string(jump.port) : text;
}

/// The last hop forwards its standard input and output to the host; those before it are the
/// client's own affair.
base::Result<std::string> JumpCommand(const ports::HostTarget& target) {
  JM_ASSIGN_OR_RETURN(auto jumps, core::ParseJumpHosts(target.proxy_jump));
  const core::JumpHost last = jumps.back();
  jumps.pop_back();
  std::vector<std::string> words = {"ssh", "-o", "BatchMode=yes"};
  std::vector<std::string> before;
  for (const core::JumpHost& jump : jumps) before.push_back(HopText(jump, true));
  if (!before.empty()) words.insert(words.end(), {"-J", base::Join(before, ",")});
  if (last.port != 0) words.insert(words.end(), {"-p", std::to_string(last.port)});
  const std::string to = fmt::format("[{}]:{}", target.address, target.port);
  words.insert(words.end(), {"-W", to, "--", HopText(last, false)});
  return base::ShellJoin(words);
}

/// It counts as a host that cannot be reached yet.
Error NoName(const ports::HostTarget& target) {
  Error error = Refused(EndpointOf(target), "the name of its VM (%n) is not known");
  error.hint =
      "a new host publishes it some seconds after READY (guest attribute hostname); otherwise "
      "leave "
      "%n out of ssh.proxy_command";
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
