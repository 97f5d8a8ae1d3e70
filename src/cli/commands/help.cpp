#include <CLI/CLI.hpp>

#include "cli/commands.hpp"

namespace jobman::cli {

/// HelpAsOption() turns it into --help, so it never runs; what is added here lists and completes
/// it.
void AddHelp(CLI::App& root, Invocation& /*chosen*/) {
  CLI::App* command = root.add_subcommand("help", "How a command is used, with examples");
  const CLI::callback_t ignore = [](const CLI::results_t&) { return true; };
  command->add_option("COMMAND", ignore, "Its name")->type_name("");
}

}  // namespace jobman::cli
