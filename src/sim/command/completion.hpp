#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/wire/json.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): of the library
class App;
}

namespace jobman::sim {

/// The hidden command that a shell runs to get completions.
inline constexpr const char* kCompleteCommand = "__complete";

/// The status of the simulator of a folder, of the usual one if that is empty; null if none answers
/// at once.
using LookAtStatus = std::function<Json(const std::string& dir)>;

/// Completions of the last of `words`, which are those after "jobman-sim". One per line: the whole
/// word, a tab and a description. The line ":files" means that file names fit, too; after a tab it
/// says what precedes them in the word: "--share=". Commands and options come from `root`, values
/// from what the verbs know, and names of nodes from `look`, which is called only for these.
std::string Complete(const CLI::App& root, std::vector<std::string> words,
                     const LookAtStatus& look);

/// The script by which a shell completes the simulator's command lines; for "bash", "zsh" or
/// "fish".
std::string CompletionScript(const std::string& shell);

}  // namespace jobman::sim
