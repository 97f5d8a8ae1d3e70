#pragma once

#include <string>

#include "jobman/base/result.hpp"
#include "jobman/cloud/error_map.hpp"

namespace jobman::cloud {

/// What to do about an error of the service: a link, a command, the right value. `message` is the
/// service's own text. May be empty.
std::string HintFor(base::Code code, base::Reason reason, const std::string& message,
                    const ErrorContext& context);

}  // namespace jobman::cloud
