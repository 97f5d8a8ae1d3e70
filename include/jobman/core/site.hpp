#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "jobman/base/json.hpp"
#include "jobman/core/job.hpp"

namespace jobman::core {

/// Where a store is: what tells it from a copy of itself (ADR 16). Empty members are unknown.
struct Site {
  std::string machine = {};             ///< made from the machine's id
  std::vector<std::string> cards = {};  ///< burnt-in addresses of its network cards
  std::string host = {};                ///< the machine's name, for messages only
  std::string path = {};                ///< of the store's folder, without symbolic links
  std::uint64_t file = 0;               ///< inode of the store's file
  bool shared = false;                  ///< its file system is used by several machines
  friend bool operator==(const Site&, const Site&) = default;
};

/// The recorded site that is the one seen `here`; nothing when the store may be a copy. The file
/// must be the same, since a copy is another one; on a machine that cannot be identified the path
/// too; on another machine both must see it on a shared file system.
std::optional<std::size_t> FindSite(const Site& here, const std::vector<Site>& known);
/// The list with `here` as its last, in place of an earlier record of this machine and path. The
/// oldest are forgotten.
std::vector<Site> WithSite(std::vector<Site> known, const Site& here);
/// "/home/alice/.local/state/jobman/store on login1"
std::string SiteText(const Site& site);

base::Json SitesToJson(const std::vector<Site>& sites);
base::Result<std::vector<Site>> SitesFromJson(const base::Json& json);

/// The job in a copy of its store that becomes a store of its own: it is over, and holds nothing,
/// because the original has its slice and goes on with it. Nothing for a job that was at rest.
std::optional<Job> LeftToOriginal(Job job, TimePoint now);

}  // namespace jobman::core
