#pragma once

#include <string>
#include <vector>

#include "cli/views/task_row.hpp"

namespace jobman::cli::views {

/// `jobman task show`.
struct TaskDetails {
  struct Part {
    TaskRow row = {};
    std::vector<core::TaskRun> runs = {};  ///< the last ones, in the order of their numbers
    std::string files = {};                ///< the folder of its logs; empty: it has none
  };
  std::vector<Part> parts = {};
  core::TimePoint now = {};
};
std::string RenderText(const TaskDetails& view, const ui::Style& style);
/// The states, one per line.
std::string RenderQuiet(const TaskDetails& view);
base::OrderedJson ToJson(const TaskDetails& view);

}  // namespace jobman::cli::views
