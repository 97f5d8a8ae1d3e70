#pragma once

#include <string>
#include <vector>

#include "cli/app.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): of the library
class App;
}

namespace jobman::cli {

/// The hidden command that a shell runs to get completions.
inline constexpr const char* kCompleteCommand = "__complete";

/// Completions of the last of `words`, which are the words after "jobman". One per line: the whole
/// word, a tab and a description. The line ":files" means that file names fit, too, ":jobfiles"
/// that those of folders and YAML files do; after a tab it says what precedes them in the word:
/// "--home=". Commands and options come from `root`, so they cannot differ from what the program
/// accepts; jobs and what belongs to them come from the store, if it can be read.
std::string Complete(App& app, const CLI::App& root, std::vector<std::string> words);

/// The script by which a shell completes jobman's command lines; for "bash", "zsh" or "fish".
std::string CompletionScript(const std::string& shell);

}  // namespace jobman::cli
