#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/commands.hpp"

namespace jobman::cli {

/// HelpAsOption() turns it into --help; what is added here lists and completes it.
void AddHelp(CLI::App& root, Invocation& chosen) {
  auto command_name = std::make_shared<std::string>();
  CLI::App* command = root.add_subcommand("help", "How a command is used, with examples");
  command->add_option("COMMAND", *command_name, "Its name")->type_name("");
  command->callback([command_name, &chosen] {
    chosen.run = [command_name](App&) -> base::Result<int> {
      return base::InvalidArgument("help takes the name of one command", "jobman help exec");
    };
  });
}

}  // namespace jobman::cli
