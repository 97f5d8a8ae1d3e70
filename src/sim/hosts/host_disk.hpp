#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "jobman/base/files.hpp"
#include "jobman/base/result.hpp"
#include "sim/hosts/host_fleet.hpp"
#include "sim/hosts/host_key.hpp"

namespace jobman::sim {

/// A login allowed by the metadata's `ssh-keys`.
struct Login {
  std::string user = {};
  std::string keys = {};  ///< lines of an authorized_keys file
};
/// The lines "USER:TYPE DATA COMMENT" of `ssh-keys`, by user. Names that are invalid in a password
/// file are left out.
std::vector<Login> LoginsOf(const Metadata& metadata);

using Environment = std::map<std::string, std::string>;

/// The shell of every user in a sandbox.
base::Path LoginShell();

/// The folder with the disk and the configuration of one host.
///
///   homes/USER        survives reboots
///   tmp/              emptied by every boot
///   etc/              sshd_config, host_key, keys/USER, passwd, group, boot_id, environment, ...;
///                     bash or sh: the login shell in a sandbox, or a script that runs wait
///                     while the host hangs;
///                     hang: while it is there, new commands wait, and print lines if it is not
///                     empty;
///                     full, other_key: of a HostFault; a boot removes `full`
///   state/            sshd.pid, sshd.log, startup.log: written by the host
class HostDisk {
 public:
  /// Paths and settings of sshd.
  struct Layout {
    base::Path root = {};               ///< the folder of this host
    base::Path homes = {};              ///< shared by many hosts; empty: in root
    base::Path homes_inside = "/home";  ///< homes/ as sshd sees it, in a sandbox
    base::Path etc = {};                ///< etc/ as sshd sees it
    base::Path state = {};              ///< state/ as sshd sees it
    int port = 0;                       ///< of sshd
    int metadata_port = 0;              ///< of the metadata server; 0: there is none
    Environment environment = {};       ///< of logins and of the startup script
    std::string extra = {};             ///< more lines for sshd_config
  };
  explicit HostDisk(Layout layout) : layout_(std::move(layout)) {}

  /// Creates the folders and writes the host key.
  base::Status Create(const HostKey& key);
  /// Writes a new boot id and the configuration for the addresses and metadata of `plan`, and
  /// empties tmp/.
  base::Status PrepareBoot(const HostPlan& plan);
  /// Allows the logins of `metadata`. Files keep their inodes: some are bound into a sandbox.
  base::Status WriteMetadata(const Metadata& metadata);
  /// Whether new commands wait, and print lines meanwhile; a boot ends it.
  base::Status SetHung(bool hung, bool trickles = false);
  /// A line of shell for whatever sshd starts: waits while the host hangs.
  std::string WaitWhileHung() const;
  /// The environment of logins and of the startup script.
  Environment EnvironmentOf(const HostPlan& plan) const;
  /// Whether sshd listens: it writes its pid file after that.
  bool IsUp() const;

  base::Path etc() const { return layout_.root / "etc"; }
  base::Path state() const { return layout_.root / "state"; }
  base::Path homes() const {
    return layout_.homes.empty() ? layout_.root / "homes" : layout_.homes;
  }
  base::Path tmp() const { return layout_.root / "tmp"; }

 private:
  base::Status WriteShell(bool waits);
  base::Status WriteWait();
  base::Status WriteEnvironment(const HostPlan& plan);
  base::Status WriteSshdConfig(const HostPlan& plan);

  Layout layout_;
};

/// Writes a file of a disk. It keeps its inode, because it may be bound into a running sandbox.
base::Status WriteInPlace(const base::Path& path, std::string_view content, mode_t mode = 0644);

/// The uid of every user in a sandbox.
inline constexpr int kSandboxUid = 1000;

}  // namespace jobman::sim
