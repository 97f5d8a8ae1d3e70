#pragma once

#include <string>

#include "jobman/client/context.hpp"
#include "jobman/config/load.hpp"

namespace jobman::client {

/// Checks before a job is created that its zone offers the accelerator type and the runtime
/// version. The cloud's answers are cached for a day; before one refuses anything it is asked
/// again. An error shows the key's place in the job file, and suggests the nearest name, lists what
/// is offered, or names zones that have the type. A cloud that cannot be asked is not an error,
/// because the job will wait for it: returns why it could not be asked, otherwise an empty text.
base::Task<base::Result<std::string>> CheckOffer(Context context, config::Loaded loaded);

}  // namespace jobman::client
