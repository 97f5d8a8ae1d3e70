#pragma once

#include <memory>
#include <string>

#include "controller/job_book.hpp"
#include "controller/listing.hpp"

namespace jobman::controller {

/// Deletes slices of abandoned requests: slices with this store's labels whose job holds another
/// slice, or none. No job is about to adopt them: a job records a slice before it requests it.
/// Slices that belong to no job of the store are left to `jobman gc`.
base::Task<void> DeleteAbandonedSlices(std::shared_ptr<ports::SliceApi> api, ports::JobStore* store,
                                       const JobBook* book, std::string store_id, Listing listing);

}  // namespace jobman::controller
