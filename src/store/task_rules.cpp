#include "store/task_rules.hpp"

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

namespace jobman::store {
namespace {

/// "task train-1": how errors name it.
std::string TaskText(const std::string& id) {
  return "task " + id;
}

/// Each task is moved once: it is large, and a queue may have ten thousand.
void SortTasks(std::vector<core::Task>& tasks) {
  std::vector<core::Task*> order;
  order.reserve(tasks.size());
  for (core::Task& task : tasks) order.push_back(&task);
  std::sort(order.begin(), order.end(), [](const core::Task* a, const core::Task* b) {
    return std::tie(a->order, a->definition.id) < std::tie(b->order, b->definition.id);
  });
  std::vector<core::Task> sorted;
  sorted.reserve(tasks.size());
  for (core::Task* const task : order) sorted.push_back(std::move(*task));
  tasks = std::move(sorted);
}

}  // namespace

bool IsComplete(std::int64_t after, std::int64_t change, std::int64_t erased) {
  return after <= 0 || after < erased || after > change;
}

void AddToRead(ports::TasksRead& read, const std::string& id, base::Result<core::Task> task) {
  if (task.ok()) return read.tasks.push_back(std::move(task).value());
  read.set_aside.push_back({.id = id, .why = task.error().message});
}

void SortRead(ports::TasksRead& read) {
  SortTasks(read.tasks);
  std::sort(read.set_aside.begin(), read.set_aside.end(),
            [](const auto& a, const auto& b) { return a.id < b.id; });
}

base::Result<core::Task> Sound(core::Task task) {
  const auto flaw = core::FlawOf(task);
  if (!flaw) return task;
  return base::Error{.code = base::Code::kDataLoss,
                     .message = "its record contradicts itself: " + *flaw,
                     .hint = "put a copy of the store back that is older than the damage"};
}

int ForgottenUpTo(const core::Task& task) {
  return task.runs - ports::kRunsKept;
}

base::Status MayEraseTask(const core::Task& task, std::int64_t version) {
  if (task.version != version) return StaleTask(task.definition.id);
  if (task.claims.empty()) return base::Ok();
  const std::string worker = core::FormatJobId(task.claims.front().job);
  return base::Error{
      .code = base::Code::kFailedPrecondition,
      .message = TaskText(task.definition.id) + " cannot be erased: job " + worker + " runs it",
      .hint = "wait for the end of the run. To end it at once: jobman cancel " +
              std::to_string(task.claims.front().job.value) + ", twice"};
}

base::Error NoSuchQueue(core::QueueId id) {
  return base::NotFound("there is no queue " + std::to_string(id.value), "read the queues again");
}

base::Error NoSuchTask(const std::string& id) {
  return base::NotFound("there is no " + TaskText(id), "its id is that of the queue file");
}

base::Error StaleTask(const std::string& id) {
  return {.code = base::Code::kAborted,
          .message = TaskText(id) + " has changed since it was read",
          .reason = base::Reason::kStale,
          .hint = "read it again"};
}

}  // namespace jobman::store
