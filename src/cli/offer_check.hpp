#pragma once

#include "cli/app.hpp"
#include "jobman/core/job_spec.hpp"

namespace jobman::cli {

/// Asks the cloud whether the job's zone offers its accelerator type and runtime version, before
/// anything is created. Answers are kept for a day. An error names the nearest type, or zones; a
/// cloud that cannot be reached is no error: the job waits for it later.
base::Status CheckOffer(App& app, ports::Store& store, const core::JobSpec& spec);

}  // namespace jobman::cli
