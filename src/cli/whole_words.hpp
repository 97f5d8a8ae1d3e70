#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace jobman::cli {

/// CLI11 takes a word "[a,b]" for the words a and b wherever an option or a command takes several,
/// so that `exec 1 -- '[ -d data ]'` would run `-d data`. Such words are parsed with a mark before
/// them.
std::vector<std::string> Marked(std::vector<std::string> args);
/// The word as it was given.
std::string Unmarked(std::string word);
/// For a command line that is to parse marked words: every value is taken as it was given.
void TakeWholeWords(CLI::App& root);

}  // namespace jobman::cli
