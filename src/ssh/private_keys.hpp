#pragma once

#include <libssh/libssh.h>

#include <map>
#include <memory>

#include "jobman/ssh/keys.hpp"

namespace jobman::ssh {

/// Private keys. Each is read and parsed once for many hosts, and again when its file changes.
class PrivateKeys {
 public:
  using Key = std::shared_ptr<ssh_key_struct>;
  explicit PrivateKeys(PassphraseSource passphrase) : passphrase_(std::move(passphrase)) {}
  /// kKeyUnreadable says why: missing, mode, encrypted with no or a wrong passphrase, not a key.
  Result<Key> Load(const Path& path);

 private:
  struct Loaded {
    std::filesystem::file_time_type changed = {};
    Key key = {};
  };
  PassphraseSource passphrase_;
  std::map<std::string, Loaded> loaded_;
};

/// Reads one key; calls `passphrase` if the key is encrypted.
Result<PrivateKeys::Key> ReadPrivateKey(const Path& path, const PassphraseSource& passphrase);

}  // namespace jobman::ssh
