#pragma once

#include <map>
#include <optional>
#include <string>

#include "jobman/base/result.hpp"

namespace jobman::ssh {

/// Where host keys are pinned, by HostTarget::identity: a machine, not an address. A key is written
/// "<type> <base64>", as in known_hosts files: "ssh-ed25519 AAAA...". Calls do not wait.
class KnownHosts {
 public:
  virtual ~KnownHosts() = default;
  /// The pinned key; nothing when this machine was never seen.
  virtual base::Result<std::optional<std::string>> Find(const std::string& identity) = 0;
  /// Pins, in place of what was pinned before.
  virtual base::Status Pin(const std::string& identity, const std::string& key) = 0;
};

/// Pins that last as long as the object: for tests and one-shot commands.
class MemoryKnownHosts final : public KnownHosts {
 public:
  base::Result<std::optional<std::string>> Find(const std::string& identity) override;
  base::Status Pin(const std::string& identity, const std::string& key) override;

 private:
  std::map<std::string, std::string> keys_;
};

}  // namespace jobman::ssh
