#include "jobman/client/submit_tasks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "jobman/base/strings.hpp"
#include "jobman/client/background_controller.hpp"
#include "jobman/core/reconcile.hpp"
#include "jobman/core/task_board.hpp"

namespace jobman::client {
namespace {

/// Of commands that submit at the same time, each try lets one through.
constexpr int kMostSubmitTries = 20;

/// The submitted tasks, as they are recorded.
struct Recorded {
  core::QueueId queue = {};
  std::set<std::string> ids = {};
  int next_order = 0;
  core::TaskBoard board = core::TaskBoard();
};

base::Task<base::Result<Recorded>> ReadRecorded(ports::QueueStore* queues) {
  Recorded recorded;
  const std::string file(ports::kSubmittedQueue);
  JM_CO_ASSIGN_OR_RETURN(recorded.queue, co_await queues->OpenQueue(file));
  JM_CO_ASSIGN_OR_RETURN(ports::TasksRead read, co_await queues->Tasks(recorded.queue, 0));
  for (const core::Task& task : read.tasks) {
    recorded.ids.insert(task.definition.id);
    recorded.next_order = std::max(recorded.next_order, task.order + 1);
  }
  for (const ports::TaskSetAside& aside : read.set_aside) recorded.ids.insert(aside.id);
  recorded.board = core::TaskBoard(std::move(read.tasks));
  co_return recorded;
}

/// "train-004" if train-003 is the last one that there is.
std::string NextId(const std::set<std::string>& ids, const std::string& name) {
  std::int64_t last = 0;
  const std::string begin = name + "-";
  for (auto id = ids.lower_bound(begin); id != ids.end() && id->starts_with(begin); ++id) {
    const auto number = base::ParseNumber(std::string_view(*id).substr(begin.size()));
    last = std::max(last, number.value_or(0));
  }
  return fmt::format("{}{:03}", begin, last + 1);
}

base::Error IdIsTaken(const std::string& id) {
  return {.code = base::Code::kAlreadyExists,
          .message = "there is already a submitted task " + id,
          .hint = fmt::format("choose another --name; or jobman task show {0}, jobman task requeue "
                              "{0}, jobman task delete {0}",
                              id)};
}

/// New records for all of the order.
base::Result<std::vector<core::Task>> MakeTasks(const Recorded& recorded, const SubmitOrder& order,
                                                base::TimePoint now) {
  std::set<std::string> ids = recorded.ids;
  std::vector<core::Task> tasks;
  for (const core::TaskDefinition& definition : order.tasks) {
    core::Task task{.queue = recorded.queue,
                    .definition = definition,
                    .order = recorded.next_order + static_cast<int>(tasks.size()),
                    .since = now,
                    .why = "submitted"};
    if (order.numbered) task.definition.id = NextId(ids, definition.id);
    if (!ids.insert(task.definition.id).second) return IdIsTaken(task.definition.id);
    tasks.push_back(std::move(task));
  }
  return tasks;
}

/// All workers of submitted tasks that are not over.
base::Task<base::Result<std::vector<core::TaskWorker>>> WorkersOfSubmitted(ports::JobStore* jobs) {
  const ports::JobFilter current;
  JM_CO_ASSIGN_OR_RETURN(const auto rows, co_await jobs->List(current));
  std::vector<core::TaskWorker> workers;
  for (const ports::JobSummary& row : rows) {
    const auto job = co_await jobs->Get(row.id);
    if (!job.ok() || !job->spec.queue || job->spec.queue->config != ports::kSubmittedQueue)
      continue;
    if (const auto worker = core::WorkerOf(*job)) workers.push_back(*worker);
  }
  co_return workers;
}

std::vector<Submitted> Describe(Recorded recorded, std::vector<core::Task> tasks,
                                const std::vector<core::TaskWorker>& workers, base::TimePoint now) {
  for (const core::Task& task : tasks) recorded.board.Put(task);
  std::vector<Submitted> submitted;
  for (core::Task& task : tasks) {
    const core::TaskDefinition& wanted = task.definition;
    Submitted one{.waits_for = core::WhyWaits(recorded.board, task, workers, now)};
    one.has_worker = std::any_of(workers.begin(), workers.end(), [&](const auto& worker) {
      return worker.accelerator == wanted.accelerator && worker.zone == wanted.zone;
    });
    one.task = std::move(task);
    submitted.push_back(std::move(one));
  }
  return submitted;
}

}  // namespace

base::Task<base::Result<std::vector<Submitted>>> SubmitTasks(Context context, SubmitOrder order) {
  ports::QueueStore* const queues = context.stores.queues;
  const base::TimePoint now = context.Now();
  for (int tries = 1;; ++tries) {
    JM_CO_ASSIGN_OR_RETURN(Recorded recorded, co_await ReadRecorded(queues));
    JM_CO_ASSIGN_OR_RETURN(std::vector<core::Task> tasks, MakeTasks(recorded, order, now));
    JM_CO_ASSIGN_OR_RETURN(const auto unwritten, co_await queues->ChangeTasks(tasks));
    // Another command took an id since the queue was read. Of several tasks some are stored now.
    const bool again = order.numbered && order.tasks.size() == 1 && tries < kMostSubmitTries;
    if (!unwritten.empty() && again) continue;
    if (!unwritten.empty()) co_return IdIsTaken(unwritten.front());
    JM_CO_TRY(co_await WakeController(context));
    JM_CO_ASSIGN_OR_RETURN(const auto workers, co_await WorkersOfSubmitted(context.stores.jobs));
    co_return Describe(std::move(recorded), std::move(tasks), workers, now);
  }
}

}  // namespace jobman::client
