#pragma once

#include <memory>

#include "controller/listing.hpp"
#include "jobman/ports/slice_api.hpp"

namespace jobman::controller {

/// What to do when a get call does not find it.
enum class Unfound {
  kDelete,  ///< delete it all the same: one wrong answer must not leave a slice of ours behind
  kLeave,
};

/// Deletes a queued resource or a node unless a get call shows it without the labels `ours`: a
/// name, and a list, may tell of somebody else's. Returns whether there was something to delete.
base::Task<base::Result<bool>> DeletePart(std::shared_ptr<ports::SliceApi> api, Labels ours,
                                          core::SliceRef part, Unfound unfound);

}  // namespace jobman::controller
