#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <system_error>

#include "config/build.hpp"
#include "config/names.hpp"
#include "jobman/base/handle.hpp"
#include "jobman/base/state_paths.hpp"

namespace jobman::config {
namespace {

/// Whether the key can be used. One that does not exist can: it is made.
base::Status CheckKey(const base::Path& key) {
  struct stat info = {};
  if (::stat(key.c_str(), &info) != 0) {
    return errno == ENOENT || errno == ENOTDIR
               ? base::Ok()
               : base::FromErrno(errno, "looking at " + key.string());
  }
  base::Error error = base::InvalidArgument({});
  error.reason = base::Reason::kKeyUnreadable;
  if (!S_ISREG(info.st_mode)) {
    error.message = key.string() + " is no file";
    error.hint = "name the private key itself, not its folder";
    return error;
  }
  if ((info.st_mode & 077U) != 0) {
    error.message = key.string() + " may be used by others than its owner";
    error.hint = "run: chmod 600 " + key.string();
    return error;
  }
  const base::UniqueFd fd(::open(key.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd) return base::Ok();
  error.message = key.string() + " cannot be read: " + std::generic_category().message(errno);
  error.hint = "name a key of yours in ssh.private_key";
  return error;
}

}  // namespace

core::SshSpec BuildSsh(Reader& reader, const core::JobSpec& spec) {
  core::SshSpec ssh;
  for (const std::string path : {"job.remote_user", "ssh.user"}) {
    if (!reader.Has(path)) continue;
    ssh.user = reader.Text(path);
    reader.Complain(path, CheckLogin(ssh.user));
    if (path == "job.remote_user") reader.Note("ssh.user", path);
  }
  if (ssh.user.empty()) {
    ssh.user = MakeLogin(reader.defaults().login);
    if (ssh.user == reader.defaults().login) reader.Note("ssh.user", "your login name");
  }
  ssh.private_key = base::StatePaths{reader.defaults().state_dir}.KeyPath().string();
  if (reader.Has("ssh.private_key")) {
    ssh.private_key = reader.ResolvePath("ssh.private_key", reader.Text("ssh.private_key"));
  }
  reader.Complain("ssh.private_key", CheckKey(ssh.private_key));
  ssh.port = reader.Number("ssh.port").value_or(spec.cloud.endpoint == "local" ? 0 : 22);
  if (ssh.port > 65535) reader.Complain("ssh.port", "ssh.port: ports end at 65535");
  return ssh;
}

}  // namespace jobman::config
