#pragma once

#include <string>
#include <vector>

#include "jobman/client/context.hpp"
#include "jobman/config/load.hpp"

namespace jobman::client {

/// Checks before a job is created that its buckets (section gcsfuse) are in the region of its
/// slice: what is read from elsewhere is billed, and slow. The locations are cached for a day.
/// Refuses a bucket that is elsewhere, in a multi-region, or nowhere. One that cannot be looked at
/// is not an error: returns a sentence for each.
base::Task<base::Result<std::vector<std::string>>> CheckBuckets(Context context,
                                                                config::Loaded loaded);

}  // namespace jobman::client
