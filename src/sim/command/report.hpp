#pragma once

#include <string>

#include "jobman/base/result.hpp"
#include "sim/wire/json.hpp"

namespace jobman::sim {

/// What Simulator::Shutdown gives back, as text: what nobody deleted, or that nothing is left.
std::string LeakReport(const Json& report);
/// What GET /sim/status gives back, as text.
std::string StatusText(const Json& status);

/// Prints an error and its hint on stderr.
void PrintError(const base::Error& error);
/// PrintError, and the exit code: 3 where no simulator runs, else 1.
int ExitWith(const base::Error& error);

}  // namespace jobman::sim
