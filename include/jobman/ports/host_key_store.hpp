#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "jobman/base/task.hpp"

namespace jobman::ports {

using base::Result;
using base::Status;
using base::Task;

/// Pinned SSH host keys, by HostTarget::identity: a machine, not an address. A key is written
/// "<type> <base64>", as in known_hosts files: "ssh-ed25519 AAAA...". The object must outlive its
/// coroutines.
class HostKeyStore {
 public:
  virtual ~HostKeyStore() = default;

  /// Nothing when no key is pinned for this machine.
  virtual Task<Result<std::optional<std::string>>> PinnedKey(std::string identity) = 0;
  /// The pinned keys of these machines, by identity, in one read; those without one are left out.
  virtual Task<Result<std::map<std::string, std::string>>> PinnedKeys(
      std::vector<std::string> identities) = 0;
  /// Pins the key, replacing any earlier one.
  virtual Task<Status> PinKey(std::string identity, std::string key) = 0;
};

}  // namespace jobman::ports
