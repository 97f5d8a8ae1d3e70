#include "ssh/private_keys.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "jobman/base/env.hpp"
#include "jobman/base/trusted.hpp"
#include "jobman/ssh/ssh_library.hpp"
#include "ssh/error_map.hpp"

namespace jobman::ssh {
namespace {

base::Status CheckMode(const Path& path) {
  struct stat found = {};
  if (stat(path.c_str(), &found) != 0) {
    const int why = errno;
    return KeyUnreadable(
        fmt::format("private key {}: {}", path.string(), std::generic_category().message(why)),
        why == ENOENT ? "check ssh.private_key, or make one: ssh-keygen -t ed25519"
                      : "make it readable for your user");
  }
  if (!S_ISREG(found.st_mode))
    return KeyUnreadable(fmt::format("private key {} is not a file", path.string()),
                         "check ssh.private_key");
  if (found.st_uid == geteuid() && (found.st_mode & 077U) != 0)
    return KeyUnreadable(fmt::format("private key {} can be read by others (mode {:04o})",
                                     path.string(), found.st_mode & 07777U),
                         "chmod 600 " + path.string());
  const auto trusted = base::CheckTrusted(
      path, {.what = "the private key", .instead = "name a key of your own in ssh.private_key"});
  if (!trusted.ok()) return KeyUnreadable(trusted.error().message, trusted.error().hint);
  return base::Ok();
}

/// Data for libssh's passphrase callback, and whether it was called.
struct Question {
  const PassphraseSource& source;
  const Path& path;
  bool asked = false;
  bool answered = false;
};

int Answer(const char* /*prompt*/, char* buffer, size_t size, int /*echo*/, int /*verify*/,
           void* data) noexcept {
  auto& question = *static_cast<Question*>(data);
  question.asked = true;
  const auto passphrase =
      question.source ? question.source(question.path) : std::optional<std::string>{};
  if (!passphrase || passphrase->size() >= size) return -1;
  question.answered = true;
  std::memcpy(buffer, passphrase->c_str(), passphrase->size() + 1);
  return 0;
}

}  // namespace

PassphraseSource EnvironmentPassphrase() {
  return [](const Path&) { return base::GetEnv("JOBMAN_SSH_PASSPHRASE"); };
}

Result<PrivateKeys::Key> ReadPrivateKey(const Path& path, const PassphraseSource& passphrase) {
  JM_TRY(OpenSshLibrary());
  JM_TRY(CheckMode(path));
  auto text = base::ReadFile(path);
  // Too many open files or no memory: a later try may succeed.
  if (!text.ok() && text.error().code == base::Code::kResourceExhausted)
    return std::move(text).error().With("private key");
  if (!text.ok())
    return KeyUnreadable("private key " + path.string() + ": " + text.error().message,
                         "make it readable for your user");
  Question question{.source = passphrase, .path = path};
  ssh_key key = nullptr;
  if (ssh_pki_import_privkey_base64(text->c_str(), nullptr, Answer, &question, &key) == SSH_OK)
    return PrivateKeys::Key(key, ssh_key_free);
  if (question.answered)
    return KeyUnreadable("private key " + path.string() + ": the passphrase is wrong",
                         "correct JOBMAN_SSH_PASSPHRASE, or load the key into ssh-agent");
  if (question.asked)
    return KeyUnreadable("private key " + path.string() + " is encrypted",
                         "load it into ssh-agent (ssh-add), or set JOBMAN_SSH_PASSPHRASE");
  return KeyUnreadable(path.string() + " is not a private key that can be read",
                       "check ssh.private_key; a public key ends in .pub");
}

Result<PrivateKeys::Key> PrivateKeys::Load(const Path& path) {
  std::error_code failed;
  const auto changed = std::filesystem::last_write_time(path, failed);
  auto& entry = loaded_[path];
  if (!failed && entry.key && entry.changed == changed) return entry.key;
  JM_ASSIGN_OR_RETURN(auto key, ReadPrivateKey(path, passphrase_));
  entry = Loaded{.changed = changed, .key = key};
  return key;
}

}  // namespace jobman::ssh
