#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "jobman/base/result.hpp"

namespace jobman::core {

/// Whether a login name or the name of a host is neither an option nor anything that a shell reads:
/// letters, digits, '.', '_' and '-', which does not come first.
bool IsPlainWord(std::string_view word);

/// A hop on the way to a host: one item of `ssh.proxy_jump`.
struct JumpHost {
  std::string user = {};  ///< empty: what the OpenSSH client takes
  std::string host = {};  ///< a name, an address, or an alias of ssh_config(5)
  int port = 0;           ///< 0: what the OpenSSH client takes
};

/// Reads "[user@]host[:port]", several with commas between them, as ssh_config(5) has it for
/// ProxyJump; an IPv6 address is in brackets. kInvalidArgument for anything else: no item can be
/// taken for an option, and none has a character of the shell.
base::Result<std::vector<JumpHost>> ParseJumpHosts(std::string_view text);

/// What the tokens of `ssh.proxy_command` stand for.
struct ProxyTokens {
  std::string address = {};  ///< %h
  int port = 0;              ///< %p
  std::string user = {};     ///< %r
  std::string name = {};     ///< %n: of the host's VM
};

/// Whether the command asks for the name of the VM, which the cloud must tell first.
bool NamesVm(std::string_view proxy_command);

/// The command with its tokens replaced: %h, %p, %r and %n, and %% for one %, as in ssh_config(5).
/// Nothing is quoted. kInvalidArgument for another token, more than one line, or no command.
base::Result<std::string> ExpandProxyCommand(std::string_view command, const ProxyTokens& tokens);

}  // namespace jobman::core
