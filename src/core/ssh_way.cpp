#include "jobman/core/ssh_way.hpp"

#include <algorithm>

#include "jobman/base/clean.hpp"
#include "jobman/base/shell.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::core {
namespace {

constexpr std::int64_t kMostPorts = 65535;
constexpr std::string_view kSigns = "._-";

bool IsNameSign(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         kSigns.find(c) != std::string_view::npos;
}

bool IsIpv6(std::string_view text) {
  return base::Contains(text, ":") &&
         text.find_first_not_of("0123456789abcdefABCDEF:.") == text.npos;
}

base::Error BadJump(std::string_view item) {
  return base::InvalidArgument("\"" + std::string(item) + "\" is not a jump host",
                               "write [user@]host[:port], several with commas between them, such "
                               "as ada@bastion.example.org:2222");
}

/// Splits "host:port" or "[host]:port"; the port is empty if there is none.
bool SplitPort(std::string_view text, JumpHost& jump, std::string_view& port) {
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return false;
    jump.host = text.substr(1, end - 1);
    port = text.substr(end + 1);
    return IsIpv6(jump.host) && (port.empty() || port.size() > 1) &&
           (port.empty() || port.front() == ':');
  }
  const std::size_t colon = std::min(text.find(':'), text.size());
  jump.host = text.substr(0, colon);
  port = text.substr(colon);
  return IsPlainWord(jump.host) && port != ":";
}

base::Result<JumpHost> ParseJump(std::string_view item) {
  JumpHost jump;
  const std::size_t at = item.rfind('@');
  if (at != std::string_view::npos) jump.user = item.substr(0, at);
  if (at != std::string_view::npos && !IsPlainWord(jump.user)) return BadJump(item);
  std::string_view port;
  if (!SplitPort(item.substr(at + 1), jump, port)) return BadJump(item);
  if (port.empty()) return jump;
  const auto number = base::ParseNumber(port.substr(1));
  if (!number || *number < 1 || *number > kMostPorts) return BadJump(item);
  jump.port = static_cast<int>(*number);
  return jump;
}

base::Error BadToken(std::string_view token) {
  return base::InvalidArgument("\"" + std::string(token) + "\" is no token of a proxy command",
                               "%h is the host's address, %p its port, %r the login name, %n the "
                               "name of its VM, and %% a single %");
}

/// For the client that is given the command as ProxyCommand: where it connects itself, after its
/// own ssh_config(5) has replaced an alias.
constexpr const char* kNextHop = "[%h]:%p";

/// The client that logs in to `jump`, by way of `proxy` if that is not empty, and forwards its
/// standard input and output to the next hop.
std::string HopCommand(const JumpHost& jump, const std::string& proxy) {
  std::vector<std::string> words = {"ssh", "-o", "BatchMode=yes"};
  if (!proxy.empty())
    words.insert(words.end(), {"-o", "ProxyCommand=" + proxy, "-o", "ProxyUseFdpass=no"});
  if (jump.port != 0) words.insert(words.end(), {"-p", std::to_string(jump.port)});
  const std::string name = jump.user.empty() ? jump.host : jump.user + "@" + jump.host;
  words.insert(words.end(), {"-W", kNextHop, "--", name});
  return base::ShellJoin(words);
}

}  // namespace

bool IsPlainWord(std::string_view word) {
  return !word.empty() && word.front() != '-' && std::all_of(word.begin(), word.end(), IsNameSign);
}

bool IsHostAddress(std::string_view text) {
  return !text.empty() && text.front() != '-' &&
         std::all_of(text.begin(), text.end(), [](char c) { return IsNameSign(c) || c == ':'; });
}

std::string HostKeyAlias(std::string_view identity) {
  // The client makes capitals small before it writes the name to a file.
  std::string alias = "jobman-" + base::ToLower(identity);
  std::replace_if(
      alias.begin(), alias.end(), [](char c) { return !IsNameSign(c); }, '-');
  return alias;
}

base::Result<std::string> SshConfigPath(std::string_view path) {
  const bool control = std::any_of(path.begin(), path.end(), [](char c) {
    return static_cast<unsigned char>(c) < ' ' || c == '\x7F';
  });
  if (!control && path.find_first_of("\"\\") == path.npos && !base::Contains(path, "${"))
    return "\"" + base::ReplaceAll(std::string(path), "%", "%%") + "\"";
  return base::InvalidArgument(
      "the OpenSSH client cannot be told the path " + base::CleanLine(path),
      "move the file to a path without quotes, backslashes, line breaks "
      "and ${");
}

base::Result<std::vector<JumpHost>> ParseJumpHosts(std::string_view text) {
  std::vector<JumpHost> jumps;
  for (const std::string& item : base::Split(text, ',')) {
    JM_ASSIGN_OR_RETURN(JumpHost jump, ParseJump(base::Trim(item)));
    jumps.push_back(std::move(jump));
  }
  return jumps;
}

std::string JumpCommand(const std::vector<JumpHost>& jumps) {
  std::string proxy;
  // Each client replaces the tokens of its own proxy only, so those further in are doubled.
  for (const JumpHost& jump : jumps) proxy = HopCommand(jump, base::ReplaceAll(proxy, "%", "%%"));
  return proxy;
}

bool NamesVm(std::string_view proxy_command) {
  for (std::size_t i = 0; i + 1 < proxy_command.size(); ++i) {
    if (proxy_command[i] != '%') continue;
    if (proxy_command[++i] == 'n') return true;
  }
  return false;
}

base::Result<std::string> ExpandProxyCommand(std::string_view command, const ProxyTokens& tokens) {
  command = base::Trim(command);
  if (command.empty()) return base::InvalidArgument("there is no command");
  if (command.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos) {
    return base::InvalidArgument("a proxy command is one line",
                                 "put more than that into a script, and name it here");
  }
  std::string text;
  for (std::size_t i = 0; i < command.size(); ++i) {
    if (command[i] != '%') {
      text += command[i];
      continue;
    }
    const std::string_view token = command.substr(i, 2);
    ++i;
    if (token == "%%") {
      text += '%';
    } else if (token == "%h") {
      text += tokens.address;
    } else if (token == "%p") {
      text += std::to_string(tokens.port);
    } else if (token == "%r") {
      text += tokens.user;
    } else if (token == "%n") {
      text += tokens.name;
    } else {
      return BadToken(token);
    }
  }
  return text;
}

}  // namespace jobman::core
