#pragma once

#include <string>
#include <vector>

#include "tests/e2e/place.hpp"

namespace jobman::test {

/// Runs `argv` on a new terminal; types `answer` and Return once `question` is on the screen.
/// Ran::out has everything that is printed. Killed when nothing is printed for a minute.
Ran AnswerOnTerminal(std::vector<std::string> argv, const std::string& question,
                     const std::string& answer);

}  // namespace jobman::test
