#pragma once

#include <functional>
#include <optional>
#include <string>

#include "jobman/base/files.hpp"

namespace jobman::ssh {

using base::Path;
using base::Result;

/// Returns the passphrase of an encrypted key, or nothing. Must not block for long: it is called on
/// the loop. The default source is the environment variable JOBMAN_SSH_PASSPHRASE.
using PassphraseSource = std::function<std::optional<std::string>(const Path& key)>;
PassphraseSource EnvironmentPassphrase();

/// Makes sure that there is a key pair at `path`: if there is no file, creates an ed25519 key in
/// OpenSSH's format (mode 0600, the public key beside it as "<path>.pub", missing folders with
/// 0700). Never overwrites anything. Returns the public key as one line, "ssh-ed25519 AAAA...
/// comment". Errors: kKeyUnreadable, with what to do (mode too open, not a key, no permission).
Result<std::string> EnsureKey(const Path& path);

/// kKeyUnreadable when the key at `path` cannot be used to log in: it is unreadable, or it is
/// encrypted and neither `passphrase` nor an ssh-agent can unlock it.
base::Status CheckUsable(const Path& path, const PassphraseSource& passphrase);

/// The public half of the private key at `path` as one line: derived from it, or read from
/// "<path>.pub" if it is encrypted.
Result<std::string> PublicKeyLine(const Path& path);

}  // namespace jobman::ssh
