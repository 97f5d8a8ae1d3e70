#pragma once

#include <string>
#include <vector>

#include "jobman/base/json.hpp"
#include "jobman/core/task.hpp"
#include "jobman/ui/text.hpp"

namespace jobman::cli::views {

/// A task as every command shows it.
struct TaskRow {
  core::Task task = {};
  std::string file = {};   ///< of its queue; empty: a submitted task
  std::string title = {};  ///< of its queue
  core::TaskState state = core::TaskState::kQueued;
  std::string why = {};  ///< what it waits for, or what became of it
  bool preview = false;  ///< as the file says now, which no controller has read yet
  /// The slices that it runs on, in the order of Task::claims; "" where that is not known.
  std::vector<std::string> slices = {};
};

/// "host 0", "hosts 0-3", "all hosts".
std::string HostsWords(const core::HostSet& hosts);
/// "000042 host 0": the job that runs it, and on which hosts; empty if none does.
std::string WhereOf(const TaskRow& row);
/// Since when it is as `why` says; of a task that runs, since when it does.
core::TimePoint SinceOf(const TaskRow& row);
/// What every command prints of a task with --json: docs/guide/json.md.
base::OrderedJson ToJson(const TaskRow& row);

/// `task pause` and the like: what has become of tasks.
struct ChangedTasks {
  std::vector<TaskRow> rows = {};
  std::vector<std::string> erased = {};  ///< ids
};
std::string RenderText(const ChangedTasks& view, const ui::Style& style);
/// The ids, one per line.
std::string RenderQuiet(const ChangedTasks& view);
base::OrderedJson ToJson(const ChangedTasks& view);

}  // namespace jobman::cli::views
