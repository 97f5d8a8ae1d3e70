#include "jobman/core/task_board.hpp"

#include <algorithm>
#include <iterator>

namespace jobman::core {

TaskBoard::TaskBoard(std::vector<Task> tasks) {
  for (Task& task : tasks) Put(std::move(task));
}

TaskBoard::Place TaskBoard::PlaceOf(const Task& task) {
  return {task.definition.accelerator, task.definition.zone};
}

TaskBoard::Rank TaskBoard::RankOf(const Task& task) {
  return {!task.prioritized, task.order, task.definition.id};
}

bool TaskBoard::IsDone(std::string_view id) const {
  const Task* const task = Find(id);
  return task != nullptr && std::holds_alternative<TaskDone>(task->standing);
}

const std::string* TaskBoard::MissingFor(const Task& task) const {
  const auto& needed = task.definition.depends_on;
  const auto missing =
      std::find_if_not(needed.begin(), needed.end(), [&](const auto& id) { return IsDone(id); });
  return missing == needed.end() ? nullptr : &*missing;
}

/// What MayRun() asks of the task alone decides whether it is in the index. The time is not in it:
/// few tasks wait after interruptions, and Next() passes over them.
void TaskBoard::File(const Task& task) {
  const TaskWorker any{.accelerator = task.definition.accelerator, .zone = task.definition.zone};
  if (MayRun(task, any, task.not_before) && MissingFor(task) == nullptr) {
    ready_[PlaceOf(task)].insert(RankOf(task));
  }
}

void TaskBoard::Unfile(const Task& task) {
  const auto place = ready_.find(PlaceOf(task));
  if (place == ready_.end()) return;
  place->second.erase(RankOf(task));
  if (place->second.empty()) ready_.erase(place);
}

/// For after a change of whether the task with this id is done.
void TaskBoard::FileDependents(const std::string& id) {
  const auto found = dependents_.find(id);
  if (found == dependents_.end()) return;
  for (const std::string& dependent : found->second) {
    const Task* const task = Find(dependent);
    if (task == nullptr) continue;
    Unfile(*task);
    File(*task);
  }
}

void TaskBoard::Put(Task task) {
  const std::string id = task.definition.id;
  const bool was_done = IsDone(id);
  if (const Task* const before = Find(id)) {
    Unfile(*before);
    for (const std::string& needed : before->definition.depends_on) dependents_[needed].erase(id);
  }
  for (const std::string& needed : task.definition.depends_on) dependents_[needed].insert(id);
  const Task& put = tasks_.insert_or_assign(id, std::move(task)).first->second;
  File(put);
  if (IsDone(id) != was_done) FileDependents(id);
}

void TaskBoard::Erase(std::string_view id) {
  const auto found = tasks_.find(id);
  if (found == tasks_.end()) return;
  const Task task = std::move(found->second);
  tasks_.erase(found);
  Unfile(task);
  for (const std::string& needed : task.definition.depends_on) {
    dependents_[needed].erase(task.definition.id);
  }
  FileDependents(task.definition.id);
}

const Task* TaskBoard::Find(std::string_view id) const {
  const auto found = tasks_.find(id);
  return found == tasks_.end() ? nullptr : &found->second;
}

const Task* TaskBoard::Next(const TaskWorker& worker, TimePoint now) const {
  const auto place = ready_.find({worker.accelerator, worker.zone});
  if (place == ready_.end()) return nullptr;
  for (const Rank& rank : place->second) {
    const Task* const task = Find(std::get<std::string>(rank));
    if (MayRun(*task, worker, now)) return task;
  }
  return nullptr;
}

std::optional<TimePoint> TaskBoard::WakeAt(const TaskWorker& worker, TimePoint now) const {
  std::optional<TimePoint> wake;
  const auto place = ready_.find({worker.accelerator, worker.zone});
  if (place == ready_.end()) return wake;
  for (const Rank& rank : place->second) {
    const TimePoint until = Find(std::get<std::string>(rank))->not_before;
    if (until > now) wake = std::min(until, wake.value_or(until));
  }
  return wake;
}

int TaskBoard::CountAhead(const Task& task) const {
  const auto place = ready_.find(PlaceOf(task));
  if (place == ready_.end()) return 0;
  const auto here = place->second.lower_bound(RankOf(task));
  return static_cast<int>(std::distance(place->second.begin(), here));
}

std::map<std::string_view, int> TaskBoard::CountsAhead() const {
  std::map<std::string_view, int> counts;
  for (const auto& [place, ranks] : ready_) {
    int count = 0;
    for (const Rank& rank : ranks) counts.emplace(std::get<std::string>(rank), count++);
  }
  return counts;
}

TaskState TaskBoard::StateOf(const Task& task) const {
  return StateOfTask(task, MissingFor(task) != nullptr);
}

}  // namespace jobman::core
