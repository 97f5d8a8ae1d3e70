// jobman queue: the tasks of queues, and what may be done to them by the options of Python jobman.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.hpp"
#include "cli/commands/queue.hpp"
#include "cli/commands/task.hpp"
#include "cli/one_of.hpp"
#include "cli/task_choice.hpp"
#include "cli/views/error.hpp"
#include "cli/views/queue_table.hpp"
#include "jobman/client/background_controller.hpp"

namespace jobman::cli {
namespace {

using base::Result;

constexpr base::Duration kLookEvery = std::chrono::seconds{1};
/// Lines around a table: of headings, of what the tasks have in common, of counts, of problems, and
/// free ones.
constexpr int kLinesAround = 9;

views::QueueTable::Part PartOf(const QueueSight& sight, const client::SeenQueue& seen, bool all,
                               base::TimePoint now) {
  views::QueueTable::Part part{
      .file = seen.queue.file,
      .title = client::QueueTitle(seen.queue),
      .workers = static_cast<int>(sight.workers_of.at(seen.queue.file).size()),
      .error = seen.error,
      .refused = seen.refused,
      .warnings = seen.warnings,
      .set_aside = seen.set_aside};
  const auto ahead = seen.board.CountsAhead();
  for (const client::TaskPlace& place : client::TasksOf(seen)) {
    ++part.counts[seen.board.StateOf(*place.task)];
    if (place.task->definition.hide && !all) {
      ++part.hidden;
      continue;
    }
    const auto known = ahead.find(place.task->definition.id);
    const auto count = known == ahead.end() ? std::nullopt : std::optional(known->second);
    part.rows.push_back(RowOf(sight, place, now, count));
  }
  return part;
}

Result<views::QueueTable> LookAt(App& app, const client::Context& context,
                                 const QueueOptions& options) {
  JM_ASSIGN_OR_RETURN(const QueueSight sight, LookAtQueues(context, options.Queue()));
  views::QueueTable view{
      .now = context.Now(), .wide = options.output == "wide", .header = !options.no_header};
  for (const client::SeenQueue& seen : sight.queues) {
    view.parts.push_back(PartOf(sight, seen, options.all, view.now));
  }
  const int height = options.watch ? app.terminal().facts().height : 0;
  if (height > 0 && !view.parts.empty()) {
    const int each = height / static_cast<int>(view.parts.size()) - kLinesAround;
    view.height = std::max(1, each);
  }
  return view;
}

bool WaitsForRun(const views::QueueTable& view) {
  return std::any_of(view.parts.begin(), view.parts.end(), [](const auto& part) {
    const auto& counts = part.counts;
    return counts.contains(core::TaskState::kQueued) || counts.contains(core::TaskState::kRunning);
  });
}

/// The first task that waits in a queue without workers.
const views::TaskRow* FirstWithoutWorkers(const views::QueueTable& view) {
  for (const views::QueueTable::Part& part : view.parts) {
    if (part.workers > 0) continue;
    for (const views::TaskRow& row : part.rows) {
      const bool waits = row.state == core::TaskState::kQueued;
      if (waits && !row.task.definition.zone.empty()) return &row;
    }
  }
  return nullptr;
}

/// What is below the tables, and in their place if there are none.
Result<std::string> LineBelow(const client::Context& context, const views::QueueTable& view) {
  if (view.parts.empty()) return std::string("no queues: no worker has served one yet");
  // It starts a controller, too.
  if (const views::TaskRow* const row = FirstWithoutWorkers(view)) {
    return "to start a worker: " + HowToStartAWorker(row->task.definition, row->file);
  }
  JM_ASSIGN_OR_RETURN(const auto controller,
                      context.Await(client::LiveController(context.stores.leases, context.Now())));
  if (controller || !WaitsForRun(view)) return std::string();
  return std::string("no controller is running, so no task is begun: jobman controller start");
}

Result<int> ShowTables(App& app, const client::Context& context, const QueueOptions& options) {
  JM_ASSIGN_OR_RETURN(const views::QueueTable view, LookAt(app, context, options));
  app.Show(view);
  if (app.mode() != OutputMode::kText) return kSuccess;
  JM_ASSIGN_OR_RETURN(const std::string below, LineBelow(context, view));
  if (!below.empty()) app.Say(below);
  return kSuccess;
}

// On a terminal the tables are repainted; elsewhere each change prints new ones (or a line of
// JSON).
void ShowQueuePicture(App& app, const views::QueueTable& view, const std::string& below) {
  ui::Terminal& terminal = app.terminal();
  if (app.mode() == OutputMode::kJson) {
    app.ShowJsonLine(ToJson(view));
  } else {
    terminal.ClearScreen();
    app.Show(view);
    if (app.mode() == OutputMode::kText && !below.empty()) terminal.Out(below + "\n");
    if (!terminal.facts().out_tty) terminal.Out("\n");
  }
  terminal.Flush();
}

Result<int> WatchTables(App& app, const client::Context& context, const QueueOptions& options) {
  // On a terminal the tables show durations, so they are repainted even if nothing changed.
  const bool always = app.terminal().facts().out_tty && app.mode() == OutputMode::kText;
  std::string shown;
  do {
    JM_ASSIGN_OR_RETURN(const views::QueueTable view, LookAt(app, context, options));
    const std::string seen = DumpJson(ToJson(view), -1);
    if (!always && seen == shown) continue;
    shown = seen;
    JM_ASSIGN_OR_RETURN(const std::string below, LineBelow(context, view));
    ShowQueuePicture(app, view, below);
  } while (app.Wait(kLookEvery));
  return app.EndOfWait();
}

Result<int> RunQueue(App& app, const QueueOptions& options) {
  const int changes = ChangesIn(options);
  if (changes + (options.show.empty() ? 0 : 1) + (options.watch ? 1 : 0) > 1) {
    return base::InvalidArgument(
        "of --reset, --reset-all, --reset-failed, --prioritize, --done, --cleanup, --task and "
        "--watch one at a time");
  }
  if (!options.show.empty())
    return ShowTasks(app, {.words = options.show, .file = options.Queue()});
  if (changes > 0) return ChangeQueue(app, options);
  JM_ASSIGN_OR_RETURN(const client::Context context, app.OpenForReading());
  return options.watch ? WatchTables(app, context, options) : ShowTables(app, context, options);
}

/// An option that takes ids of tasks.
void AddTaskIds(CLI::App& command, const std::string& name, std::vector<std::string>& ids,
                const std::string& help) {
  command.add_option(name, ids, help)
      ->type_name("TASK,...")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false)  // FILE may follow
      ->delimiter(',');
}

}  // namespace

