#include "jobman/ssh/keys.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "jobman/base/env.hpp"
#include "jobman/base/handle.hpp"
#include "jobman/base/random.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/ssh/ssh_library.hpp"
#include "ssh/error_map.hpp"
#include "ssh/private_keys.hpp"

namespace jobman::ssh {
namespace {

Path PublicPath(const Path& path) {
  return path.string() + ".pub";
}

Result<std::string> PublicLine(const ssh_key key) {
  char* text = nullptr;
  const char* type = ssh_key_type(key) == SSH_KEYTYPE_ECDSA_P256 ||
                             ssh_key_type(key) == SSH_KEYTYPE_ECDSA_P384 ||
                             ssh_key_type(key) == SSH_KEYTYPE_ECDSA_P521
                         ? ssh_pki_key_ecdsa_name(key)
                         : ssh_key_type_to_char(ssh_key_type(key));
  if (type == nullptr || ssh_pki_export_pubkey_base64(key, &text) != SSH_OK)
    return base::Internal("cannot write the public half of a key");
  std::string line = std::string(type) + " " + text + " jobman";
  ssh_string_free_char(text);
  return line;
}

/// Writes a file that must not exist: completely or not at all, and never over another one.
base::Status WriteNew(const Path& path, const std::string& text) {
  const Path draft = path.string() + ".new-" + base::RandomHex(4);
  JM_TRY(base::WriteFileAtomic(draft, text, 0600));
  const int failed = link(draft.c_str(), path.c_str()) == 0 ? 0 : errno;
  unlink(draft.c_str());
  // Another process was faster; its key is as good as ours.
  if (failed != 0 && failed != EEXIST)
    return base::FromErrno(failed, "creating the key " + path.string());
  return base::Ok();
}

base::Status MakeKey(const Path& path) {
  JM_TRY(OpenSshLibrary());
  JM_TRY(base::EnsureDir(path.parent_path(), 0700));
  ssh_key raw = nullptr;
  if (ssh_pki_generate(SSH_KEYTYPE_ED25519, 0, &raw) != SSH_OK)
    return base::Internal("cannot generate an ed25519 key");
  const base::UniqueHandle<ssh_key_struct, ssh_key_free> key(raw);
  char* text = nullptr;
  if (ssh_pki_export_privkey_base64(key.get(), nullptr, nullptr, nullptr, &text) != SSH_OK)
    return base::Internal("cannot write an ed25519 key");
  const std::string content(text);
  ssh_string_free_char(text);
  return WriteNew(path, content);
}

}  // namespace

Result<std::string> PublicKeyLine(const Path& path) {
  bool encrypted = false;
  const auto asked = [&encrypted](const Path&) {
    encrypted = true;
    return std::optional<std::string>();
  };
  auto key = ReadPrivateKey(path, asked);
  if (key.ok()) return PublicLine(key->get());
  const auto beside = base::ReadFile(PublicPath(path));
  const std::string line(beside.ok() ? base::Trim(*beside) : "");
  // An encrypted key: only the file beside it has the public half. Any other error is reported.
  if (encrypted && !line.empty() && line.find('\n') == std::string::npos) return line;
  return std::move(key).error();
}

Result<std::string> EnsureKey(const Path& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(std::filesystem::symlink_status(path, ignored))) {
    JM_TRY(MakeKey(path));
  }
  JM_ASSIGN_OR_RETURN(const std::string line, PublicKeyLine(path));
  // Best effort: OpenSSH wants this file, jobman does not need it.
  if (!std::filesystem::exists(PublicPath(path), ignored))
    (void)base::WriteFileAtomic(PublicPath(path), line + "\n", 0644);
  return line;
}

base::Status CheckUsable(const Path& path, const PassphraseSource& passphrase) {
  const auto key = ReadPrivateKey(path, passphrase);
  // The login will show whether the agent has this key.
  if (key.ok() || base::GetEnv("SSH_AUTH_SOCK")) return base::Ok();
  return key.error();
}

}  // namespace jobman::ssh
