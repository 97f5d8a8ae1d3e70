#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/views/task_row.hpp"
#include "jobman/ports/queue_store.hpp"

namespace jobman::cli::views {

using TaskCounts = std::map<core::TaskState, int>;
/// "12 tasks: 2 RUNNING, 5 QUEUED, 5 DONE"; "no tasks".
std::string CountsText(const TaskCounts& counts);
/// Every state, also with 0.
base::OrderedJson CountsJson(const TaskCounts& counts);

/// `jobman queue`: a table for each queue.
struct QueueTable {
  struct Part {
    std::string file = {};  ///< empty: submitted tasks
    std::string title = {};
    std::vector<TaskRow> rows = {};  ///< those that are shown, in the order of the file
    TaskCounts counts = {};          ///< of all, hidden ones too
    int hidden = 0;                  ///< of these, how many are not shown
    int workers = 0;
    std::string error = {};  ///< why the file is not used; the last good one goes on
    std::vector<core::RefusedTask> refused = {};
    std::vector<std::string> warnings = {};
    std::vector<ports::TaskSetAside> set_aside = {};
  };
  std::vector<Part> parts = {};
  core::TimePoint now = {};
  bool wide = false;  ///< every column, whole
  bool header = true;
  int height = 0;  ///< rows of each table that fit the window; more are only counted; 0: no limit
};
/// Empty without queues.
std::string RenderText(const QueueTable& view, const ui::Style& style);
/// The ids, one per line.
std::string RenderQuiet(const QueueTable& view);
base::OrderedJson ToJson(const QueueTable& view);

}  // namespace jobman::cli::views
