#pragma once

#include <string>
#include <vector>

#include "jobman/client/guests.hpp"

namespace jobman::client {

/// A job whose record cannot be read here: a newer jobman wrote it, or it is damaged.
struct UnreadJob {
  core::JobId id = {};
  std::string name = {};
  base::Error error = {};
};

/// The jobs whose slices may have nodes, or get them, by number.
struct SliceHolders {
  std::vector<core::Job> jobs = {};        ///< each with a slice
  std::vector<UnreadJob> unreadable = {};  ///< they may hold one
};
/// An error of the store is returned; only that of a single record is not.
base::Task<base::Result<SliceHolders>> JobsWithSlices(Context context);

/// Brings the nodes of these jobs in line with the guest, who is recorded already: adds the key
/// where the guest is let in, takes it away where Guest::left_on has the job. Other jobs have no
/// row. In the order of the jobs; those that cannot be read come last, as failed.
base::Task<std::vector<GuestVisit>> VisitNodes(Context context, core::Guest guest,
                                               SliceHolders holders);

}  // namespace jobman::client
