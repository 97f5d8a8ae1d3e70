#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace jobman::config::convert {

/// An option of a script's #JOBMAN lines.
struct JobmanOption {
  std::string_view name = {};    ///< "accelerator"
  std::string_view passed = {};  ///< why it says nothing about a task here; empty: it is used
};

/// The option called "--accelerator"; nullptr if there is none.
/// Source: the branch refactor of Python jobman (its public history).
const JobmanOption* FindJobmanOption(std::string_view name);
/// "--accelerator" and all others.
std::vector<std::string> JobmanOptionNames();

}  // namespace jobman::config::convert
