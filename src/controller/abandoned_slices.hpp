#pragma once

#include <memory>
#include <string>

#include "controller/job_book.hpp"
#include "controller/listing.hpp"

namespace jobman::controller {

/// Deletes slices of abandoned requests: slices with this store's labels that their job asked for
/// and gave up, by its own record (Job::abandoned, or an attempt that has ended), and does not
/// hold. No job is about to adopt them: a name is never used for a second slice. What carries our
/// labels and is on no record, such as a slice of a copy of this store, is left to `jobman gc`.
base::Task<void> DeleteAbandonedSlices(std::shared_ptr<ports::SliceApi> api, ports::JobStore* store,
                                       const JobBook* book, std::string store_id, Listing listing);

}  // namespace jobman::controller
