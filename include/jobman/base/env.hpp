#pragma once

#include <optional>
#include <string>

namespace jobman::base {

/// An environment variable; nothing when it is unset or empty.
std::optional<std::string> GetEnv(const std::string& name);

}  // namespace jobman::base
