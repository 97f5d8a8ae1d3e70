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
};

/// kInvalidArgument unless one side is on this machine and the other on the hosts of one job, and
/// all sources have names that differ; or if paths of hosts are too long for one command.
base::Result<CopyPlan> PlanCopy(const std::vector<std::string>& words);

/// What became of a copy.
struct Copied {
  struct Host {
    int host = 0;
    std::optional<base::Error> error = {};
    bool partly = false;  ///< there is an error, and some files may have their final names
  };
  std::vector<Host> hosts = {};
  std::int64_t bytes = 0;               ///< sent or received in all, as an archive
  std::vector<std::string> notes = {};  ///< "host 0: train.log: file changed as we read it"
};

/// Called as bytes move, when a host ends, and each second; `busy` has the hosts that have not.
using CopyProgress = std::function<void(std::int64_t bytes, const std::vector<int>& busy)>;

/// Copies files and folders of this machine to `to` on each of the hosts; what was sent takes its
/// final names on a host once all of it is there. Modes are kept; folders become accessible for
/// their owner, owners and hard links are not kept, symbolic links stay links. Reads each source
/// once, and no faster than the slowest host writes; memory is bounded.
///
/// Errors: kNotFound for a source; what keeps tar from reading one, after which no host has
/// anything new; kCancelled when interrupted, which says what the hosts may still have: nothing has
/// its final name there, or all of it. What a host refuses is in its row. Not from a coroutine.
base::Result<Copied> CopyToHosts(const Context& context, std::vector<ssh::FanOutHost> hosts,
                                 const CopyPlan& plan, CopyProgress progress);

/// Copies files and folders of the hosts to `to` on this machine, or with `folders` to the folders
/// host-N in it, as CopyToHosts() does. Hosts are not trusted: nothing is written outside of where
/// the sources belong, through no symbolic link, and nothing but files, folders and links is made,
/// none with a set-user-ID bit.
base::Result<Copied> CopyFromHosts(const Context& context, std::vector<ssh::FanOutHost> hosts,
                                   const CopyPlan& plan, bool folders, CopyProgress progress);

}  // namespace jobman::client
