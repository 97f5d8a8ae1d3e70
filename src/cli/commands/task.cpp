// jobman task: single tasks of queues. Its logs are in task_logs.cpp.
#include "cli/commands/task.hpp"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>

#include "cli/exit_code.hpp"
#include "cli/views/task_detail.hpp"

namespace jobman::cli {
namespace {

using base::Result;

Result<int> ChangeChosen(App& app, const TaskChoice& choice, const client::TaskEdit& edit) {
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForWriting());
  JM_ASSIGN_OR_RETURN(const QueueSight sight, LookAtQueues(context, choice.file));
  JM_ASSIGN_OR_RETURN(const auto tasks, client::FindTasks(sight.queues, choice.words));
  return ChangeAndShow(app, context, choice.file, tasks, edit);
}

/// A subcommand that changes the tasks that are chosen.
void AddChange(CLI::App& task, Invocation& chosen, const std::string& name, const std::string& help,
               client::TaskEdit edit) {
  auto choice = std::make_shared<TaskChoice>();
  CLI::App* command = task.add_subcommand(name, help);
  AddTaskChoice(*command, choice);
  command->callback([choice, edit = std::move(edit), &chosen] {
    chosen.run = [choice, edit](App& app) { return ChangeChosen(app, *choice, edit); };
  });
}

Result<int> DeleteChosen(App& app, const TaskChoice& choice, bool yes) {
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForWriting());
  JM_ASSIGN_OR_RETURN(const QueueSight sight, LookAtQueues(context, choice.file));
  JM_ASSIGN_OR_RETURN(const auto tasks, client::FindTasks(sight.queues, choice.words));
  if (!yes && !ConfirmTasks(app, "delete, with records and logs,", tasks)) return kJobFailed;
  return EraseAndShow(app, context, tasks);
}

}  // namespace

Result<int> ShowTasks(App& app, const TaskChoice& choice) {
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForReading());
  JM_ASSIGN_OR_RETURN(const QueueSight sight, LookAtQueues(context, choice.file));
  JM_ASSIGN_OR_RETURN(const auto tasks, client::FindTasks(sight.queues, choice.words));
  views::TaskDetails view{.now = context.Now()};
  for (const client::TaskPlace& place : tasks) {
    views::TaskDetails::Part part{.row = RowOf(sight, place, view.now)};
    const core::QueueId queue = place.queue->queue.id;
    const std::string& id = place.task->definition.id;
    if (queue != core::QueueId{}) {
      JM_ASSIGN_OR_RETURN(part.runs, context.Await(context.stores.queues->Runs(queue, id)));
      part.files = context.paths.TaskDir(queue.value, id).string();
    }
    view.parts.push_back(std::move(part));
  }
  app.Show(view);
  return kSuccess;
}

void AddTaskShow(CLI::App& task, Invocation& chosen) {
  auto choice = std::make_shared<TaskChoice>();
  CLI::App* command = task.add_subcommand("show", "What a task is, how it stands, and its runs");
  AddTaskChoice(*command, choice);
  command->callback(
      [choice, &chosen] { chosen.run = [choice](App& app) { return ShowTasks(app, *choice); }; });
}

void AddTaskPause(CLI::App& task, Invocation& chosen) {
  AddChange(task, chosen, "pause", "Begin no other run; one that goes on ends by itself",
            [](core::Task one, core::TimePoint now) {
              return core::PauseTask(std::move(one), true, now);
            });
}

void AddTaskResume(CLI::App& task, Invocation& chosen) {
  AddChange(task, chosen, "resume", "Go on with a paused task",
            [](core::Task one, core::TimePoint now) {
              return core::PauseTask(std::move(one), false, now);
            });
}

void AddTaskRequeue(CLI::App& task, Invocation& chosen) {
  AddChange(task, chosen, "requeue",
            "Run again, also what is FAILED, DONE or PAUSED; its failures count anew",
            core::RequeueTask);
}

void AddTaskDelete(CLI::App& task, Invocation& chosen) {
  auto choice = std::make_shared<TaskChoice>();
  auto yes = std::make_shared<bool>(false);
  CLI::App* command = task.add_subcommand(
      "delete", "Drop the record, the runs and the logs of a task that is in no file");
  command->alias("rm");
  AddTaskChoice(*command, choice);
  command->add_flag("-y,--yes", *yes, "Without asking");
  command->callback([choice, yes, &chosen] {
    chosen.run = [choice, yes](App& app) { return DeleteChosen(app, *choice, *yes); };
  });
}

void AddTask(CLI::App& root, Invocation& chosen) {
  CLI::App* command = root.add_subcommand("task", "Tasks, which workers run one after the other");
  command->require_subcommand(1);
  AddTaskShow(*command, chosen);
  AddTaskLogs(*command, chosen);
  AddTaskPause(*command, chosen);
  AddTaskResume(*command, chosen);
  AddTaskRequeue(*command, chosen);
  AddTaskDelete(*command, chosen);
  AddTaskSubmit(*command, chosen);
}

}  // namespace jobman::cli