void AddQueue(CLI::App& root, Invocation& chosen) {
  auto options = std::make_shared<QueueOptions>();
  CLI::App* command =
      root.add_subcommand("queue", "The tasks of queues: their state, where they run, and why");
  command->add_option("FILE", options->file,
                      "A queue file. Without it: every queue of the store; if it has none, "
                      "tasks.yaml of this folder");
  command->add_flag("--submitted", options->submitted, "Only the submitted tasks");
  command->add_flag("-A,--all", options->all, "Hidden tasks, too");
  command->add_option("-o,--output", options->output, "wide: every column, whole")
      ->check(OneOf({"wide"}));
  command->add_flag("--no-header", options->no_header, "Rows only");
  command->add_flag("--watch", options->watch, "Show again whenever something changes");
  AddTaskIds(*command, "--task", options->show, "Show these tasks, as task show");
  AddTaskIds(*command, "--reset", options->reset,
             "To be run as if they never had been; a run that goes on is not touched");
  command->add_flag("--reset-all", options->reset_all, "The same for every task, done ones too");
  command->add_flag("--reset-failed", options->reset_failed, "The same for those that are FAILED");
  AddTaskIds(*command, "--prioritize", options->prioritize, "Run these before all others");
  AddTaskIds(*command, "--done", options->done, "They need no run (any more)");
  command->add_flag("--cleanup", options->cleanup,
                    "Delete REMOVED tasks, with records and logs. What a dead worker has taken "
                    "comes back by itself");
  command->add_flag("-y,--yes", options->yes, "Without asking");
  command->callback(
      [options, &chosen] { chosen.run = [options](App& app) { return RunQueue(app, *options); }; });
}

}  // namespace jobman::cli
