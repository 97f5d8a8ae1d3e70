#pragma once

#include <string>
#include <vector>

#include "cli/app.hpp"
#include "cli/commands.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): of the library
class App;
}

namespace jobman::cli {

/// Adds the global options and every command to `root`, which is empty.
void BuildCommandLine(CLI::App& root, GlobalOptions& options, Invocation& chosen);

/// The whole program but for the process: parses `args` (without the program's name), runs the
/// command, prints, and gives back the exit code. Third-party exceptions pass through: main
/// catches them.
int Run(const std::vector<std::string>& args, const Environment& environment);

}  // namespace jobman::cli
