#pragma once

#include <string>

#include "jobman/core/job.hpp"

namespace jobman::controller {

/// The create request for the job's slice: its spec, our labels, the SSH key and the startup script
/// in the node's metadata (keys `ssh-keys` and `startup-script`).
core::SliceRequest MakeSliceRequest(const core::Job& job, const std::string& store_id,
                                    const std::string& public_key);

}  // namespace jobman::controller
