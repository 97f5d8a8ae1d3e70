#include "ssh/error_map.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <system_error>

#include "jobman/base/strings.hpp"

namespace jobman::ssh {

using base::Code;
using base::Reason;

std::string Endpoint(const std::string& address, int port) {
  const bool v6 = address.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", v6 ? "[" : "", address, v6 ? "]" : "", port);
}

Error Refused(const std::string& endpoint, const std::string& why) {
  return {.code = Code::kUnavailable,
          .message = fmt::format("{}: {}", endpoint, why),
          .reason = Reason::kHostRefused,
          .hint = "a new host may take minutes to answer; otherwise check its firewall and sshd"};
}

Error TimedOut(const std::string& endpoint, const std::string& why) {
  return {.code = Code::kUnavailable,
          .message = fmt::format("{}: {}", endpoint, why),
          .reason = Reason::kHostTimeout,
          .hint = "check the address, and that the firewall allows port 22"};
}

Error Broken(const std::string& endpoint, const std::string& why) {
  return {.code = Code::kUnavailable,
          .message = fmt::format("{}: the connection broke: {}", endpoint, why),
          .reason = Reason::kHostTimeout};
}

Error NoAnswer(const std::string& endpoint, base::Duration limit) {
  return {.code = Code::kDeadlineExceeded,
          .message = fmt::format("{}: it accepts the login, but a command did not answer within {}",
                                 endpoint, base::FormatDuration(limit)),
          .reason = Reason::kHostHangs,
          .hint =
              "its disk, home folder or login shell may hang: look at it with jobman exec "
              "--patience 30s, or give the slice up (`jobman requeue`)"};
}

Error AuthDenied(const std::string& endpoint, const std::string& user, const std::string& tried) {
  return {.code = Code::kUnauthenticated,
          .message = fmt::format("{}: login as {} refused (tried {})", endpoint, user, tried),
          .reason = Reason::kHostAuth,
          .hint =
              "a new key may take minutes to reach a host; otherwise check ssh.user and "
              "ssh.private_key"};
}

Error AgentSilent(const std::string& endpoint, const std::string& socket) {
  return {.code = Code::kDeadlineExceeded,
          .message = fmt::format("{}: no login: the ssh-agent at SSH_AUTH_SOCK={} does not answer",
                                 endpoint, socket),
          .reason = Reason::kAgentSilent,
          .hint =
              "start the agent again, or set ssh.private_key to a key that needs none; then jobman "
              "controller stop, since a controller keeps the variables it was started with"};
}

Error KeyChanged(const std::string& endpoint, const std::string& expected,
                 const std::string& shown) {
  return {.code = Code::kPermissionDenied,
          .message =
              fmt::format("{}: the host shows the key {}, expected {}", endpoint, shown, expected),
          .reason = Reason::kHostKeyChanged,
          .hint =
              "somebody may be in between; if the machine really was replaced, give the slice "
              "up (`jobman requeue`): a new slice has new identities"};
}

Error LoginFailed(const std::string& endpoint, ssh_session session) {
  const std::string why = SessionError(session);
  Error error = Refused(endpoint, "it closed the connection during the login: " + why);
  // libssh has no code for this, only OpenSSH's words.
  if (base::Contains(why, "Too many authentication failures")) error.reason = Reason::kHostAuth;
  return error;
}

Error KeyUnreadable(const std::string& message, const std::string& hint) {
  return {.code = Code::kInvalidArgument,
          .message = message,
          .reason = Reason::kKeyUnreadable,
          .hint = hint};
}

Error FromConnect(const std::string& endpoint, int error_number) {
  const std::string text = base::ToLower(std::generic_category().message(error_number));
  if (error_number == ETIMEDOUT || error_number == EHOSTUNREACH || error_number == ENETUNREACH)
    return TimedOut(endpoint, text);
  if (error_number == EMFILE || error_number == ENFILE)
    return {.code = Code::kResourceExhausted,
            .message = fmt::format("{}: {}", endpoint, text),
            .hint = "raise the limit of open files (ulimit -n)"};
  return Refused(endpoint, text);
}

std::string SessionError(ssh_session session) {
  const std::string text(base::Trim(ssh_get_error(session)));
  if (text.empty()) return "closed by the other side";
  // As the words of FromConnect(): what failed alike has one row in a table.
  return base::ToLower(text.substr(0, 1)) + text.substr(1);
}

}  // namespace jobman::ssh
