#pragma once

#include <string>
#include <vector>

#include "cli/app.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): of the library
class App;
}

namespace jobman::cli {

/// The hidden command by which a shell asks what may stand at its cursor.
inline constexpr const char* kCompleteCommand = "__complete";

/// What may stand in place of the last of `words`, which are those behind "jobman": a line each,
/// the word, a tab, and what it is. A line ":files" where files may stand, too. Commands and
/// options are those of `root`, so they cannot differ from what the program accepts; jobs and
/// stages are the store's, where it can be read.
std::string Complete(App& app, const CLI::App& root, std::vector<std::string> words);

/// What a shell reads to complete command lines of jobman: "bash", "zsh" or "fish".
std::string CompletionScript(const std::string& shell);

}  // namespace jobman::cli
