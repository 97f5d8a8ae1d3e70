#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace jobman::base {

/// One word for a POSIX shell, quoted only if necessary.
std::string ShellQuote(std::string_view word);
/// The words as one command line.
std::string ShellJoin(const std::vector<std::string>& words);
/// Whether `name` may be the name of an environment variable.
bool IsEnvName(std::string_view name);

}  // namespace jobman::base
