#include <CLI/CLI.hpp>

#include "cli/commands.hpp"
#include "cli/views/version.hpp"

namespace jobman::cli {

void AddVersion(CLI::App& root, Invocation& chosen) {
  CLI::App* command = root.add_subcommand("version", "The version of this program");
  command->callback([&chosen] {
    chosen.run = [](App& app) -> base::Result<int> {
      app.Show(views::Version{});
      return kSuccess;
    };
  });
}

}  // namespace jobman::cli
