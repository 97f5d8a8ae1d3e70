#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace jobman::core {

// The section `ssh` of a job file: how the hosts are reached.

/// What to do with a host key that the cloud does not vouch for: `ssh.host_keys`.
enum class HostKeyRule {
  kFirstUse,  ///< the first one seen is pinned
  kStrict,    ///< the host is not logged in to
};
/// Which address of a host is used: `ssh.address`.
enum class AddressChoice {
  kExternal,  ///< the external one; a host without one is reached at its internal one
  kInternal,
};
/// A key of this machine that the hosts get: in ~/.ssh, under its own file's name. It is read when
/// a run starts, and stored nowhere else.
struct Identity {
  std::string private_key = {};   ///< local path
  std::string public_key = {};    ///< local path
  std::string config_entry = {};  ///< lines for ~/.ssh/config
  bool authorize = false;         ///< the hosts let it log in
  static void Fields(auto&& field) {
    field("private_key", &Identity::private_key);
    field("public_key", &Identity::public_key);
    field("config_entry", &Identity::config_entry);
    field("authorize", &Identity::authorize);
  }
  friend bool operator==(const Identity&, const Identity&) = default;
};

struct SshSpec {
  std::string user = {};         ///< login name on the hosts; never empty in a resolved spec
  std::string private_key = {};  ///< path; never empty in a resolved spec
  int port = 22;                 ///< 0: the port that the local simulator reports
  HostKeyRule host_keys = HostKeyRule::kFirstUse;
  AddressChoice address = AddressChoice::kExternal;
  /// Jump hosts, "[user@]host[:port]" with commas between them; empty: none.
  std::string proxy_jump = {};
  /// A command whose standard input and output are the connection; empty: none. At most one of
  /// these two is set.
  std::string proxy_command = {};
  std::vector<Identity> identities = {};
  bool host_to_host = false;  ///< the hosts reach each other by ssh, with a key of the job's own
  bool agent_forwarding = false;  ///< the hosts may use the ssh-agent of this machine
  bool os_login = false;          ///< the key goes into the account's login profile
  static void Fields(auto&& field) {
    field("user", &SshSpec::user);
    field("private_key", &SshSpec::private_key);
    field("port", &SshSpec::port);
    field("host_keys", &SshSpec::host_keys);
    field("address", &SshSpec::address);
    field("proxy_jump", &SshSpec::proxy_jump);
    field("proxy_command", &SshSpec::proxy_command);
    field("identities", &SshSpec::identities);
    field("host_to_host", &SshSpec::host_to_host);
    field("agent_forwarding", &SshSpec::agent_forwarding);
    field("os_login", &SshSpec::os_login);
  }
  friend bool operator==(const SshSpec&, const SshSpec&) = default;
};

// The word for each enum value in job files; empty for a value out of range.

std::string_view HostKeyRuleName(HostKeyRule rule);
std::string_view AddressChoiceName(AddressChoice choice);
inline std::string_view WordOf(HostKeyRule rule) {
  return HostKeyRuleName(rule);
}
inline std::string_view WordOf(AddressChoice choice) {
  return AddressChoiceName(choice);
}

}  // namespace jobman::core
