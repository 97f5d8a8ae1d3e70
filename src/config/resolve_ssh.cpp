#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "config/names.hpp"
#include "config/resolve.hpp"
#include "jobman/base/handle.hpp"
#include "jobman/base/state_paths.hpp"
#include "jobman/base/trusted.hpp"

namespace jobman::config {
namespace {

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
  if (!reader.Has("ssh.port") && spec.cloud.endpoint == "local") ssh.port = 0;
}

}  // namespace jobman::config
