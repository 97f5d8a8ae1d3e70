#pragma once

#include <optional>
#include <string>

#include "jobman/base/result.hpp"
#include "jobman/base/time.hpp"

namespace jobman::cli {

/// The time that --since means: "10m" before `now`, or an RFC 3339 time. Nothing if it is not
/// given.
base::Result<std::optional<base::TimePoint>> ReadSince(const std::optional<std::string>& text,
                                                       base::TimePoint now);

}  // namespace jobman::cli
