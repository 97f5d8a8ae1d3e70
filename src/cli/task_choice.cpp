#include "cli/task_choice.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "cli/exit_code.hpp"
#include "jobman/base/shell.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::cli {
namespace {

using Places = std::vector<client::TaskPlace>;

/// "tasks lr1, lr2 and 3 more, 1 of them running"
std::string NamedTasks(const Places& places) {
  constexpr std::size_t kMostIds = 5;
  std::vector<std::string> ids;
  for (const client::TaskPlace& place : places) {
    if (ids.size() < kMostIds) ids.push_back(place.task->definition.id);
  }
  std::string text = (places.size() == 1 ? "task " : "tasks ") + base::Join(ids, ", ");
  if (places.size() > ids.size()) text += fmt::format(" and {} more", places.size() - ids.size());
  return text;
}

std::string SliceOf(const QueueSight& sight, core::JobId job) {
  for (const client::QueueWorker& one : sight.workers) {
    if (one.job.id == job && one.job.slice) return one.job.slice->ref.name;
  }
  return {};
}

/// The same tasks, by key.
std::vector<client::TaskKey> KeysOf(const Places& places) {
  std::vector<client::TaskKey> keys;
  for (const client::TaskPlace& place : places) {
    keys.push_back({.queue = place.queue->queue.id, .id = place.task->definition.id});
  }
  return keys;
}

const client::SeenQueue* FindSeen(const QueueSight& sight, core::QueueId id) {
  const auto found =
      std::find_if(sight.queues.begin(), sight.queues.end(),
                   [id](const client::SeenQueue& seen) { return seen.queue.id == id; });
  return found == sight.queues.end() ? nullptr : &*found;
}

}  // namespace

base::Result<QueueSight> LookAtQueues(const client::Context& context,
                                      const std::optional<std::string>& file) {
  QueueSight sight;
  JM_ASSIGN_OR_RETURN(sight.queues, context.Await(client::SeeQueues(context, file)));
  JM_ASSIGN_OR_RETURN(sight.workers, context.Await(client::ReadWorkers(context)));
  for (const client::SeenQueue& seen : sight.queues) {
    const std::string& served = seen.queue.file;
    sight.workers_of[served] = client::WorkersOf(sight.workers, served);
  }
  return sight;
}

views::TaskRow RowOf(const QueueSight& sight, const client::TaskPlace& place, base::TimePoint now,
                     std::optional<int> ahead) {
  const client::SeenQueue& queue = *place.queue;
  views::TaskRow row{.task = *place.task,
                     .file = queue.queue.file,
                     .title = client::QueueTitle(queue.queue),
                     .state = queue.board.StateOf(*place.task),
                     .preview = queue.previewed.contains(place.task->definition.id)};
  const auto& workers = sight.workers_of.at(queue.queue.file);
  row.why = core::WhyWaits(queue.board, *place.task, workers, now, ahead);
  for (const core::TaskClaim& claim : place.task->claims) {
    row.slices.push_back(SliceOf(sight, claim.job));
  }
  return row;
}

std::string HowToStartAWorker(const core::TaskDefinition& task, const std::string& file) {
  const std::string queue =
      file == ports::kSubmittedQueue ? "" : " --queue " + base::ShellQuote(file);
  return "jobman worker start -a " + task.accelerator + " -z " + task.zone + queue;
}

void AddTaskChoice(CLI::App& command, const std::shared_ptr<TaskChoice>& choice) {
  command.add_option("TASK", choice->words, "Ids of tasks, or patterns: 'lr-*'")->required();
  command
      .add_option_function<std::string>(
          "--queue", [choice](const std::string& file) { choice->file = file; },
          "Of this queue file; needed if several queues have the task")
      ->type_name("FILE");
  command.add_flag_callback(
      "--submitted", [choice] { choice->file = ports::kSubmittedQueue; },
      "Of the submitted tasks, which are in no file");
}

bool ConfirmTasks(App& app, const std::string& doing, const Places& tasks) {
  const bool nobody = app.mode() != OutputMode::kText || !app.terminal().facts().err_screen;
  if (tasks.empty() || nobody) return true;
  const auto answer = app.Ask(doing + " " + NamedTasks(tasks) + "?");
  const bool may = !answer.ok() || *answer;
  if (!may) app.Say("nothing was done");
  return may;
}

base::Result<int> ChangeAndShow(App& app, const client::Context& context,
                                const std::optional<std::string>& file, const Places& tasks,
                                const client::TaskEdit& edit) {
  JM_ASSIGN_OR_RETURN(const auto changed,
                      context.Await(client::ChangeTasks(context, KeysOf(tasks), edit)));
  JM_ASSIGN_OR_RETURN(const QueueSight sight, LookAtQueues(context, file));
  views::ChangedTasks view;
  for (const core::Task& task : changed) {
    const client::SeenQueue* const queue = FindSeen(sight, task.queue);
    if (queue == nullptr) continue;
    view.rows.push_back(RowOf(sight, {.queue = queue, .task = &task}, context.Now()));
  }
  app.Show(view);
  return kSuccess;
}

base::Result<int> EraseAndShow(App& app, const client::Context& context, const Places& tasks) {
  views::ChangedTasks view;
  std::vector<base::Error> refused;
  for (const client::TaskKey& key : KeysOf(tasks)) {
    const base::Status erased = context.Await(client::EraseTask(context, key));
    if (erased.ok()) view.erased.push_back(key.id);
    if (!erased.ok()) refused.push_back(erased.error());
  }
  if (view.erased.empty() && refused.size() == 1) return refused.front();
  app.Show(view);
  const bool in_json = app.mode() == OutputMode::kJson;
  int code = kSuccess;
  for (const base::Error& error : refused) {
    const int its_code = in_json ? ExitCodeOf(error) : app.Fail(error);
    if (code == kSuccess) code = its_code;
  }
  return code;
}

}  // namespace jobman::cli
