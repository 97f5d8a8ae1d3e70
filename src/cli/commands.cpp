#include "cli/commands.hpp"

#include <array>

namespace jobman::cli {

std::span<const Command> Commands() {
  static constexpr std::array kCommands = {
      Command{"list", AddList},       Command{"show", AddShow},
      Command{"why", AddWhy},         Command{"history", AddHistory},
      Command{"logs", AddLogs},       Command{"completion", AddCompletion},
      Command{"version", AddVersion},
  };
  return kCommands;
}

}  // namespace jobman::cli
