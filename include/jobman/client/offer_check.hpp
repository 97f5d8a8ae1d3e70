#pragma once

#include <string>

#include "jobman/client/context.hpp"
#include "jobman/config/load.hpp"

namespace jobman::client {

/// Asks the cloud whether the job's zone offers its accelerator type and runtime version, before
/// anything is created, and by the clock whether it may be asked for at all. Answers are kept for a
/// day. An error shows the key's place in the job file and names the nearest type, or what is
/// offered. A cloud that cannot be asked is no error, as the job waits for it later: gives back
/// why it could not, else an empty text.
base::Task<base::Result<std::string>> CheckOffer(Context context, config::Loaded loaded);

}  // namespace jobman::client
