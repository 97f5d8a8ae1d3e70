#include <set>

#include "jobman/ports/records.hpp"
#include "jobman/store/sqlite_store.hpp"
#include "store/lease_row.hpp"
#include "store/sqlite.hpp"
#include "store/task_rows.hpp"
#include "store/task_rules.hpp"

// Queues of tasks. Claims and releases are written by Commit(), with the worker's job.

namespace jobman::store {

using core::QueueId;

namespace {

Result<std::optional<QueueId>> FindQueue(Database& db, const std::string& file) {
  JM_ASSIGN_OR_RETURN(Query query,
                      db.Prepare("SELECT id FROM queues WHERE file = ?", "looking for a queue"));
  JM_ASSIGN_OR_RETURN(const bool found, query.Bind(file).Step());
  return found ? std::optional(QueueId{query.Int()}) : std::nullopt;
}

/// What the file says of a task, written; a record that is set aside stays as it is.
Status PutListed(Database& db, const core::Task& task) {
  JM_ASSIGN_OR_RETURN(const bool written, WriteTask(db, task));
  if (written) return base::Ok();
  if (task.version != 0) return StaleTask(task.definition.id);
  const auto stored = SelectTask(db, task.queue, task.definition.id);
  const bool left_alone = !stored.ok() && ports::IsUnusable(stored.error());
  return left_alone ? base::Ok() : Status(StaleTask(task.definition.id));
}

}  // namespace

Task<Result<QueueId>> SqliteStore::OpenQueue(std::string file) {
  JM_CO_ASSIGN_OR_RETURN(const auto known, FindQueue(*db_, file));
  if (known) co_return *known;
  JM_CO_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*db_));
  JM_CO_TRY(db_->Run("INSERT INTO queues (file) VALUES (?) ON CONFLICT (file) DO NOTHING",
                     "making a queue", file));
  JM_CO_ASSIGN_OR_RETURN(const auto made, FindQueue(*db_, file));
  JM_CO_TRY(transaction.Commit());
  co_return *made;
}

Task<Result<std::vector<ports::Queue>>> SqliteStore::Queues() {
  co_return SelectQueues(*db_);
}

Task<Result<ports::TasksRead>> SqliteStore::Tasks(QueueId queue, std::int64_t after) {
  co_return SelectTasks(*db_, queue, after);
}

Task<Result<core::Task>> SqliteStore::GetTask(QueueId queue, std::string id) {
  co_return SelectTask(*db_, queue, id);
}

Task<Result<std::vector<core::TaskRun>>> SqliteStore::Runs(QueueId queue, std::string id) {
  co_return SelectRuns(*db_, queue, id);
}

Task<Status> SqliteStore::SyncQueue(QueueId queue, ports::QueueReading reading,
                                    std::vector<core::Task> tasks, std::int64_t lease_token) {
  JM_CO_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*db_));
  JM_CO_TRY(CheckLease(*db_, lease_token));
  JM_CO_TRY(CountChange(*db_, queue));
  JM_CO_TRY(UpdateReading(*db_, queue, reading));
  for (core::Task& task : tasks) {
    task.queue = queue;
    JM_CO_TRY(PutListed(*db_, task));
  }
  co_return transaction.Commit();
}

Task<Result<std::vector<std::string>>> SqliteStore::ChangeTasks(std::vector<core::Task> tasks) {
  JM_CO_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*db_));
  std::set<QueueId> queues;
  for (const core::Task& task : tasks) queues.insert(task.queue);
  for (const QueueId queue : queues) JM_CO_TRY(CountChange(*db_, queue));
  std::vector<std::string> stale;
  for (const core::Task& task : tasks) {
    JM_CO_ASSIGN_OR_RETURN(const bool written, WriteTask(*db_, task));
    if (!written) stale.push_back(task.definition.id);
  }
  JM_CO_TRY(transaction.Commit());
  co_return stale;
}

Task<Status> SqliteStore::ReleaseTasks(std::vector<core::TaskRelease> releases,
                                       std::int64_t lease_token) {
  JM_CO_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*db_));
  JM_CO_TRY(CheckLease(*db_, lease_token));
  for (const core::TaskRelease& release : releases) JM_CO_TRY(ApplyTaskWrite(*db_, release));
  co_return transaction.Commit();
}

Task<Status> SqliteStore::EraseTask(QueueId queue, std::string id, std::int64_t version) {
  JM_CO_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*db_));
  JM_CO_ASSIGN_OR_RETURN(const core::Task task, SelectTask(*db_, queue, id));
  JM_CO_TRY(MayEraseTask(task, version));
  JM_CO_TRY(CountChange(*db_, queue));
  JM_CO_TRY(DeleteTask(*db_, queue, id));
  co_return transaction.Commit();
}

}  // namespace jobman::store
