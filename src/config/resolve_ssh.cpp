#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <map>
#include <string_view>
#include <system_error>
#include <utility>

#include "config/names.hpp"
#include "config/resolve.hpp"
#include "jobman/base/files.hpp"
#include "jobman/base/handle.hpp"
#include "jobman/base/state_paths.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/base/trusted.hpp"

namespace jobman::config {
namespace {

constexpr std::size_t kLongestKey = std::size_t{64} << 10;

/// Old job files name it. Another key than the private one's would not be used, so a missing file
/// is worth a word and no more.
void CheckPublicKey(Reader& reader) {
  const std::string text = reader.Text("ssh.public_key");
  if (text.empty()) return;
  const base::Path file = ResolvePath(reader.defaults(), reader.FolderOf("ssh.public_key"), text);
  std::error_code problem;
  if (std::filesystem::exists(file, problem)) return;
  reader.Warn("ssh.public_key", file.string() + " does not exist",
              "it is not needed: the public key is taken from ssh.private_key");
}

/// Whether the key can be used. A missing key can: it will be generated.
base::Status CheckKey(const base::Path& key) {
  struct stat info = {};
  if (::stat(key.c_str(), &info) != 0) {
    return errno == ENOENT || errno == ENOTDIR ? base::Ok()
                                               : base::FromErrno(errno, "checking " + key.string());
  }
  base::Error error = base::InvalidArgument({});
  error.reason = base::Reason::kKeyUnreadable;
  if (!S_ISREG(info.st_mode)) {
    error.message = key.string() + " is not a file";
    error.hint = "name the private key itself, not its folder";
    return error;
  }
  if ((info.st_mode & 077U) != 0) {
    error.message = key.string() + " is accessible to other users";
    error.hint = "run: chmod 600 " + key.string();
    return error;
  }
  auto trusted = base::CheckTrusted(
      key, {.what = "the private key", .instead = "name a key of your own in ssh.private_key"});
  if (!trusted.ok()) return trusted;
  const base::UniqueFd fd(::open(key.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd) return base::Ok();
  error.message = key.string() + " cannot be read: " + std::generic_category().message(errno);
  error.hint = "name a key in ssh.private_key that you can read";
  return error;
}

/// In the first job files: one key, with which the hosts reach each other.
void AddOldIdentity(Reader& reader, core::SshSpec& ssh) {
  const auto path_of = [&](const std::string& key) {
    const std::string text = reader.Text(key);
    return text.empty() ? text : ResolvePath(reader.defaults(), reader.FolderOf(key), text);
  };
  core::Identity old{.private_key = path_of("ssh.tpu_private_key"),
                     .public_key = path_of("ssh.tpu_public_key"),
                     .authorize = true};
  if (old.private_key.empty()) return;
  // The hosts have not met each other before, and there is nobody whom ssh could ask.
  old.config_entry = "Host 10.*\n  IdentityFile ~/.ssh/" +
                     base::Path(old.private_key).filename().string() +
                     "\n  StrictHostKeyChecking accept-new\n"
                     "  UserKnownHostsFile ~/.ssh/jobman-hosts-of-pods\n";
  reader.Note("ssh.identities[" + std::to_string(ssh.identities.size()) + "].private_key",
              "ssh.tpu_private_key");
  ssh.identities.push_back(std::move(old));
}

/// A file of an identity must be there when a run starts; until then its absence is worth a word.
void CheckPresent(Reader& reader, const std::string& key, const std::string& file) {
  if (file.empty()) return;
  const auto content = base::ReadRegularFile(file, kLongestKey);
  if (content.ok()) return;
  const std::string message = reader.Name(key) + ": " + content.error().message;
  const std::string hint = "create it, or leave the identity out";
  if (reader.request().check_secrets) return reader.Complain(key, message, hint);
  reader.Warn(key, message, hint);
}

/// What the files of ~/.ssh on the hosts will be, by name: "private" or "public", and the path
/// here.
using KeyFiles = std::map<std::string, std::pair<std::string_view, std::string>>;

/// Two files of one name would replace each other there.
void CheckName(Reader& reader, const std::string& path, KeyFiles& files, std::string_view kind,
               const std::string& file) {
  const std::string name = base::Path(file).filename();
  if (name.empty()) return;
  const std::pair here{kind, file};
  const auto [same, fresh] = files.emplace(name, here);
  if (fresh || same->second == here) return;
  reader.Complain(path, path + ": another key of ssh.identities has the file name " + name + " too",
                  "rename one: both would be ~/.ssh/" + name + " on the hosts");
}

void ResolveIdentities(Reader& reader, core::SshSpec& ssh) {
  AddOldIdentity(reader, ssh);
  KeyFiles files;
  for (std::size_t i = 0; i < ssh.identities.size(); ++i) {
    core::Identity& identity = ssh.identities[i];
    const std::string path = "ssh.identities[" + std::to_string(i) + "]";
    CheckName(reader, path, files, "private", identity.private_key);
    CheckName(reader, path, files, "public", identity.public_key);
    if (identity.authorize && identity.public_key.empty()) {
      const bool old = reader.Has("ssh.tpu_private_key") && i + 1 == ssh.identities.size();
      const std::string key = old ? "ssh.tpu_public_key" : path + ".public_key";
      reader.Complain(path, key + " is missing: it is what the hosts let in",
                      "name the public half, or let jobman make a key: ssh.host_to_host: true");
    }
    CheckPresent(reader, path + ".private_key", identity.private_key);
    CheckPresent(reader, path + ".public_key", identity.public_key);
  }
}

void CheckWay(Reader& reader, const core::SshSpec& ssh) {
  if (ssh.proxy_jump.empty() || ssh.proxy_command.empty()) return;
  reader.Complain("ssh.proxy_command", "ssh.proxy_command: ssh.proxy_jump is set too",
                  "leave one of the two out");
}

/// Compute Engine takes TRUE, Y, Yes and 1 for true, in any case.
bool SaysYes(const std::string& text) {
  const std::string word = base::ToLower(text);
  return word == "true" || word == "y" || word == "yes" || word == "1";
}

/// Hosts take the key from the login profile only if their metadata say so.
void ResolveOsLogin(Reader& reader, core::JobSpec& spec) {
  if (!spec.ssh.os_login) return;
  const std::string& word = spec.tpu.metadata.emplace("enable-oslogin", "TRUE").first->second;
  if (SaysYes(word)) return;
  reader.Complain("ssh.os_login",
                  "ssh.os_login: true contradicts enable-oslogin: " + word + " of tpu.metadata",
                  "leave one of them out");
}

}  // namespace

void ResolveSsh(Reader& reader, core::JobSpec& spec) {
  core::SshSpec& ssh = spec.ssh;
  if (!reader.Has("ssh.user") && reader.Has("job.remote_user")) {
    ssh.user = reader.Text("job.remote_user");
    reader.Note("ssh.user", "job.remote_user");
  }
  if (ssh.user.empty()) {
    ssh.user = MakeLogin(reader.defaults().login);
    if (ssh.user == reader.defaults().login) reader.Note("ssh.user", "your login name");
  }
  if (!reader.Has("ssh.private_key")) {
    ssh.private_key = base::StatePaths{reader.defaults().state_dir}.KeyPath().string();
  }
  reader.Complain("ssh.private_key", CheckKey(ssh.private_key));
  CheckPublicKey(reader);
  ResolveIdentities(reader, ssh);
  CheckWay(reader, ssh);
  ResolveOsLogin(reader, spec);
  if (!reader.Has("ssh.port") && spec.cloud.endpoint == "local") ssh.port = 0;
}

}  // namespace jobman::config
