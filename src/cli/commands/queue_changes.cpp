// The options of jobman queue that change tasks: those of Python jobman.
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "cli/commands/queue.hpp"
#include "cli/exit_code.hpp"
#include "cli/task_choice.hpp"

namespace jobman::cli {
namespace {

using base::Result;
using Tasks = std::vector<client::TaskPlace>;

/// The tasks of the store for which `fits` says so.
template <class Fits>
Tasks Those(const QueueSight& sight, const Fits& fits) {
  Tasks tasks = client::TasksOf(sight.queues);
  std::erase_if(tasks, [&fits](const client::TaskPlace& place) {
    return place.queue->queue.id == core::QueueId{} || place.task->version == 0 ||
           !fits(*place.task);
  });
  return tasks;
}

bool IsParked(const core::Task& task) {
  return std::holds_alternative<core::TaskParked>(task.standing);
}

/// Not by what the file says now, but by what a controller has read.
Tasks ThoseRemoved(const QueueSight& sight) {
  Tasks tasks =
      Those(sight, [](const core::Task& task) { return !task.listed && task.claims.empty(); });
  std::erase_if(tasks, [](const client::TaskPlace& place) {
    return place.queue->previewed.contains(place.task->definition.id);
  });
  return tasks;
}

Result<int> NothingFits(App& app, const std::string& what) {
  app.Say(what);
  app.Show(views::ChangedTasks{});
  return kSuccess;
}

Result<int> ResetThose(App& app, const client::Context& context, const QueueOptions& options,
                       const Tasks& tasks) {
  const bool one =
      tasks.size() == 1 && !std::holds_alternative<core::TaskDone>(tasks.front().task->standing);
  if (!options.yes && !one && !ConfirmTasks(app, "run again", tasks)) return kJobFailed;
  return ChangeAndShow(app, context, options.Queue(), tasks, core::ResetTask);
}

Result<int> CleanUp(App& app, const client::Context& context, const QueueOptions& options,
                    const QueueSight& sight) {
  const Tasks tasks = ThoseRemoved(sight);
  if (tasks.empty()) return NothingFits(app, "no task has been removed from its file");
  if (!options.yes && !ConfirmTasks(app, "delete, with records and logs,", tasks)) {
    return kJobFailed;
  }
  return EraseAndShow(app, context, tasks);
}

}  // namespace

Result<int> ChangeQueue(App& app, const QueueOptions& options) {
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForWriting());
  JM_ASSIGN_OR_RETURN(const QueueSight sight, LookAtQueues(context, options.Queue()));
  if (options.cleanup) return CleanUp(app, context, options, sight);
  if (options.reset_all || options.reset_failed) {
    const bool all = options.reset_all;
    const Tasks tasks = Those(
        sight, [all](const core::Task& task) { return task.listed && (all || IsParked(task)); });
    if (tasks.empty()) return NothingFits(app, all ? "there are no tasks" : "no task is FAILED");
    return ResetThose(app, context, options, tasks);
  }
  if (!options.reset.empty()) {
    JM_ASSIGN_OR_RETURN(const Tasks tasks, client::FindTasks(sight.queues, options.reset));
    return ResetThose(app, context, options, tasks);
  }
  const bool done = !options.done.empty();
  JM_ASSIGN_OR_RETURN(const Tasks tasks,
                      client::FindTasks(sight.queues, done ? options.done : options.prioritize));
  const client::TaskEdit edit = [done](core::Task task, core::TimePoint now) {
    return done ? core::MarkTaskDone(std::move(task), now)
                : core::PrioritizeTask(std::move(task), true);
  };
  return ChangeAndShow(app, context, options.Queue(), tasks, edit);
}

int ChangesIn(const QueueOptions& options) {
  int count = 0;
  for (const bool given : {!options.reset.empty(), options.reset_all, options.reset_failed,
                           !options.prioritize.empty(), !options.done.empty(), options.cleanup}) {
    if (given) ++count;
  }
  return count;
}

}  // namespace jobman::cli
