#include "jobman/ssh/openssh.hpp"

#include <algorithm>

#include "jobman/base/strings.hpp"
#include "jobman/core/ssh_way.hpp"
#include "ssh/way.hpp"

namespace jobman::ssh {
namespace {

using base::Result;

Result<std::vector<std::string>> KeysOf(const ports::HostTarget& target,
                                        const std::optional<std::string>& pinned) {
  std::vector<std::string> keys;
  for (const auto& [type, key] : target.vouched_keys) keys.push_back(type + " " + key);
  if (!keys.empty()) return keys;
  if (pinned) return std::vector{*pinned};
  return base::Error{.code = base::Code::kFailedPrecondition,
                     .message = "the host key of " + target.identity + " is not known yet",
                     .hint = "wait until jobman has connected to the host once"};
}

/// Other logins that are just starting read the lines of other aliases; the oldest lines belong to
/// machines that are gone.
constexpr std::ptrdiff_t kOthersKept = 1000;

/// Replaces the lines of the alias; keeps the newest of the others.
base::Status WriteKeys(const base::Path& file, const std::string& alias,
                       const std::vector<std::string>& keys) {
  std::vector<std::string> lines = base::Split(base::ReadFile(file).value_or(""), '\n');
  std::erase_if(lines, [&alias](const std::string& line) {
    return line.empty() || line.starts_with(alias + " ");
  });
  lines.erase(lines.begin(),
              lines.begin() + std::max<std::ptrdiff_t>(0, std::ssize(lines) - kOthersKept));
  for (const auto& key : keys) lines.push_back(alias + " " + key);
  return base::WriteFileAtomic(file, base::Join(lines, "\n") + "\n");
}

}  // namespace

Result<std::vector<std::string>> OpenSshArguments(const ports::HostTarget& target,
                                                  const std::optional<std::string>& pinned,
                                                  const base::Path& known_hosts_file) {
  JM_TRY(CheckAddress(target.address));
  const std::string alias = core::HostKeyAlias(target.identity);
  JM_ASSIGN_OR_RETURN(const auto keys, KeysOf(target, pinned));
  JM_ASSIGN_OR_RETURN(const std::string known_hosts,
                      core::SshConfigPath(known_hosts_file.string()));
  JM_TRY(WriteKeys(known_hosts_file, alias, keys));
  std::vector<std::string> words = {"ssh", "-p", std::to_string(target.port)};
  const auto option = [&words](const std::string& text) {
    words.insert(words.end(), {"-o", text});
  };
  option("HostKeyAlias=" + alias);
  option("UserKnownHostsFile=" + known_hosts);
  option("GlobalKnownHostsFile=/dev/null");
  option("StrictHostKeyChecking=yes");
  option("CheckHostIP=no");
  std::error_code ignored;
  // Without a key file there are only the agent's keys.
  if (std::filesystem::exists(target.private_key, ignored)) {
    JM_ASSIGN_OR_RETURN(const std::string key, core::SshConfigPath(target.private_key));
    option("IdentitiesOnly=yes");
    option("IdentityFile=" + key);
  }
  if (HasProxy(target)) {
    // The client would take what is left of % for its own tokens.
    JM_ASSIGN_OR_RETURN(const std::string proxy, ProxyCommandOf(target));
    option("ProxyCommand=" + base::ReplaceAll(proxy, "%", "%%"));
    option("ProxyUseFdpass=no");
  }
  if (target.forward_agent) words.push_back("-A");
  // Else the client takes options after the address, too, such as -oProxyCommand=...
  words.insert(words.end(), {"--", target.user + "@" + target.address});
  return words;
}

}  // namespace jobman::ssh
