#pragma once

#include "cli/commands.hpp"
#include "cli/task_choice.hpp"

namespace jobman::cli {

// Subcommands of `task`: a function for each.
void AddTaskShow(CLI::App& task, Invocation& chosen);
void AddTaskPause(CLI::App& task, Invocation& chosen);
void AddTaskResume(CLI::App& task, Invocation& chosen);
void AddTaskRequeue(CLI::App& task, Invocation& chosen);
void AddTaskDelete(CLI::App& task, Invocation& chosen);
/// commands/task_logs.cpp
void AddTaskLogs(CLI::App& task, Invocation& chosen);

/// `task show`, and `queue --task`.
base::Result<int> ShowTasks(App& app, const TaskChoice& choice);

}  // namespace jobman::cli
