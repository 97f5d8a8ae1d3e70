#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "client/import_parts.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/config/old_state.hpp"
#include "jobman/config/queue_file.hpp"

namespace jobman::client {
namespace {

using base::Result;

/// What the store has of a queue.
struct Stored {
  core::QueueId id = {};
  std::set<std::string> ids = {};
  int next_order = 0;
};

base::Task<Result<Stored>> ReadStored(Context context, std::string file, bool may_open) {
  Stored stored;
  ports::QueueStore* const queues = context.stores.queues;
  if (may_open) {
    JM_CO_ASSIGN_OR_RETURN(stored.id, co_await queues->OpenQueue(file));
  } else {
    JM_CO_ASSIGN_OR_RETURN(const auto all, co_await queues->Queues());
    for (const ports::Queue& queue : all) {
      if (queue.file == file) stored.id = queue.id;
    }
    if (stored.id == core::QueueId{}) co_return stored;
  }
  JM_CO_ASSIGN_OR_RETURN(const auto read, co_await queues->Tasks(stored.id, 0));
  for (const core::Task& task : read.tasks) {
    stored.ids.insert(task.definition.id);
    stored.next_order = std::max(stored.next_order, task.order + 1);
  }
  for (const ports::TaskSetAside& aside : read.set_aside) stored.ids.insert(aside.id);
  co_return stored;
}

/// Any other id could lead out of the folder of logs.
bool IsFileName(const std::string& id) {
  return !id.empty() && id.front() != '.' && id.find('/') == std::string::npos;
}

void LeaveOut(ImportedQueue& row, const std::string& why) {
  ++row.left;
  if (row.why.empty()) row.why = why;
}

/// Records the tasks, unless the order is a dry run, and copies the logs of all of them.
base::Task<base::Status> Finish(Context context, ImportOrder order, Stored stored,
                                std::vector<core::Task> tasks, base::Path logs,
                                ImportedQueue* row) {
  row->taken = static_cast<int>(tasks.size());
  for (const core::Task& task : tasks) stored.ids.insert(task.definition.id);
  if (!order.dry_run && !tasks.empty()) {
    JM_CO_ASSIGN_OR_RETURN(const auto unwritten,
                           co_await context.stores.queues->ChangeTasks(std::move(tasks)));
    row->taken -= static_cast<int>(unwritten.size());  // a controller read the file just now
    row->there += static_cast<int>(unwritten.size());
  }
  for (const std::string& id : stored.ids) {
    if (!IsFileName(id)) continue;
    for (const base::Path& folder : {logs / id, logs / "hide" / id}) {
      JM_CO_ASSIGN_OR_RETURN(const int count, ImportTaskLogs(context.paths, stored.id, id, folder,
                                                             !order.dry_run, row->why));
      row->logs += count;
    }
  }
  co_return base::Ok();
}

}  // namespace

base::Task<Result<ImportedQueue>> ImportQueue(Context context, ImportOrder order,
                                              config::OldFolder old, base::Path file) {
  ImportedQueue row{.file = base::RealPath(file).string()};
  const config::QueueFileResult read = config::ReadQueueFile(
      {.file = row.file, .defaults = config::SystemDefaults(context.paths.home)});
  const auto text = base::ReadRegularFile(config::OldStateFileOf(row.file));
  if (!text.ok()) {  // the jobs are stored by now: what became of them is to be said
    LeaveOut(row, text.error().message);
    co_return row;
  }
  const auto states = config::ReadOldTasks(*text);
  if (!states.ok() || !read.list) {
    row.why = states.ok() ? read.problems.front().message : states.error().message;
    row.left = states.ok() ? static_cast<int>(states->tasks.size()) : 0;
    co_return row;
  }
  JM_CO_ASSIGN_OR_RETURN(const Stored stored,
                         co_await ReadStored(context, row.file, !order.dry_run));
  std::vector<core::Task> tasks;
  for (const config::OldTask& state : states->tasks) {
    const auto& listed = read.list->tasks;
    const auto found = std::find_if(listed.begin(), listed.end(), [&](const auto& definition) {
      return definition.id == state.id;
    });
    if (stored.ids.contains(state.id)) {
      ++row.there;
    } else if (found == listed.end()) {
      LeaveOut(row,
               "task " + base::Shorten(state.id, 40) + " is not in the file, or cannot be used");
    } else {
      core::Task task = config::ContinueOldTask(state, *found, stored.id, context.Now());
      task.order = static_cast<int>(found - listed.begin());
      tasks.push_back(std::move(task));
    }
  }
  for (const std::string& unclear : states->unclear) LeaveOut(row, unclear);
  JM_CO_TRY(co_await Finish(context, order, stored, std::move(tasks), old.task_logs, &row));
  co_return row;
}

base::Task<Result<ImportedQueue>> ImportSubmitted(Context context, ImportOrder order,
                                                  config::OldFolder old) {
  ImportedQueue row{.file = std::string(ports::kSubmittedQueue)};
  JM_CO_ASSIGN_OR_RETURN(Stored stored, co_await ReadStored(context, row.file, !order.dry_run));
  std::vector<core::Task> tasks;
  for (const config::OldSubmitted& one : old.tasks) {
    const std::string& id = one.task.definition.id;
    if (stored.ids.contains(id)) {
      ++row.there;
    } else if (!one.unclear.empty() || !IsFileName(id)) {
      LeaveOut(row, fmt::format("task {}: {}", base::Shorten(id, 40),
                                one.unclear.empty() ? "its id is no plain name" : one.unclear));
    } else {
      core::Task task = one.task;
      task.queue = stored.id;
      task.order = stored.next_order++;
      tasks.push_back(std::move(task));
    }
  }
  JM_CO_TRY(co_await Finish(context, order, stored, std::move(tasks), old.task_logs, &row));
  co_return row;
}

}  // namespace jobman::client
