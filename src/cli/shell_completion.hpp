#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): of the library
class App;
}

namespace jobman::cli {

/// The command line as a shell must know it. Made from the parser's own tree, so that it cannot
/// differ from what the program accepts.
struct CommandWords {
  struct Option {
    std::vector<std::string> names = {};  ///< "-s", "--status"
    std::string description = {};
    bool takes_value = false;
    bool takes_file = false;
    std::vector<std::string> values = {};  ///< the only ones there are, when that is so
  };
  std::vector<std::string> names = {};  ///< the name, then aliases; of the root: "jobman"
  std::string description = {};
  std::vector<Option> options = {};
  bool takes_job = false;                ///< positional JOB
  bool takes_file = false;               ///< positional FILE
  std::vector<std::string> values = {};  ///< of a positional with a fixed set
  std::vector<CommandWords> commands = {};
};
CommandWords ReadCommandWords(const CLI::App& root);

/// Completion scripts. Jobs are completed by asking `jobman list --quiet`.
std::string BashCompletion(const CommandWords& root);
std::string ZshCompletion(const CommandWords& root);
std::string FishCompletion(const CommandWords& root);

}  // namespace jobman::cli
