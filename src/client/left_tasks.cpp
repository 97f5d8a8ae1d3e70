#include "client/left_tasks.hpp"

#include <utility>

namespace jobman::client {
namespace {

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

/// Ends the job's run of the task, if it runs it.
void Leave(const core::Task& task, ports::Turn& turn, base::TimePoint now) {
  for (const core::TaskClaim& claim : task.claims) {
    if (claim.job != turn.job.id) continue;
    const core::TaskEnd end{.kind = core::TaskEndKind::kStopped,
                            .slice_lost = true,
                            .why = "left to the store that this one is a copy of"};
    turn.tasks.push_back(core::TaskRelease{
        .queue = task.queue, .task = task.definition.id, .claim = claim, .end = end, .at = now});
  }
}

}  // namespace

base::Task<base::Status> LeaveTasks(ports::QueueStore* queues, std::vector<ports::Turn>* turns,
                                    base::TimePoint now) {
  JM_CO_ASSIGN_OR_RETURN(const auto claimed, co_await ClaimedTasks(queues));
  for (ports::Turn& turn : *turns)
    for (const core::Task& task : claimed) Leave(task, turn, now);
  co_return base::Ok();
}

}  // namespace jobman::client
