#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/commands.hpp"
#include "cli/completion.hpp"
#include "cli/one_of.hpp"

namespace jobman::cli {
namespace {

base::Result<int> RunCompletion(App& app, const std::string& shell) {
  const std::string script = CompletionScript(shell);
  if (app.mode() == OutputMode::kJson) {
    app.ShowJson({{"shell", shell}, {"script", script}});
  } else {
    app.terminal().Out(script);
  }
  return kSuccess;
}

}  // namespace

void AddCompletion(CLI::App& root, Invocation& chosen) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command = root.add_subcommand("completion", "A completion script for a shell");
  command->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(OneOf({"bash", "zsh", "fish"}));
  command->callback(
      [shell, &chosen] { chosen.run = [shell](App& app) { return RunCompletion(app, *shell); }; });
}

}  // namespace jobman::cli
