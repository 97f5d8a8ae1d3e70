#include <CLI/CLI.hpp>

#include "cli/commands.hpp"

namespace jobman::cli {

void AddTask(CLI::App& root, Invocation& chosen) {
  CLI::App* command = root.add_subcommand("task", "Tasks, which workers run one after the other");
  command->require_subcommand(1);
  AddTaskSubmit(*command, chosen);
}

}  // namespace jobman::cli
