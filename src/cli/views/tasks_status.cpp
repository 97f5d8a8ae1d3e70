#include "cli/views/tasks_status.hpp"

#include <fmt/format.h>

#include <utility>

#include "cli/views/words.hpp"
#include "cli/wrapping.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/base/time.hpp"
#include "jobman/ui/table.hpp"

namespace jobman::cli::views {
namespace {

using StatusOfWorker = TasksStatus::Worker;
using StatusOfQueue = TasksStatus::Queue;

std::string WorkersTable(const TasksStatus& view, const ui::Style& style) {
  if (view.workers.empty()) return "no workers\n";
  ui::Table table({{.header = "WORKER"},
                   {.header = "NAME", .flexible = 3, .drop = 3, .enough = 24},
                   {.header = "STATUS"},
                   {.header = "ACCELERATOR", .drop = 2},
                   {.header = "ZONE", .drop = 1},
                   {.header = "TASK", .flexible = 2, .enough = 24},
                   {.header = "SINCE"},
                   {.header = "WHY", .flexible = 1, .enough = 30}});
  for (const StatusOfWorker& worker : view.workers) {
    table.AddRow({core::FormatJobId(worker.id),
                  worker.name,
                  {worker.status, ToneOfState(worker.status)},
                  worker.accelerator,
                  OrDash(worker.zone),
                  OrDash(worker.task),
                  Ago(worker.since, view.now),
                  OrDash(worker.why)});
  }
  return table.Render(style);
}

std::string QueueLines(const StatusOfQueue& queue, const ui::Style& style) {
  const auto line = [&style](const std::string& text) {
    return WrapText(ui::Clean(text, style.utf8), 0, kFurtherIn, style.width) + "\n";
  };
  std::string text =
      line(fmt::format("queue {}, {}: {}", queue.title, base::Plural(queue.workers, "worker"),
                       CountsText(queue.counts)));
  const auto waiting = queue.counts.find(core::TaskState::kQueued);
  if (queue.workers == 0 && waiting != queue.counts.end() && waiting->second > 0) {
    text += line(
        "no worker takes them: jobman worker list has those that are over, jobman queue says how "
        "to start one");
  }
  if (!queue.error.empty()) {
    text += line("the file is not used, the last good one goes on: " + queue.error);
  }
  if (queue.refused > 0) {
    text += line(fmt::format("{} refused: jobman queue says why",
                             base::Plural(queue.refused, "task") +
                                 (queue.refused == 1 ? " of the file is" : " of the file are")));
  }
  return text;
}

base::OrderedJson WorkerJson(const StatusOfWorker& worker) {
  return {{"id", worker.id.value}, {"name", worker.name},
          {"state", worker.state}, {"status", worker.status},
          {"phase", worker.phase}, {"accelerator", worker.accelerator},
          {"zone", worker.zone},   {"slice", worker.slice},
          {"queue", worker.file},  {"task", worker.task},
          {"run", worker.run},     {"since", base::FormatRfc3339(worker.since)},
          {"why", worker.why}};
}

}  // namespace

std::string_view PhaseWord(core::WorkerPhase phase) {
  switch (phase) {
    case core::WorkerPhase::kIdle:
      return "idle";
    case core::WorkerPhase::kBusy:
      return "busy";
    case core::WorkerPhase::kPreparing:
      return "preparing";
    case core::WorkerPhase::kDraining:
      return "draining";
  }
  return {};
}

std::string RenderText(const TasksStatus& view, const ui::Style& style) {
  std::string text = WorkersTable(view, style);
  if (!view.queues.empty()) text += "\n";
  for (const StatusOfQueue& queue : view.queues) text += QueueLines(queue, style);
  return text;
}

std::string RenderQuiet(const TasksStatus& view) {
  std::string text;
  for (const StatusOfWorker& worker : view.workers) text += core::FormatJobId(worker.id) + "\n";
  return text;
}

base::OrderedJson ToJson(const TasksStatus& view) {
  base::OrderedJson workers = base::OrderedJson::array();
  for (const StatusOfWorker& worker : view.workers) workers.push_back(WorkerJson(worker));
  base::OrderedJson queues = base::OrderedJson::array();
  for (const StatusOfQueue& queue : view.queues) {
    queues.push_back({{"file", queue.file},
                      {"workers", queue.workers},
                      {"counts", CountsJson(queue.counts)},
                      {"error", queue.error},
                      {"refused", queue.refused}});
  }
  return {{"workers", std::move(workers)}, {"queues", std::move(queues)}};
}

}  // namespace jobman::cli::views
