// What a command writes of tasks: by the side of the controller, whose lease it does not need.
#include <algorithm>
#include <map>
#include <utility>

#include "jobman/base/files.hpp"
#include "jobman/client/background_controller.hpp"
#include "jobman/client/queue.hpp"

namespace jobman::client {
namespace {

/// A task changes a few times in a minute at most, so the second try is the last one as a rule.
constexpr int kTriesOfChange = 5;

base::Error TooBusy(const std::string& id) {
  return {.code = base::Code::kAborted,
          .message = "task " + id + " is being changed by others all the time",
          .hint = "try again"};
}

base::Error Gone(const std::string& id) {
  return base::NotFound("the store has no task " + id + " that can be changed",
                        "a controller reads a queue file for its workers: jobman create a job "
                        "with job.queue first");
}

using Ids = std::vector<std::string>;

bool Has(const Ids& ids, const std::string& id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

/// The records of these tasks. One read for all: they may be ten thousand.
base::Task<base::Result<std::map<std::string, core::Task>>> ReadTasks(Context context,
                                                                      core::QueueId queue,
                                                                      Ids ids) {
  std::sort(ids.begin(), ids.end());
  JM_CO_ASSIGN_OR_RETURN(auto read, co_await context.stores.queues->Tasks(queue, 0));
  std::map<std::string, core::Task> found;
  for (core::Task& task : read.tasks) {
    std::string id = task.definition.id;
    if (std::binary_search(ids.begin(), ids.end(), id)) {
      found.emplace(std::move(id), std::move(task));
    }
  }
  for (const std::string& id : ids) {
    if (!found.contains(id)) co_return Gone(id);
  }
  co_return found;
}

/// Tasks of one queue.
base::Task<base::Status> ChangeInQueue(Context context, core::QueueId queue, Ids ids,
                                       TaskEdit edit) {
  for (int i = 0; i < kTriesOfChange; ++i) {
    JM_CO_ASSIGN_OR_RETURN(auto found, co_await ReadTasks(context, queue, ids));
    std::vector<core::Task> changed;
    for (auto& [id, task] : found) {
      core::Task edited = edit(task, context.Now());
      if (edited != task) changed.push_back(std::move(edited));
    }
    if (changed.empty()) co_return base::Ok();
    JM_CO_ASSIGN_OR_RETURN(ids, co_await context.stores.queues->ChangeTasks(std::move(changed)));
    if (ids.empty()) co_return base::Ok();
  }
  co_return TooBusy(ids.front());
}

/// Its next reading would bring the task back, and its runs would count from 1.
base::Status CheckMayErase(const core::Task& task, const ports::Queue& queue) {
  const bool of_file = queue.file != ports::kSubmittedQueue;
  if (!of_file || !task.listed) return base::Ok();
  const std::string& id = task.definition.id;
  return base::Error{.code = base::Code::kFailedPrecondition,
                     .message = queue.file + " has task " + id + ", so it would come back",
                     .hint =
                         "take it out of the file first; or keep it from being run: jobman "
                         "task pause " +
                         id};
}

base::Task<base::Result<ports::Queue>> FindQueue(Context context, core::QueueId id) {
  JM_CO_ASSIGN_OR_RETURN(const auto queues, co_await context.stores.queues->Queues());
  for (const ports::Queue& queue : queues) {
    if (queue.id == id) co_return queue;
  }
  co_return base::NotFound("the store has no such queue");
}

}  // namespace

base::Task<base::Result<std::vector<core::Task>>> ChangeTasks(Context context,
                                                              std::vector<TaskKey> tasks,
                                                              TaskEdit edit) {
  std::map<core::QueueId, Ids> by_queue;
  for (const TaskKey& key : tasks) {
    if (key.queue == core::QueueId{}) co_return Gone(key.id);
    Ids& ids = by_queue[key.queue];
    if (!Has(ids, key.id)) ids.push_back(key.id);
  }
  std::map<core::QueueId, std::map<std::string, core::Task>> written;
  for (const auto& queue_and_ids : by_queue) {
    JM_CO_TRY(co_await ChangeInQueue(context, queue_and_ids.first, queue_and_ids.second, edit));
    JM_CO_ASSIGN_OR_RETURN(written[queue_and_ids.first],
                           co_await ReadTasks(context, queue_and_ids.first, queue_and_ids.second));
  }
  controller::Nudge nudge;
  JM_CO_TRY(co_await WakeController(context, std::move(nudge)));
  std::vector<core::Task> changed;
  for (const TaskKey& key : tasks) changed.push_back(written[key.queue].at(key.id));
  co_return changed;
}

base::Task<base::Status> EraseTask(Context context, TaskKey key) {
  JM_CO_ASSIGN_OR_RETURN(const ports::Queue queue, co_await FindQueue(context, key.queue));
  for (int i = 0; i < kTriesOfChange; ++i) {
    JM_CO_ASSIGN_OR_RETURN(const core::Task task,
                           co_await context.stores.queues->GetTask(key.queue, key.id));
    JM_CO_TRY(CheckMayErase(task, queue));
    const base::Status erased =
        co_await context.stores.queues->EraseTask(key.queue, key.id, task.version);
    if (erased.ok()) co_return base::RemoveAll(context.paths.TaskDir(key.queue.value, key.id));
    if (erased.error().reason != base::Reason::kStale) co_return erased;
  }
  co_return TooBusy(key.id);
}

}  // namespace jobman::client
