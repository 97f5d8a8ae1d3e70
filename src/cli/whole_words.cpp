#include "cli/whole_words.hpp"

#include <utility>

namespace jobman::cli {
namespace {

constexpr char kMark = '\x01';  // no name and no number begins with it

}  // namespace

std::vector<std::string> Marked(std::vector<std::string> args) {
  for (std::string& word : args)
    if (word.starts_with('[') && word.ends_with(']')) word.insert(word.begin(), kMark);
  return args;
}

std::string Unmarked(std::string word) {
  if (word.starts_with(kMark)) word.erase(word.begin());
  return word;
}

void TakeWholeWords(CLI::App& root) {
  for (CLI::Option* option : root.get_options()) option->transform(&Unmarked);
  for (CLI::App* command : root.get_subcommands({})) TakeWholeWords(*command);
}

}  // namespace jobman::cli
