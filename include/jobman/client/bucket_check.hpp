#pragma once

#include <string>
#include <vector>

#include "jobman/client/context.hpp"
#include "jobman/config/load.hpp"

namespace jobman::client {

/// Checks before a job is created that all buckets that it names (core::BucketsOf) are in the
/// region of its slice: what is read from elsewhere is billed, and slow. Several are looked up at a
/// time, and the locations cached for a day. Refuses, at their places in the job file and with the
/// price of a TB, buckets that are elsewhere, in a multi-region or nowhere, and those that this
/// account may not look at. When the service could not be asked (no credentials, no network, a
/// fault, the API disabled) the error is that of the service, with the buckets and the price: ADR
/// 37. With allow_cross_region it returns a sentence for each instead. A cloud without buckets,
/// such as the simulator, is asked nothing.
base::Task<base::Result<std::vector<std::string>>> CheckBuckets(Context context,
                                                                config::Loaded loaded);

}  // namespace jobman::client
