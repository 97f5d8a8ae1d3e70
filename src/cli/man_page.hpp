#pragma once

#include <string>

namespace CLI {  // NOLINT(readability-identifier-naming): of the library
class App;
}

namespace jobman::cli {

/// The hidden command that prints the man page; CMake's install and the packages run it.
inline constexpr const char* kManCommand = "__man";

/// The man page jobman(1) in roff, for man(7)'s macros: every command and option of `root`, in the
/// words of --help, so that the two cannot differ.
std::string ManPage(const CLI::App& root);

}  // namespace jobman::cli
