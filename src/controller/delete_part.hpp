#pragma once

#include <memory>

#include "controller/listing.hpp"
#include "jobman/ports/slice_api.hpp"

namespace jobman::controller {

/// Deletes a queued resource or a node that a get call shows with the labels `ours`: a name, and a
/// list, may tell of somebody else's. Returns whether there was something of ours.
base::Task<base::Result<bool>> DeletePart(std::shared_ptr<ports::SliceApi> api, Labels ours,
                                          core::SliceRef part);

}  // namespace jobman::controller
