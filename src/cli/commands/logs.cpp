#include "cli/commands.hpp"
namespace jobman::cli {
void AddLogs(CLI::App&, Invocation&) {}
}  // namespace jobman::cli
