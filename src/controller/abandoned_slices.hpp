#pragma once

#include <memory>
#include <string>
#include <vector>

#include "controller/job_book.hpp"
#include "controller/listing.hpp"

namespace jobman::controller {

/// Deletes what came of requests that jobs had given up already: slices with this store's labels
/// whose job holds another one, or none. That none of them is about to be held is certain: a job
/// holds a slice from before it is asked for. What belongs to no job of the store is left to
/// `jobman gc`.
base::Task<void> DeleteAbandonedSlices(std::shared_ptr<ports::SliceApi> api, ports::JobStore* store,
                                       const JobBook* book, std::string store_id, Listing listing);

}  // namespace jobman::controller
