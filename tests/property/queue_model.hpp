#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "jobman/core/reconcile.hpp"
#include "jobman/core/task_board.hpp"
#include "tests/property/random.hpp"

namespace jobman::test {

using base::TimePoint;

/// The tasks that a worker serves, as a store has them, with a user and another worker who change
/// them, and a controller that offers from what it read, perhaps a while ago.
class QueueModel {
 public:
  explicit QueueModel(std::uint64_t seed);

  /// The user, or the other worker, does something.
  void Change(TimePoint now);
  /// What a controller would offer to the job; nothing if no task can be taken. `late`: by an
  /// earlier record, of any task.
  std::optional<core::Task> Offer(const core::Job& job, TimePoint now, bool late);
  /// Writes what a decision says of tasks, as a store does. False when a record has changed
  /// meanwhile: then nothing is written.
  bool Commit(const core::Step& step);
  /// How the records contradict the job; empty: not at all.
  std::string Judge(const core::Job& job) const;

 private:
  void Put(core::Task task);
  void ClaimElsewhere(core::Task task, TimePoint now);

  Random random_;
  core::TaskBoard board_;
  std::vector<core::Task> earlier_ = {};
  std::string broken_ = {};
};

}  // namespace jobman::test
