#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "jobman/base/files.hpp"
#include "jobman/client/context.hpp"
#include "jobman/ssh/fan_out.hpp"

namespace jobman::client {

/// How long a host may neither take nor send anything during a copy.
inline constexpr base::Duration kCopySilence = std::chrono::minutes{5};

/// One side of a copy: "JOB:PATH", or a path of this machine.
struct CopyPlace {
  std::string job = {};  ///< empty: this machine
  std::string path = {};
};

/// As scp reads it: what has a colon before its first slash names a job.
CopyPlace ParseCopyPlace(const std::string& word);

/// What is copied, and where to.
struct CopyPlan {
  std::string job = {};  ///< the side that is on the hosts
  bool to_hosts = false;
  std::vector<std::string> sources = {};
  std::string to = {};
  /// How long hosts that cannot be reached, or whose connection broke, are tried again once the
  /// others are done; it begins anew whenever one got on. Nothing: one try.
  base::Duration patience = {};
};

/// kInvalidArgument unless one side is on this machine and the other on the hosts of one job, and
/// all sources have names that differ; or if paths of hosts are too long for one command.
base::Result<CopyPlan> PlanCopy(const std::vector<std::string>& words);

/// What became of a copy.
struct Copied {
  struct Host {
    int host = 0;
    std::optional<base::Error> error = {};
    bool partly = false;       ///< there is an error, and some files may have their final names
    std::int64_t bytes = 0;    ///< sent to it or received from it by its last try
    std::int64_t resumed = 0;  ///< of the archive, there from an earlier try and not moved again
    base::Duration took = {};  ///< of its last try
  };
  std::vector<Host> hosts = {};
  std::int64_t bytes = 0;               ///< sent or received in all, as an archive
  std::vector<std::string> notes = {};  ///< "host 0: train.log: file changed as we read it"
};

/// How far a copy is.
struct CopyState {
  std::int64_t bytes = 0;      ///< of the archive, or of the archives of all hosts
  std::int64_t total = 0;      ///< about how long that will be; 0: not known
  int hosts = 0;               ///< in all
  std::vector<int> busy = {};  ///< those that are not done
};

/// Called as bytes move, when a host ends, and each second.
using CopyProgress = std::function<void(const CopyState& state)>;

/// Copies files and folders of this machine to `to` on each of the hosts; what was sent takes its
/// final names on a host once all of it is there. Modes and times are kept; folders become
/// accessible for their owner, owners and hard links are not kept, symbolic links stay links. Reads
/// each source once a try, and no faster than the slowest host writes; memory is bounded.
///
/// What arrived before a connection broke, or an interrupt came, stays in a hidden folder beside
/// the target. A second call for the same sources and target goes on from there if its hash is that
/// of the same part of the archive, which has names, modes, sizes and times too; otherwise it
/// begins anew. One such folder a copy and host; the next copy to the same place removes it a day
/// later. Hosts may share the target: as long as one of them lacks the copy, a folder that the copy
/// made is its new name for all, and not one to put it into.
///
/// Errors: kNotFound for a source; what keeps tar from reading one, after which no host has
/// anything new; kCancelled when interrupted. What a host refuses is in its row. Not from a
/// coroutine.
base::Result<Copied> CopyToHosts(const Context& context, std::vector<ssh::FanOutHost> hosts,
                                 const CopyPlan& plan, CopyProgress progress);

/// Copies files and folders of the hosts to `to` on this machine, or with `folders` to the folders
/// host-N in it, as CopyToHosts() does. Hosts are not trusted: nothing is written outside of where
/// the sources belong, through no symbolic link, and nothing but files, folders and links is made,
/// none with a set-user-ID bit.
base::Result<Copied> CopyFromHosts(const Context& context, std::vector<ssh::FanOutHost> hosts,
                                   const CopyPlan& plan, bool folders, CopyProgress progress);

}  // namespace jobman::client
