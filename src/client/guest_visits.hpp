#pragma once

#include <vector>

#include "client/slice_holders.hpp"
#include "jobman/client/guests.hpp"

namespace jobman::client {

/// Brings the nodes of these jobs in line with the guest, who is recorded already: adds the key
/// where the guest is let in, takes it away where Guest::left_on has the job. Other jobs have no
/// row. In the order of the jobs; those that cannot be read come last, as failed.
base::Task<std::vector<GuestVisit>> VisitNodes(Context context, core::Guest guest,
                                               SliceHolders holders);

}  // namespace jobman::client
