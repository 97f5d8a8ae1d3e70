#pragma once

#include "cli/app.hpp"
#include "jobman/config/load.hpp"

namespace jobman::cli {

/// Asks the cloud whether the job's zone offers its accelerator type and runtime version, before
/// anything is created, and by the clock whether it may be asked for at all. Answers are kept for a
/// day. An error shows the key's place in the job file and names the nearest type, or what is
/// offered; a cloud that cannot be reached is no error: the job waits for it later.
base::Status CheckOffer(App& app, ports::Cache& cache, const config::Loaded& loaded);

}  // namespace jobman::cli
