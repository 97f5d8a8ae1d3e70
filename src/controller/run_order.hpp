#pragma once

#include <functional>
#include <optional>
#include <string>

#include "jobman/remote/host_script.hpp"

namespace jobman::controller {

/// The job's present stage on host number `host`. What was done in a setup step is not done again
/// in a later attempt, but after a reboot: see remote::RenewCall.
core::RunId RunOn(const core::Job& job, const std::string& store_id, int host);
/// The id of the command in this attempt: also what those of earlier attempts are found by.
std::string CommandRunOn(const core::Job& job, const std::string& store_id, int host);

using SecretValue = std::function<std::optional<std::string>(const core::SecretRef&)>;
/// What to run there. kFailedPrecondition names a secret that is not known.
base::Result<remote::RunOrder> OrderFor(const core::Job& job, const std::string& store_id, int host,
                                        const SecretValue& secret);

}  // namespace jobman::controller
