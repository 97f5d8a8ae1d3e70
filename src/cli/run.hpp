#pragma once

#include <string>
#include <vector>

#include "cli/app.hpp"

namespace jobman::cli {

/// The whole program but for the process: parses `args` (without the program's name), runs the
/// command, prints, and gives back the exit code. Third-party exceptions pass through: main
/// catches them.
int Run(const std::vector<std::string>& args, const Environment& environment);

}  // namespace jobman::cli
