// jobman why TASK: why a task is in its state, and what to do.
#include "cli/commands/why_tasks.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "cli/task_choice.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/client/last_words.hpp"

namespace jobman::cli {
namespace {

/// Whether a worker of the queue has the task's accelerator and zone.
bool HasWorker(const QueueSight& sight, const client::TaskPlace& place) {
  const core::TaskDefinition& wanted = place.task->definition;
  const auto& workers = sight.workers_of.at(place.queue->queue.file);
  return std::any_of(workers.begin(), workers.end(), [&wanted](const core::TaskWorker& worker) {
    return worker.accelerator == wanted.accelerator && worker.zone == wanted.zone;
  });
}

/// What can be done about a task.
std::string NextStepOf(const QueueSight& sight, const client::TaskPlace& place,
                       core::TaskState state) {
  const core::Task& task = *place.task;
  const std::string& id = task.definition.id;
  const bool waits = state == core::TaskState::kQueued && !task.definition.zone.empty();
  if (waits && !HasWorker(sight, place)) {
    return HowToStartAWorker(task.definition, place.queue->queue.file);
  }
  if (state == core::TaskState::kBlocked)
    return "jobman why " + *place.queue->board.MissingFor(task);
  if (state == core::TaskState::kFailed) return "jobman task logs " + id;
  if (state == core::TaskState::kPaused) return "jobman task resume " + id;
  if (state == core::TaskState::kRunning) return "jobman task logs -f " + id;
  return {};
}

/// What a host wrote last in the newest run, if that has failed for good.
base::Result<std::optional<client::LastWords>> LastWordsOf(const client::Context& context,
                                                           const client::TaskPlace& place,
                                                           core::TaskState state) {
  std::optional<client::LastWords> words;
  if (state != core::TaskState::kFailed) return words;
  const core::QueueId queue = place.queue->queue.id;
  const std::string& id = place.task->definition.id;
  JM_ASSIGN_OR_RETURN(const auto runs, context.Await(context.stores.queues->Runs(queue, id)));
  if (!runs.empty()) words = client::FindTaskWords(context.paths, queue, id, runs.back());
  return words;
}

/// The tasks that the words mean. One that several queues have is explained in each: nothing is
/// changed, so nobody needs to say which is meant.
base::Result<std::vector<client::TaskPlace>> PlacesOf(const QueueSight& sight,
                                                      const std::vector<std::string>& words) {
  std::vector<client::TaskPlace> places;
  for (const std::string& word : words) {
    const std::size_t before = places.size();
    for (const client::SeenQueue& queue : sight.queues) {
      const core::Task* const task = queue.board.Find(word);
      if (task != nullptr) places.push_back({.queue = &queue, .task = task});
    }
    if (places.size() > before) continue;
    JM_ASSIGN_OR_RETURN(const auto found, client::FindTasks(sight.queues, {word}));
    places.insert(places.end(), found.begin(), found.end());
  }
  return places;
}

}  // namespace

base::Result<std::vector<views::Explanations::OfTask>> ExplainTasks(
    const client::Context& context, const std::vector<std::string>& words, bool controller) {
  std::vector<views::Explanations::OfTask> explained;
  if (words.empty()) return explained;
  JM_ASSIGN_OR_RETURN(const QueueSight sight, LookAtQueues(context, std::nullopt));
  JM_ASSIGN_OR_RETURN(const auto places, PlacesOf(sight, words));
  for (const client::TaskPlace& place : places) {
    views::Explanations::OfTask one{.row = RowOf(sight, place, context.Now())};
    if (places.size() > words.size()) one.facts.push_back("queue " + one.row.title);
    if (!base::Contains(one.row.why, one.row.task.why)) {
      one.facts.push_back("last: " + one.row.task.why);
    }
    for (const core::RefusedTask& refused : place.queue->refused) {
      if (refused.id != one.row.task.definition.id) continue;
      one.facts.push_back("what the file says now is refused, so it stays as it was: " +
                          refused.why);
    }
    one.next_step = NextStepOf(sight, place, one.row.state);
    JM_ASSIGN_OR_RETURN(one.words, LastWordsOf(context, place, one.row.state));
    const bool served = HasWorker(sight, place);
    if (!controller && served && one.row.state == core::TaskState::kQueued) {
      one.facts.emplace_back("no controller is running, so nothing happens");
      one.next_step = "jobman controller start, or jobman tick";
    }
    explained.push_back(std::move(one));
  }
  return explained;
}

}  // namespace jobman::cli
