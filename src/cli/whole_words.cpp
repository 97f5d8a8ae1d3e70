#include "cli/whole_words.hpp"

namespace jobman::cli {
namespace {

constexpr char kMark = '\x01';

}  // namespace

std::vector<std::string> Marked(std::vector<std::string> args) {
  for (std::string& word : args) {
    const bool list = word.starts_with('[') && word.ends_with(']');
    if (list || word.starts_with(kMark)) word.insert(word.begin(), kMark);
  }
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
