#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/diagnostics.hpp"

namespace jobman::config::convert {

/// A word of a line, without its quotes.
struct Word {
  std::string text = {};
  Position pos = {};
};

/// How a text is divided into words.
enum class Rules {
  kShell,    ///< as a POSIX shell reads one command
  kOptions,  ///< as sbatch reads a line of options: only blanks, quotes, \ and # mean something
};

/// The words of `text`, which begins at `start`. Reports an open quote; and, by the rules of a
/// shell, what only a shell could do ($NAME, pipes, a second command). Nothing after a report.
/// Sources: POSIX.1-2017, "Shell Command Language", 2.2 and 2.3; sbatch(1).
std::optional<std::vector<Word>> WordsOf(std::string_view text, Position start, Rules rules,
                                         Diagnostics& out);

}  // namespace jobman::config::convert
