#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "jobman/base/files.hpp"
#include "jobman/client/context.hpp"
#include "jobman/core/job.hpp"
#include "jobman/ssh/fan_out.hpp"

namespace jobman::client {

/// What is made equal to what.
struct SyncOrder {
  std::string job = {};
  base::Path folder = {};                 ///< of this machine
  std::string to = {};                    ///< the folder on the hosts
  std::vector<std::string> exclude = {};  ///< patterns as in .gitignore
  bool remove = false;                    ///< also remove what is only there
  bool dry_run = false;
  /// The addresses by which the hosts reach each other, as PeersOf() has them; empty: not at all.
  std::vector<std::string> peers = {};
};

/// Of "DIR" and "JOB:PATH". kInvalidArgument unless PATH names a folder of its own: not the home
/// folder, not the root, nothing with "..".
base::Result<SyncOrder> PlanSync(const std::string& folder, const std::string& target);

/// The internal addresses of the job's hosts, by number, if they may log in to each other: with
/// ssh.host_to_host, when no setup step runs. Otherwise none.
std::vector<std::string> PeersOf(const core::Job& job);

/// What became of it.
struct Synced {
  struct Host {
    int host = 0;
    std::optional<base::Error> error = {};
    std::int64_t sent = 0;     ///< files and links whose content was sent
    std::int64_t changed = 0;  ///< files and folders of which only mode or time was set
    std::int64_t removed = 0;  ///< files and links
    std::int64_t bytes = 0;    ///< of archives that it was sent from here
    std::int64_t relayed = 0;  ///< of archives that it was given by other hosts
    bool nothing = false;      ///< it was equal already
  };
  /// What would be done to these hosts, or was.
  struct Change {
    std::vector<int> hosts = {};
    std::vector<std::string> send = {};
    std::vector<std::string> change = {};
    std::vector<std::string> remove = {};  ///< folders with a slash at the end
  };
  std::vector<Host> hosts = {};
  std::int64_t files = 0;  ///< files and links in the folder here
  std::int64_t bytes = 0;  ///< that went over the uplink: archives, names and commands
  std::vector<Change> changes = {};
  std::vector<std::string> notes = {};
};

/// How far it has come.
struct SyncProgress {
  std::int64_t read = 0;       ///< bytes of files here that were hashed
  std::int64_t sent = 0;       ///< bytes to all hosts
  std::int64_t total = 0;      ///< of those that are known to be sent
  std::vector<int> busy = {};  ///< hosts that are not done; empty while files are read here
};
using SyncTold = std::function<void(const SyncProgress&)>;

/// Makes the folder on each of the hosts equal to the one here, as docs/adr/0029-sync.md has it:
/// only what differs is sent, each file is replaced in one step, and what the hosts alone have
/// stays unless `remove`. Each host is dealt with by itself, so that one that fails or hangs costs
/// the others nothing. Hosts that differ in the same way share the archive; memory is bounded. With
/// `peers` an archive of a megabyte up to 512 goes over the uplink once, and from host to host.
///
/// Errors: kNotFound if there is no such folder; kInvalidArgument if it has no files or one cannot
/// be read; kCancelled when interrupted, after which each file on the hosts is the old or the new
/// one. What a host refuses is in its row. Not from a coroutine.
base::Result<Synced> SyncToHosts(const Context& context, std::vector<ssh::FanOutHost> hosts,
                                 const SyncOrder& order, SyncTold told);

}  // namespace jobman::client
