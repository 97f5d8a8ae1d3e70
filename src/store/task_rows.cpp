#include "store/task_rows.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <future>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "jobman/core/task_json.hpp"
#include "jobman/ports/records.hpp"
#include "store/documents.hpp"
#include "store/task_rules.hpp"

namespace jobman::store {
namespace {

using base::Json;
using core::QueueId;

constexpr const char* kWritingATask = "writing a task";

Result<core::Task> ParseTask(std::string_view text) {
  JM_ASSIGN_OR_RETURN(const Json json, ParseColumn(text));
  JM_ASSIGN_OR_RETURN(core::Task task, core::TaskFromJson(json));
  return Sound(std::move(task));
}

struct TaskRow {
  std::string id;
  std::int64_t version = 0;
  std::string text;  ///< task_json
};

Result<core::Task> ReadTask(const TaskRow& row, QueueId queue) {
  auto task = ParseTask(row.text);
  if (!task.ok()) return Unreadable(std::move(task).error(), "reading task " + row.id);
  if (task->definition.id != row.id) {
    return base::Error{.code = base::Code::kDataLoss,
                       .message = "its record is that of task " + task->definition.id,
                       .hint = "put a copy of the store back that is older than the damage"}
        .With("reading task " + row.id);
  }
  task->queue = queue;
  task->version = row.version;
  return task;
}

void AddRows(std::span<const TaskRow> rows, QueueId queue, ports::TasksRead& read) {
  for (const TaskRow& row : rows) AddToRead(read, row.id, ReadTask(row, queue));
}

/// Half of so many is worth the start of a thread.
constexpr std::size_t kMany = 2000;

/// Parsing is most of the work, and needs no database: of many rows, both halves at once.
void AddAll(std::span<const TaskRow> rows, QueueId queue, ports::TasksRead& read) {
  if (rows.size() < kMany) return AddRows(rows, queue, read);
  const std::span<const TaskRow> first = rows.first(rows.size() / 2);
  const std::span<const TaskRow> rest = rows.subspan(first.size());
  ports::TasksRead other;
  // Where no thread can be had, get() does it.
  auto others = std::async([rest, queue, &other] { AddRows(rest, queue, other); });
  AddRows(first, queue, read);
  others.get();
  std::move(other.tasks.begin(), other.tasks.end(), std::back_inserter(read.tasks));
  std::move(other.set_aside.begin(), other.set_aside.end(), std::back_inserter(read.set_aside));
}

struct Counters {
  std::int64_t change = 0;
  std::int64_t erased = 0;
};

Result<Counters> SelectCounters(Database& db, QueueId queue) {
  JM_ASSIGN_OR_RETURN(
      Query query, db.Prepare("SELECT change, erased FROM queues WHERE id = ?", "reading a queue"));
  JM_ASSIGN_OR_RETURN(const bool found, query.Bind(queue.value).Step());
  if (!found) return NoSuchQueue(queue);
  return Counters{.change = query.Int(), .erased = query.Int()};
}

// --- What was seen of a file ---

std::string NotesText(const ports::QueueReading& reading) {
  Json json = Json::object();
  for (const core::RefusedTask& refused : reading.refused)
    json["refused"].push_back({{"id", refused.id}, {"why", refused.why}});
  if (!reading.warnings.empty()) json["warnings"] = reading.warnings;
  return JsonText(json);
}

/// They are for people: damaged ones must not hide the queue.
void ReadNotes(std::string_view text, ports::QueueReading& reading) {
  const auto json = base::ParseJson(text);
  if (!json.ok()) return;
  for (const Json& refused : base::GetMember(*json, "refused")) {
    reading.refused.push_back(
        {.id = base::GetString(refused, "id"), .why = base::GetString(refused, "why")});
  }
  for (const Json& warning : base::GetMember(*json, "warnings"))
    if (warning.is_string()) reading.warnings.push_back(warning.get_ref<const std::string&>());
}

ports::Queue ReadQueue(Query& query) {
  ports::Queue queue{.id = {query.Int()}, .file = query.Text()};
  queue.reading = {.at = query.Time(), .error = query.Text(), .fingerprint = query.Text()};
  ReadNotes(query.View(), queue.reading);
  queue.change = query.Int();
  return queue;
}

// --- Writing ---

Status InsertTask(Database& db, const core::Task& task) {
  return db.Run(
      "INSERT INTO tasks (queue, id, version, change, task_json) "
      "VALUES (?1, ?2, 1, (SELECT change FROM queues WHERE id = ?1), ?3) "
      "ON CONFLICT (queue, id) DO NOTHING",
      kWritingATask, task.queue.value, task.definition.id, JsonText(core::TaskToJson(task)));
}

Status UpdateTask(Database& db, const core::Task& task) {
  return db.Run(UpdateTaskSql(), kWritingATask, JsonText(core::TaskToJson(task)), task.queue.value,
                task.definition.id, task.version);
}

Status PutRun(Database& db, const core::TaskChange& change) {
  const std::string& id = change.task.definition.id;
  JM_TRY(
      db.Run("INSERT INTO task_runs (queue, task, number, run_json) VALUES (?, ?, ?, ?) "
             "ON CONFLICT (queue, task, number) DO UPDATE SET run_json = excluded.run_json",
             "recording a run", change.task.queue.value, id, change.run.number,
             JsonText(core::TaskRunToJson(change.run))));
  return db.Run("DELETE FROM task_runs WHERE queue = ? AND task = ? AND number <= ?",
                "forgetting old runs", change.task.queue.value, id, ForgottenUpTo(change.task));
}

Status WriteTaskChange(Database& db, const core::TaskChange& change) {
  JM_TRY(CountChange(db, change.task.queue));
  JM_TRY(UpdateTask(db, change.task));
  if (db.changes() != 1) return StaleTask(change.task.definition.id);
  return PutRun(db, change);
}

/// Nothing to release is no error: the job that ran the task must be able to go on.
Status Release(Database& db, const core::TaskRelease& release) {
  auto stored = SelectTask(db, release.queue, release.task);
  if (!stored.ok()) {
    const bool is_none = stored.error().code == base::Code::kNotFound;
    return is_none || ports::IsUnusable(stored.error()) ? base::Ok() : Status(stored.error());
  }
  const auto change = core::ReleaseTask(*std::move(stored), release.claim, release.end, release.at);
  return change ? WriteTaskChange(db, *change) : base::Ok();
}

}  // namespace

const char* SelectTasksSql() {
  return "SELECT id, version, task_json FROM tasks WHERE queue = ? AND change > ?";
}

const char* UpdateTaskSql() {
  return "UPDATE tasks SET version = version + 1, "
         "change = (SELECT change FROM queues WHERE queues.id = tasks.queue), task_json = ? "
         "WHERE queue = ? AND id = ? AND version = ?";
}

Result<ports::TasksRead> SelectTasks(Database& db, QueueId queue, std::int64_t after) {
  // First: what is written between the two is in this answer and again in the next one.
  JM_ASSIGN_OR_RETURN(const Counters counters, SelectCounters(db, queue));
  ports::TasksRead read{.change = counters.change,
                        .complete = IsComplete(after, counters.change, counters.erased)};
  JM_ASSIGN_OR_RETURN(Query query, db.Prepare(SelectTasksSql(), "reading tasks"));
  query.Bind(queue.value).Bind(read.complete ? std::int64_t{0} : after);
  std::vector<TaskRow> rows;
  for (;;) {
    JM_ASSIGN_OR_RETURN(const bool row, query.Step());
    if (!row) break;
    rows.push_back({.id = query.Text(), .version = query.Int(), .text = query.Text()});
  }
  AddAll(rows, queue, read);
  SortRead(read);
  return read;
}

Result<core::Task> SelectTask(Database& db, QueueId queue, const std::string& id) {
  JM_ASSIGN_OR_RETURN(Query query,
                      db.Prepare("SELECT version, task_json FROM tasks WHERE queue = ? AND id = ?",
                                 "reading a task"));
  JM_ASSIGN_OR_RETURN(const bool found, query.Bind(queue.value).Bind(id).Step());
  if (!found) return NoSuchTask(id);
  return ReadTask({.id = id, .version = query.Int(), .text = query.Text()}, queue);
}

Result<std::vector<core::TaskRun>> SelectRuns(Database& db, QueueId queue, const std::string& id) {
  JM_ASSIGN_OR_RETURN(
      Query query,
      db.Prepare("SELECT run_json FROM task_runs WHERE queue = ? AND task = ? ORDER BY number",
                 "reading the runs of a task"));
  query.Bind(queue.value).Bind(id);
  std::vector<core::TaskRun> runs;
  for (;;) {
    JM_ASSIGN_OR_RETURN(const bool row, query.Step());
    if (!row) return runs;
    JM_ASSIGN_OR_RETURN(const Json json, ParseColumn(query.View()));
    auto run = core::TaskRunFromJson(json);
    if (!run.ok()) return Unreadable(std::move(run).error(), "reading the runs of task " + id);
    runs.push_back(*std::move(run));
  }
}

Result<std::vector<ports::Queue>> SelectQueues(Database& db) {
  JM_ASSIGN_OR_RETURN(
      Query query,
      db.Prepare("SELECT id, file, read_at, error, fingerprint, notes_json, change FROM queues "
                 "ORDER BY id",
                 "reading the queues"));
  std::vector<ports::Queue> queues;
  for (;;) {
    JM_ASSIGN_OR_RETURN(const bool row, query.Step());
    if (!row) return queues;
    queues.push_back(ReadQueue(query));
  }
}

Status CountChange(Database& db, QueueId queue) {
  JM_TRY(db.Run("UPDATE queues SET change = change + 1 WHERE id = ?", "counting a change",
                queue.value));
  return db.changes() == 1 ? base::Ok() : Status(NoSuchQueue(queue));
}

Status UpdateReading(Database& db, QueueId queue, const ports::QueueReading& reading) {
  return db.Run(
      "UPDATE queues SET read_at = ?, error = ?, fingerprint = ?, notes_json = ? WHERE id = ?",
      "recording that a queue file was read", reading.at, reading.error, reading.fingerprint,
      NotesText(reading), queue.value);
}

Result<bool> WriteTask(Database& db, const core::Task& task) {
  JM_TRY(task.version == 0 ? InsertTask(db, task) : UpdateTask(db, task));
  return db.changes() == 1;
}

Status ApplyTaskWrite(Database& db, const core::TaskWrite& write) {
  if (const auto* const change = std::get_if<core::TaskChange>(&write))
    return WriteTaskChange(db, *change);
  return Release(db, std::get<core::TaskRelease>(write));
}

Status DeleteTask(Database& db, QueueId queue, const std::string& id) {
  constexpr const char* kErasing = "erasing a task";
  JM_TRY(db.Run("UPDATE queues SET erased = change WHERE id = ?", kErasing, queue.value));
  JM_TRY(db.Run("DELETE FROM task_runs WHERE queue = ? AND task = ?", kErasing, queue.value, id));
  return db.Run("DELETE FROM tasks WHERE queue = ? AND id = ?", kErasing, queue.value, id);
}

}  // namespace jobman::store
