#pragma once

#include <optional>
#include <string>

namespace jobman::cli {

/// The project of a machine of Google's (auth::ProjectOfMachine), asked for here and now: it blocks
/// for 2 s at most. Nothing elsewhere, without a request.
std::optional<std::string> MachineProject();

}  // namespace jobman::cli
