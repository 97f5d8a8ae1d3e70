#pragma once

#include <vector>

#include "jobman/client/guests.hpp"

namespace jobman::client {

/// The jobs whose slices may have nodes, or get them, by number. Records that cannot be read are
/// left out.
base::Task<base::Result<std::vector<core::Job>>> JobsWithSlices(Context context);

/// Brings the nodes of these jobs in line with the guest, who is recorded already: adds the key
/// where the guest is let in, takes it away where Guest::left_on has the job. Other jobs have no
/// row. In the order of the jobs.
base::Task<std::vector<GuestVisit>> VisitNodes(Context context, core::Guest guest,
                                               std::vector<core::Job> jobs);

}  // namespace jobman::client
