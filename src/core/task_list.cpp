#include "jobman/core/task_list.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace jobman::core {
namespace {

Task NewTask(const TaskDefinition& definition, QueueId queue, TimePoint now) {
  return {.queue = queue, .definition = definition, .since = now, .why = "new in the queue file"};
}

/// Says so only of a task that waits: of others, the last sentence says more.
void TellOfFile(Task& task, std::string why, TimePoint now) {
  if (!task.claims.empty() || !std::holds_alternative<TaskOpen>(task.standing)) return;
  task.why = std::move(why);
  task.since = now;
}

/// The record as the file now has it.
Task Updated(const Task& before, const TaskDefinition& definition, TimePoint now) {
  Task task = before;
  task.listed = true;
  if (!before.listed) TellOfFile(task, "back in the queue file", now);
  if (task.definition == definition) return task;
  task.definition = definition;
  TellOfFile(task, "changed in the queue file", now);
  return task;
}

/// For each task, the indices of those that it depends on.
std::vector<std::vector<std::size_t>> EdgesOf(const std::vector<TaskDefinition>& tasks) {
  std::map<std::string_view, std::size_t> numbers;
  for (std::size_t i = 0; i < tasks.size(); ++i) numbers.emplace(tasks[i].id, i);
  std::vector<std::vector<std::size_t>> edges(tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    for (const std::string& needed : tasks[i].depends_on) {
      const auto found = numbers.find(needed);
      if (found != numbers.end()) edges[i].push_back(found->second);
    }
  }
  return edges;
}

/// A search in depth, with a stack of its own: a file may have a chain of ten thousand tasks.
class CycleSearch {
 public:
  explicit CycleSearch(std::vector<std::vector<std::size_t>> edges)
      : edges_(std::move(edges)), marks_(edges_.size()) {}

  std::vector<std::vector<std::size_t>> Run() {
    for (std::size_t root = 0; root < edges_.size(); ++root) {
      if (!marks_[root].seen) Enter(root);
      while (!stack_.empty()) Step();
    }
    return std::move(cycles_);
  }

 private:
  struct Mark {
    bool seen = false;
    bool on_stack = false;
    bool told = false;  ///< it is in one of the cycles
  };
  struct Visit {
    std::size_t task = 0;
    std::size_t next = 0;  ///< of its edges
  };

  void Enter(std::size_t task) {
    marks_[task].seen = marks_[task].on_stack = true;
    stack_.push_back({.task = task});
  }

  void Step() {
    Visit& visit = stack_.back();
    if (visit.next == edges_[visit.task].size()) {
      marks_[visit.task].on_stack = false;
      stack_.pop_back();
      return;
    }
    const std::size_t from = visit.task;
    const std::size_t needed = edges_[from][visit.next++];
    if (!marks_[needed].seen) return Enter(needed);
    // A circle that leads through a task already told of is broken without that task.
    const bool fresh = !marks_[needed].told && !marks_[from].told;
    if (marks_[needed].on_stack && fresh) TellCycle(needed);
  }

  /// The circle from this task on the stack to the top, which depends on it.
  void TellCycle(std::size_t first) {
    const auto begin = std::find_if(stack_.begin(), stack_.end(),
                                    [&](const Visit& visit) { return visit.task == first; });
    std::vector<std::size_t> cycle;
    for (auto visit = begin; visit != stack_.end(); ++visit) {
      marks_[visit->task].told = true;
      cycle.push_back(visit->task);
    }
    cycles_.push_back(std::move(cycle));
  }

  std::vector<std::vector<std::size_t>> edges_;
  std::vector<Mark> marks_;
  std::vector<Visit> stack_ = {};
  std::vector<std::vector<std::size_t>> cycles_ = {};
};

}  // namespace

std::vector<Task> SyncTasks(const TaskList& list, const TaskBoard& board, QueueId queue,
                            TimePoint now) {
  std::vector<Task> changed;
  std::set<std::string_view> known;
  for (const RefusedTask& refused : list.refused) known.insert(refused.id);
  for (std::size_t i = 0; i < list.tasks.size(); ++i) {
    const TaskDefinition& definition = list.tasks[i];
    known.insert(definition.id);
    const Task* const before = board.Find(definition.id);
    Task task =
        before == nullptr ? NewTask(definition, queue, now) : Updated(*before, definition, now);
    task.order = static_cast<int>(i);
    if (before == nullptr || task != *before) changed.push_back(std::move(task));
  }
  for (const auto& [id, before] : board.tasks()) {
    if (!before.listed || known.contains(id)) continue;
    Task task = before;
    task.listed = false;
    TellOfFile(task, "removed from the queue file", now);
    changed.push_back(std::move(task));
  }
  return changed;
}

std::vector<std::vector<std::size_t>> FindCycles(const std::vector<TaskDefinition>& tasks) {
  return CycleSearch(EdgesOf(tasks)).Run();
}

}  // namespace jobman::core
