#include "tests/property/python_queue.hpp"

#include <algorithm>
#include <chrono>

namespace jobman::test {
namespace {

/// Of what a task says, then its accelerator, then the file: the first that is not nothing.
template <class T>
std::optional<T> FirstOf(const std::vector<std::optional<T>>& said) {
  for (const std::optional<T>& one : said) {
    if (one) return one;
  }
  return std::nullopt;
}

}  // namespace

std::string DifferenceName(Difference difference) {
  switch (difference) {
    case Difference::kDoneStays:
      return "a task is done, and a second run of it (`max_jobs`) fails later";
    case Difference::kLossBeatsOutput:
      return "the slice is preempted while the output says failure";
    case Difference::kZeroRetries:
      return "`max_retries: 0`";
    case Difference::kParkedIsNotDone:
      return "a failed task is parked";
    case Difference::kPauses:
      return "an interrupted task";
    case Difference::kMoreKeys:
      return "paused tasks; `zone`, `workers` and `hide` for all tasks of an accelerator";
  }
  return {};
}

PythonQueue::PythonQueue(CaseFile file, Differences adopted)
    : file_(std::move(file)), adopted_(std::move(adopted)) {}

const PythonQueue::State& PythonQueue::StateOf(const std::string& id) const {
  static const State kUnknown;
  const auto found = state_.find(id);
  return found == state_.end() ? kUnknown : found->second;
}

/// The task's, else that of `defaults`; nothing means that nobody takes it.
std::optional<std::string> PythonQueue::ZoneOf(const CaseTask& task) const {
  const auto& level = file_.accelerators.at(task.accelerator).zone;
  const auto of_level = Has(Difference::kMoreKeys) ? level : std::nullopt;
  return FirstOf<std::string>({task.own.zone, of_level, file_.defaults.zone});
}

int PythonQueue::MostJobs(const CaseTask& task) const {
  const auto& level = file_.accelerators.at(task.accelerator).max_jobs;
  return FirstOf<int>({task.own.max_jobs, level, file_.defaults.max_jobs}).value_or(1);
}

/// Zero counts as nothing said.
int PythonQueue::MostFailures(const CaseTask& task) const {
  std::vector<std::optional<int>> said = {task.own.max_retries,
                                          file_.accelerators.at(task.accelerator).max_retries,
                                          file_.defaults.max_retries};
  if (Has(Difference::kZeroRetries)) return std::max(FirstOf(said).value_or(3), 1);
  std::erase(said, std::optional<int>(0));
  return FirstOf(said).value_or(3);
}

/// What another task depends on is done, and did not fail when it was run last.
bool PythonQueue::IsSatisfied(const std::string& needed) const {
  const State& state = StateOf(needed);
  if (state.parked && Has(Difference::kParkedIsNotDone)) return false;
  if (!state.parked && Has(Difference::kDoneStays)) return state.done;
  return state.done && state.last != Status::kFailed;
}

bool PythonQueue::MayTake(const CaseTask& task, const CaseWorker& worker,
                          base::TimePoint now) const {
  const State& state = StateOf(task.id);
  if (edited_ && task.removed) return false;
  if (task.accelerator != worker.accelerator || ZoneOf(task) != worker.zone) return false;
  if (state.done || state.running >= MostJobs(task)) return false;
  if (Has(Difference::kMoreKeys) && state.paused) return false;
  if (Has(Difference::kPauses) && now < state.not_before) return false;
  return std::all_of(task.needs.begin(), task.needs.end(),
                     [this](const std::string& needed) { return IsSatisfied(needed); });
}

std::optional<std::string> PythonQueue::Next(const CaseWorker& worker, base::TimePoint now) const {
  for (const bool prioritized : {true, false}) {
    for (const CaseTask& task : file_.tasks) {
      const bool in_turn = StateOf(task.id).prioritized == prioritized;
      if (in_turn && MayTake(task, worker, now)) return task.id;
    }
  }
  return std::nullopt;
}

/// Output comes before the exit code.
PythonQueue::Status PythonQueue::Judge(CaseEnd end) const {
  switch (end) {
    case CaseEnd::kSucceeds:
    case CaseEnd::kSaysSuccess:
      return Status::kDone;
    case CaseEnd::kFails:
      return Status::kFailed;
    case CaseEnd::kIsTerminated:
    case CaseEnd::kIsPreempted:
      return Status::kInterrupted;
    case CaseEnd::kFailsAsItIsPreempted:
      return Has(Difference::kLossBeatsOutput) ? Status::kInterrupted : Status::kFailed;
  }
  return Status::kNone;
}

void PythonQueue::End(const std::string& id, CaseEnd end, base::TimePoint now) {
  State& state = state_[id];
  --state.running;
  state.last = Judge(end);
  if (state.last == Status::kDone) {
    state.done = true;
    state.parked = false;
    state.streak = 0;
  }
  if (state.last == Status::kFailed) Fail(id);
  if (state.last == Status::kInterrupted) Interrupt(state, end != CaseEnd::kIsTerminated, now);
}

void PythonQueue::Fail(const std::string& id) {
  State& state = state_[id];
  const auto task = std::find_if(file_.tasks.begin(), file_.tasks.end(),
                                 [&](const CaseTask& one) { return one.id == id; });
  if (state.done && !state.parked) return;
  ++state.failures;
  state.streak = 0;
  state.parked = state.failures >= MostFailures(*task);
  state.done = state.parked;
}

/// From the second in a row without a lost slice: 15 s, doubled up to ten minutes.
void PythonQueue::Interrupt(State& state, bool slice_lost, base::TimePoint now) const {
  if (slice_lost) return;
  ++state.streak;
  std::chrono::seconds pause{0};
  for (int i = 2; i <= state.streak; ++i) {
    pause = std::min(std::chrono::seconds{600}, std::max(2 * pause, std::chrono::seconds{15}));
  }
  state.not_before = now + pause;
}

}  // namespace jobman::test
