// Which tasks the words of a command mean.
#include <algorithm>
#include <iterator>
#include <optional>

#include "jobman/base/strings.hpp"
#include "jobman/client/queue.hpp"

namespace jobman::client {
namespace {

using Places = std::vector<TaskPlace>;

bool HasStars(const std::string& word) {
  return word.find_first_of("*?") != std::string::npos;
}

base::Error SeveralQueues(const std::string& word, const Places& places) {
  std::vector<std::string> titles;
  for (const TaskPlace& place : places) titles.push_back(QueueTitle(place.queue->queue));
  return base::InvalidArgument(
      "several queues have a task " + word + ": " + base::Join(titles, ", "),
      "add --queue FILE; --submitted for the submitted ones");
}

base::Error NoTask(const std::string& word, const Places& all) {
  if (HasStars(word))
    return base::NotFound("no task's id matches \"" + word + "\"", "jobman queue shows the tasks");
  std::vector<std::string> ids;
  for (const TaskPlace& place : all) ids.push_back(place.task->definition.id);
  const auto nearest = base::Nearest(word, ids);
  return base::NotFound("there is no task " + word, nearest
                                                        ? "did you mean \"" + *nearest + "\"?"
                                                        : "jobman queue --all shows every task");
}

/// Of a task that its file has, and that is not taken.
std::optional<base::Error> WhyTaskIsRefused(const std::vector<SeenQueue>& queues,
                                            const std::string& word) {
  for (const SeenQueue& queue : queues) {
    for (const core::RefusedTask& one : queue.refused) {
      if (one.id == word) {
        return base::NotFound("task " + word + " is refused: " + one.why,
                              "correct it in " + QueueTitle(queue.queue));
      }
    }
  }
  return std::nullopt;
}

bool IsIn(const Places& places, const core::Task* task) {
  return std::any_of(places.begin(), places.end(),
                     [task](const TaskPlace& place) { return place.task == task; });
}

base::Result<Places> FindWord(const std::vector<SeenQueue>& queues, const Places& all,
                              const std::string& word) {
  Places found;
  for (const SeenQueue& queue : queues) {
    const core::Task* const task = queue.board.Find(word);
    if (task != nullptr) found.push_back({.queue = &queue, .task = task});
  }
  if (found.size() > 1) return SeveralQueues(word, found);
  if (found.empty() && HasStars(word)) {
    std::copy_if(all.begin(), all.end(), std::back_inserter(found), [&](const TaskPlace& place) {
      return base::GlobMatch(word, place.task->definition.id);
    });
  }
  if (!found.empty()) return found;
  if (auto refusal = WhyTaskIsRefused(queues, word)) return *std::move(refusal);
  return NoTask(word, all);
}

}  // namespace

std::vector<TaskPlace> TasksOf(const SeenQueue& queue) {
  Places all;
  for (const auto& [id, task] : queue.board.tasks()) {
    all.push_back({.queue = &queue, .task = &task});
  }
  std::stable_sort(all.begin(), all.end(), [](const TaskPlace& a, const TaskPlace& b) {
    return a.task->order < b.task->order;
  });
  return all;
}

std::vector<TaskPlace> TasksOf(const std::vector<SeenQueue>& queues) {
  Places all;
  for (const SeenQueue& queue : queues) {
    const Places places = TasksOf(queue);
    all.insert(all.end(), places.begin(), places.end());
  }
  return all;
}

base::Result<std::vector<TaskPlace>> FindTasks(const std::vector<SeenQueue>& queues,
                                               const std::vector<std::string>& words) {
  const Places all = TasksOf(queues);
  Places places;
  for (const std::string& word : words) {
    JM_ASSIGN_OR_RETURN(const Places found, FindWord(queues, all, word));
    for (const TaskPlace& place : found) {
      if (words.size() == 1 || !IsIn(places, place.task)) places.push_back(place);
    }
  }
  return places;
}

}  // namespace jobman::client
