#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "jobman/base/strings.hpp"
#include "jobman/core/task_board.hpp"

namespace jobman::core {
namespace {

/// Longer chains of dependencies are told by their ends.
constexpr std::size_t kMostLinks = 3;
constexpr std::size_t kMostPlaces = 3;

std::string PlaceText(const std::string& accelerator, const std::string& zone) {
  return accelerator + " in " + zone;
}

/// "a", "a, which waits for b", "a, and so on to z".
std::string ChainText(const std::vector<std::string>& links) {
  if (links.size() > kMostLinks) return links.front() + ", and so on to " + links.back();
  return base::Join(links, ", which waits for ");
}

/// What is wrong with, or becomes of, the dependency at the end of a chain.
std::string FateOf(const TaskBoard& board, const Task* task) {
  if (task == nullptr) return ", which the queue file does not have";
  const TaskState state = board.StateOf(*task);
  if (state == TaskState::kRemoved) return ", which the queue file does not have any more";
  const std::string reason = state == TaskState::kFailed ? ": " + task->why : "";
  return ", which is " + std::string(TaskStateName(state)) + reason;
}

std::string WhyBlocked(const TaskBoard& board, const Task& task) {
  std::vector<std::string> links;
  std::set<std::string_view> seen = {task.definition.id};
  for (const Task* at = &task;;) {
    const std::string& needed = *board.MissingFor(*at);
    links.push_back(needed);
    const std::string so_far = "waits for " + ChainText(links);
    if (!seen.insert(needed).second) return so_far + ": these tasks wait for each other";
    at = board.Find(needed);
    const bool further = at != nullptr && board.StateOf(*at) == TaskState::kBlocked;
    if (!further) return so_far + FateOf(board, at);
  }
}

std::string WhyRuns(const Task& task) {
  std::vector<std::string> jobs;
  for (const TaskClaim& claim : task.claims) jobs.push_back(FormatJobId(claim.job));
  return "runs on " + std::string(jobs.size() == 1 ? "job " : "jobs ") + base::Join(jobs, ", ");
}

/// What a run that goes on will not be followed by.
std::string WhatFollows(const Task& task) {
  if (!task.listed) return "; the queue file does not have it any more, so that is its last run";
  return task.paused ? "; it is paused, so no other run begins" : "";
}

/// "no worker of this queue has v4-8 in ZONE: they have v4-16 in ZONE".
std::string WhyNoWorker(const Task& task, const std::vector<TaskWorker>& workers) {
  if (workers.empty()) return "no worker serves this queue";
  std::set<std::string> places;
  for (const TaskWorker& worker : workers) {
    places.insert(PlaceText(worker.accelerator, worker.zone));
  }
  std::vector<std::string> told(places.begin(), places.end());
  if (told.size() > kMostPlaces) {
    told.resize(kMostPlaces);
    told.emplace_back("others");
  }
  return "no worker of this queue has " +
         PlaceText(task.definition.accelerator, task.definition.zone) + ": they have " +
         base::Join(told, ", ");
}

/// "2 at work, 1 without a slice".
std::string PhasesText(const std::vector<WorkerPhase>& phases) {
  constexpr std::array<std::pair<WorkerPhase, std::string_view>, 4> kWords = {
      {{WorkerPhase::kIdle, " idle"},
       {WorkerPhase::kBusy, " at work"},
       {WorkerPhase::kPreparing, " not ready yet"},
       {WorkerPhase::kDraining, " being stopped"}}};
  std::vector<std::string> parts;
  for (const auto& phase_and_word : kWords) {
    const auto count = std::count(phases.begin(), phases.end(), phase_and_word.first);
    if (count > 0) parts.push_back(std::to_string(count) + std::string(phase_and_word.second));
  }
  return base::Join(parts, ", ");
}

std::string WhyQueued(const TaskBoard& board, const Task& task,
                      const std::vector<TaskWorker>& workers, TimePoint now,
                      std::optional<int> known_ahead) {
  const TaskDefinition& wanted = task.definition;
  if (wanted.zone.empty()) return "names no zone, so no worker takes it";
  if (task.not_before > now) {
    return "waits for " + base::FormatDuration(task.not_before - now) + " after " +
           base::Plural(task.streak, "interruption") + " in a row: " + task.why;
  }
  std::vector<WorkerPhase> fitting;
  for (const TaskWorker& worker : workers) {
    const bool fits = worker.accelerator == wanted.accelerator && worker.zone == wanted.zone;
    if (fits) fitting.push_back(worker.phase);
  }
  if (fitting.empty()) return WhyNoWorker(task, workers);
  const int ahead = known_ahead ? *known_ahead : board.CountAhead(task);
  return "waits for " + base::Plural(static_cast<std::int64_t>(fitting.size()), "worker") +
         " with " + PlaceText(wanted.accelerator, wanted.zone) + " (" + PhasesText(fitting) + ")" +
         (ahead == 0 ? "" : ", after " + base::Plural(ahead, "other task"));
}

}  // namespace

std::string WhyWaits(const TaskBoard& board, const Task& task,
                     const std::vector<TaskWorker>& workers, TimePoint now,
                     std::optional<int> ahead) {
  switch (board.StateOf(task)) {
    case TaskState::kQueued:
      return WhyQueued(board, task, workers, now, ahead);
    case TaskState::kBlocked:
      return WhyBlocked(board, task);
    case TaskState::kRunning:
      return WhyRuns(task) + WhatFollows(task);
    case TaskState::kFailed:
      return task.why + "; jobman queue --reset " + task.definition.id + " puts it back";
    case TaskState::kDone:
      // It was marked as done, or has succeeded elsewhere, while a run went on.
      return task.claims.empty() ? task.why : task.why + "; it still " + WhyRuns(task);
    case TaskState::kPaused:
      return task.why;
    case TaskState::kRemoved:
      return "the queue file does not have it any more";
  }
  return {};
}

}  // namespace jobman::core
