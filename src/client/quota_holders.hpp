#pragma once

#include <vector>

#include "jobman/client/quota.hpp"

namespace jobman::client {

/// The nodes of the project, in all zones, with the jobs of this store that they are of. A
/// simulator that is not running has none, and is not started.
base::Task<base::Result<std::vector<QuotaHolder>>> FetchHolders(Context context, QuotaQuery query);

}  // namespace jobman::client
