#pragma once

#include <string>
#include <vector>

#include "tests/e2e/place.hpp"

namespace jobman::test {

/// Runs `argv` on a terminal of its own; once `question` stands on the screen, types `answer` and
/// Return. Everything that is printed is in Ran::out. Killed when the screen stays as it is
/// for a minute.
Ran AnswerOnTerminal(std::vector<std::string> argv, const std::string& question,
                     const std::string& answer);

}  // namespace jobman::test
