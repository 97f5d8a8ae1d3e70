#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): of the library
class App;
class FormatterBase;
}  // namespace CLI

namespace jobman::cli {

/// Writes usage lines: "PATH PATH..." where CLI11 writes "PATH(2x)".
std::shared_ptr<CLI::FormatterBase> HelpFormatter();

/// Adds examples and the global options' names to the help of every command of `root`.
void AddFooters(CLI::App& root);

/// A help text for a terminal: lines are wrapped between words at `width` columns, descriptions
/// below each other. Examples, which may be copied, stay whole. Width 0: no wrapping.
std::string WrapHelp(std::string_view text, int width);

/// "help exec" is "exec --help", and "help" is "--help"; other arguments stay as they are.
/// `command` is the first word that is no option.
std::vector<std::string> HelpAsOption(std::vector<std::string> args, std::string_view command);

/// The examples of a command, one per line; empty if there are none.
std::string_view ExamplesOf(std::string_view command);

}  // namespace jobman::cli
