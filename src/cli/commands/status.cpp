// jobman status: workers and the tasks of their queues on one screen.
#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "cli/commands.hpp"
#include "cli/job_order.hpp"
#include "cli/list_footer.hpp"
#include "cli/task_choice.hpp"
#include "cli/views/error.hpp"
#include "cli/views/job_list.hpp"
#include "cli/views/tasks_status.hpp"
#include "jobman/core/explain.hpp"

namespace jobman::cli {
namespace {

using base::Result;

constexpr base::Duration kLookAtTasksEvery = std::chrono::seconds{1};

views::TasksStatus::Worker WorkerRow(const client::QueueWorker& one) {
  const core::Job& job = one.job;
  views::TasksStatus::Worker row{.id = job.id,
                                 .name = job.name,
                                 .state = std::string(core::StateName(job.state)),
                                 .status = std::string(core::StatusWord(job)),
                                 .phase = std::string(views::PhaseWord(one.worker.phase)),
                                 .accelerator = one.worker.accelerator,
                                 .zone = one.worker.zone,
                                 .file = one.file,
                                 .since = job.since,
                                 .why = job.why};
  if (job.slice) row.slice = job.slice->ref.name;
  const auto* const stage = job.stage ? std::get_if<core::TaskStage>(&job.stage->id) : nullptr;
  if (stage != nullptr) {
    row.task = stage->task;
    row.run = stage->run;
  }
  return row;
}

views::TasksStatus::Queue QueueRow(const QueueSight& sight, const client::SeenQueue& seen) {
  views::TasksStatus::Queue row{
      .file = seen.queue.file,
      .title = client::QueueTitle(seen.queue),
      .workers = static_cast<int>(sight.workers_of.at(seen.queue.file).size()),
      .error = seen.error,
      .refused = static_cast<int>(seen.refused.size())};
  for (const auto& id_and_task : seen.board.tasks()) {
    ++row.counts[seen.board.StateOf(id_and_task.second)];
  }
  return row;
}

Result<views::TasksStatus> LookAtStatus(const client::Context& context) {
  JM_ASSIGN_OR_RETURN(const QueueSight sight, LookAtQueues(context, std::nullopt));
  views::TasksStatus view{.now = context.Now()};
  for (const client::QueueWorker& one : sight.workers) view.workers.push_back(WorkerRow(one));
  for (const client::SeenQueue& seen : sight.queues) view.queues.push_back(QueueRow(sight, seen));
  return view;
}

/// Who has no workers has jobs, and means these.
Result<int> ShowJobs(App& app, const client::Context& context) {
  JM_ASSIGN_OR_RETURN(auto jobs, context.Await(context.stores.jobs->List({})));
  SortJobs(jobs, "id");
  const views::JobList view{.jobs = std::move(jobs), .now = context.Now()};
  app.Show(view);
  if (app.mode() != OutputMode::kText) return kSuccess;
  const int width = app.terminal().facts().width;
  JM_ASSIGN_OR_RETURN(const auto lines, ListFooter(context, view.jobs, width));
  if (view.jobs.empty()) app.Say("no workers, no tasks and no jobs");
  for (const std::string& line : lines) app.Say(line);
  return kSuccess;
}

Result<int> ShowStatus(App& app, const client::Context& context) {
  JM_ASSIGN_OR_RETURN(const views::TasksStatus view, LookAtStatus(context));
  const bool none = view.workers.empty() && view.queues.empty();
  if (none && app.mode() != OutputMode::kJson) return ShowJobs(app, context);
  app.Show(view);
  return kSuccess;
}

// On a terminal the screen is repainted; elsewhere each change prints a new one (or a line of
// JSON).
Result<int> WatchStatus(App& app, const client::Context& context) {
  ui::Terminal& terminal = app.terminal();
  const bool always = terminal.facts().out_tty && app.mode() == OutputMode::kText;
  std::string shown;
  do {
    JM_ASSIGN_OR_RETURN(const views::TasksStatus view, LookAtStatus(context));
    const std::string seen = DumpJson(ToJson(view), -1);
    if (!always && seen == shown) continue;
    shown = seen;
    if (app.mode() == OutputMode::kJson) {
      app.ShowJsonLine(ToJson(view));
    } else {
      terminal.ClearScreen();
      app.Show(view);
      if (!terminal.facts().out_tty) terminal.Out("\n");
    }
    terminal.Flush();
  } while (app.Wait(kLookAtTasksEvery));
  return app.EndOfWait();
}

}  // namespace

void AddStatus(CLI::App& root, Invocation& chosen) {
  auto watch = std::make_shared<bool>(false);
  CLI::App* command = root.add_subcommand(
      "status", "Workers and the tasks of their queues; without any, the jobs, as list");
  command->add_flag("--watch", *watch, "Show again whenever something changes");
  command->callback([watch, &chosen] {
    chosen.run = [watch](App& app) -> Result<int> {
      JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForReading());
      return *watch ? WatchStatus(app, context) : ShowStatus(app, context);
    };
  });
}

}  // namespace jobman::cli
