#pragma once

#include <string>

#include "jobman/base/result.hpp"
#include "jobman/cloud/error_map.hpp"

namespace jobman::cloud {

/// What an error is about, where one reason has several cures.
enum class About { kNothingElse, kAddresses, kTokenScope, kQuotaProject, kOsLogin };

/// What to do about an error of the service: a link, a command, the right value. May be empty.
std::string HintFor(base::Code code, base::Reason reason, About about, const ErrorContext& context);

/// What to do when something else than the service seems to have answered.
inline constexpr const char* kAskElsewhere =
    "check the endpoint; a proxy or a login page may have answered instead";

}  // namespace jobman::cloud
