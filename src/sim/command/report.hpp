#pragma once

#include <string>

#include "jobman/base/result.hpp"
#include "sim/wire/json.hpp"

namespace jobman::sim {

/// The result of Simulator::Shutdown as text: what nobody deleted, or that nothing is left.
std::string LeakReport(const Json& report);
/// The result of GET /sim/status as text.
std::string StatusText(const Json& status);

/// Prints an error and its hint on stderr.
void PrintError(const base::Error& error);
/// PrintError, and the exit code: 3 if no simulator runs, else 1.
int ExitWith(const base::Error& error);

}  // namespace jobman::sim
