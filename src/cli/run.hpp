#pragma once

#include <string>
#include <vector>

#include "cli/app.hpp"

namespace jobman::cli {

/// The whole program except the process: parses `args` (without the program's name), runs the
/// command, prints, and returns the exit code. Exceptions of third-party libraries pass through:
/// main() catches them.
int Run(const std::vector<std::string>& args, const Environment& environment);

}  // namespace jobman::cli
