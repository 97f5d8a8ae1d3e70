#pragma once

#include <memory>
#include <string>
#include <vector>

#include "jobman/client/storage.hpp"

namespace jobman::client {

/// A refusal without a hint gets one: the role, and the service to enable in the project.
base::Error WithBucketRole(base::Error error, const std::string& role, const std::string& service,
                           const std::string& project);
/// The buckets that the query names, in its order. Several are looked at at a time; each fails by
/// itself, with kDeadlineExceeded if it was not seen within the query's limit.
base::Task<std::vector<BucketRow>> FetchNamedBuckets(std::shared_ptr<ports::BucketList> list,
                                                     StorageQuery query);

}  // namespace jobman::client
