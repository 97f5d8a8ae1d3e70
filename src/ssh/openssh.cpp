#include "jobman/ssh/openssh.hpp"

#include <algorithm>

#include "jobman/base/strings.hpp"

namespace jobman::ssh {
namespace {

using base::Result;

std::string AliasOf(const ports::HostTarget& target) {
  return "jobman-" + base::ReplaceAll(target.identity, "/", "-");
}

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

/// A path as a value in ssh_config: quoted, with % escaped.
std::string ConfigPath(const base::Path& path) {
  return "\"" + base::ReplaceAll(path.string(), "%", "%%") + "\"";
}

}  // namespace

Result<std::vector<std::string>> OpenSshArguments(const ports::HostTarget& target,
                                                  const std::optional<std::string>& pinned,
                                                  const base::Path& known_hosts_file) {
  const std::string alias = AliasOf(target);
  JM_ASSIGN_OR_RETURN(const auto keys, KeysOf(target, pinned));
  JM_TRY(WriteKeys(known_hosts_file, alias, keys));
  std::vector<std::string> words = {"ssh", "-p", std::to_string(target.port)};
  const auto option = [&words](const std::string& text) {
    words.insert(words.end(), {"-o", text});
  };
  option("HostKeyAlias=" + alias);
  option("UserKnownHostsFile=" + ConfigPath(known_hosts_file));
  option("GlobalKnownHostsFile=/dev/null");
  option("StrictHostKeyChecking=yes");
  option("CheckHostIP=no");
  std::error_code ignored;
  // Without a key file there are only the agent's keys.
  if (std::filesystem::exists(target.private_key, ignored)) {
    option("IdentitiesOnly=yes");
    option("IdentityFile=" + ConfigPath(target.private_key));
  }
  words.push_back(target.user + "@" + target.address);
  return words;
}

}  // namespace jobman::ssh
