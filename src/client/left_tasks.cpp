#include "client/left_tasks.hpp"

#include <algorithm>
#include <utility>

namespace jobman::client {
namespace {

using core::TaskClaim;

/// The tasks of all queues that are run.
base::Task<base::Result<std::vector<core::Task>>> ClaimedTasks(ports::QueueStore* queues) {
  std::vector<core::Task> claimed;
  JM_CO_ASSIGN_OR_RETURN(const auto all, co_await queues->Queues());
  for (const ports::Queue& queue : all) {
    JM_CO_ASSIGN_OR_RETURN(ports::TasksRead read, co_await queues->Tasks(queue.id, 0));
    for (core::Task& task : read.tasks)
      if (!task.claims.empty()) claimed.push_back(std::move(task));
  }
  co_return claimed;
}

/// Ends the job's run of the task, if it runs it. The task becomes what is then stored.
void Leave(core::Task& task, ports::Turn& turn, base::TimePoint now) {
  const auto own = std::find_if(task.claims.begin(), task.claims.end(),
                                [&](const TaskClaim& claim) { return claim.job == turn.job.id; });
  if (own == task.claims.end()) return;
  const core::TaskEnd end{.kind = core::TaskEndKind::kStopped,
                          .slice_lost = true,
                          .why = "left to the store that this one is a copy of"};
  auto released = core::ReleaseTask(task, TaskClaim(*own), end, now);
  if (!released) return;
  task = released->task;
  ++task.version;
  turn.tasks.push_back(*std::move(released));
}

}  // namespace

base::Task<base::Status> LeaveTasks(ports::QueueStore* queues, std::vector<ports::Turn>* turns,
                                    base::TimePoint now) {
  JM_CO_ASSIGN_OR_RETURN(auto claimed, co_await ClaimedTasks(queues));
  for (ports::Turn& turn : *turns)  // in the order in which they are written
    for (core::Task& task : claimed) Leave(task, turn, now);
  co_return base::Ok();
}

}  // namespace jobman::client
