#pragma once

#include <map>
#include <string>
#include <vector>

#include "jobman/base/files.hpp"
#include "jobman/base/result.hpp"
#include "sim/fleet.hpp"
#include "sim/host_key.hpp"

namespace jobman::sim {

/// A login that the metadata's `ssh-keys` allows.
struct Login {
  std::string user = {};
  std::string keys = {};  ///< lines of an authorized_keys file
};
/// The lines "USER:TYPE DATA COMMENT" of `ssh-keys`, by user. User names that could be no name in
/// a password file are left out.
std::vector<Login> LoginsOf(const Metadata& metadata);

/// Names to values.
using Environment = std::map<std::string, std::string>;

/// The folder that is one host's disk and configuration.
///
///   homes/USER        persists over reboots
///   tmp/              emptied by every boot
///   etc/              sshd_config, host_key, keys/USER, passwd, group, boot_id, environment, ...
///   state/            sshd.pid, sshd.log, startup.log: written from inside
class HostDisk {
 public:
  /// How the server runs. `inside` is where etc/ and state/ appear to it.
  struct Layout {
    base::Path root = {};          ///< the folder of this host
    base::Path etc = {};           ///< etc/ as sshd sees it
    base::Path state = {};         ///< state/ as sshd sees it
    int port = 0;                  ///< of sshd
    int metadata_port = 0;         ///< of the metadata server; 0: there is none
    Environment environment = {};  ///< of logins and of the startup script
    std::string extra = {};        ///< more lines for sshd_config
  };
  explicit HostDisk(Layout layout) : layout_(std::move(layout)) {}

  /// Makes the folders and keeps the host key.
  base::Status Create(const HostKey& key);
  /// New boot id, empty tmp/, configuration for the present addresses and metadata.
  base::Status PrepareBoot(const HostPlan& plan);
  /// Lets the logins of `metadata` in. Files are written in place: some are bound into a sandbox.
  base::Status WriteMetadata(const Metadata& metadata);
  /// What logins and the startup script find in their environment.
  Environment EnvironmentOf(const HostPlan& plan) const;
  /// Whether sshd listens: it writes its pid file after that.
  bool IsUp() const;

  base::Path etc() const { return layout_.root / "etc"; }
  base::Path state() const { return layout_.root / "state"; }
  base::Path homes() const { return layout_.root / "homes"; }
  base::Path tmp() const { return layout_.root / "tmp"; }

 private:
  base::Status WriteEnvironment(const HostPlan& plan);
  base::Status WriteSshdConfig(const HostPlan& plan);

  Layout layout_;
};

/// The uid that everybody has inside a sandbox.
inline constexpr int kSandboxUid = 1000;

}  // namespace jobman::sim
