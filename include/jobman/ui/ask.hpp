#pragma once

#include <string_view>

#include "jobman/base/result.hpp"
#include "jobman/ui/terminal.hpp"

namespace jobman::ui {

/// Asks on stderr and reads a line of answer from `in_fd`. Only "y" and "yes" mean yes; the end of
/// the input and a caught signal mean no. When `in_fd` or stderr is not a terminal (a dumb one
/// counts) nobody can answer: kInvalidArgument with the hint to pass --yes.
base::Result<bool> AskYesNo(Terminal& terminal, int in_fd, std::string_view question);

/// The same without checking `in_fd`.
bool ReadYesNo(Terminal& terminal, int in_fd, std::string_view question);

}  // namespace jobman::ui
