#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "jobman/base/result.hpp"

namespace jobman::core {

/// Whether a login name or the name of a host is neither an option nor anything that a shell reads:
/// letters, digits, '.', '_' and '-', which does not come first.
bool IsPlainWord(std::string_view word);

/// Whether a text can be the address or the name of a host, for a shell and for the OpenSSH client:
/// a plain word, or one with ':' (IPv6). The API named it.
bool IsHostAddress(std::string_view text);

/// The name that OpenSSH knows a machine by (HostKeyAlias), "jobman-UID-3": one word, for an option
/// and for a line of a known_hosts file. `identity` as in ports::HostTarget; it came from the API.
std::string HostKeyAlias(std::string_view identity);

/// A value of ssh_config(5) that names a file: quoted, with % escaped. kInvalidArgument for a path
/// with a quote, a backslash, a control character, or "${", which not every version of the OpenSSH
/// client reads as what it is.
base::Result<std::string> SshConfigPath(std::string_view path);

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

/// The ProxyCommand of an OpenSSH client that is to get through these hops, with the tokens %h and
/// %p for where it connects. Each hop is a client of its own, by the user's own ssh_config(5) and
/// known_hosts; none asks anything, since nobody may be there. Empty without hops.
std::string JumpCommand(const std::vector<JumpHost>& jumps);

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
