#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "jobman/core/task.hpp"

namespace jobman::core {

/// The tasks of one queue, as they are recorded, with an index of those that can be taken: Next()
/// and Put() take logarithmic time. Pure; a controller builds it from the store and puts each
/// record that was written.
class TaskBoard {
 public:
  using Tasks = std::map<std::string, Task, std::less<>>;

  explicit TaskBoard(std::vector<Task> tasks = {});
  /// Adds the task, or replaces the one with its id.
  void Put(Task task);
  void Erase(std::string_view id);
  const Task* Find(std::string_view id) const;
  const Tasks& tasks() const { return tasks_; }

  /// The task that the worker takes: of its accelerator and zone, not done, not parked, not paused,
  /// every dependency done, fewer runs than max_jobs, none of them its own. Prioritized ones come
  /// first, then the order of the file. nullptr: none. Whether the worker is idle is not asked.
  const Task* Next(const TaskWorker& worker, TimePoint now) const;
  /// When a task that waits after interruptions may be taken by the worker; nothing if none waits.
  std::optional<TimePoint> WakeAt(const TaskWorker& worker, TimePoint now) const;
  /// How many tasks are taken before this one by workers of its kind.
  int CountAhead(const Task& task) const;
  /// The same for every task that can be taken, by id, in one look at all: CountAhead() takes time
  /// by what it counts. Until the board changes.
  std::map<std::string_view, int> CountsAhead() const;

  TaskState StateOf(const Task& task) const;
  /// The first dependency that is not done; nullptr if all are. It may name no task.
  const std::string* MissingFor(const Task& task) const;

 private:
  using Place = std::pair<std::string, std::string>;  ///< accelerator, zone
  using Rank = std::tuple<bool, int, std::string>;    ///< not prioritized, order, id
  static Place PlaceOf(const Task& task);
  static Rank RankOf(const Task& task);
  bool IsDone(std::string_view id) const;
  /// Puts the task into the index, or takes it out, as it stands.
  void File(const Task& task);
  void Unfile(const Task& task);
  void FileDependents(const std::string& id);

  Tasks tasks_ = {};
  std::map<std::string, std::set<std::string>, std::less<>> dependents_ = {};
  std::map<Place, std::set<Rank>> ready_ = {};
};

/// What the task waits for, or why it does not, in a sentence for `queue` and `why`. `workers`:
/// all of the queue. `ahead`: TaskBoard::CountAhead(), if it is known.
std::string WhyWaits(const TaskBoard& board, const Task& task,
                     const std::vector<TaskWorker>& workers, TimePoint now,
                     std::optional<int> ahead = {});

}  // namespace jobman::core
