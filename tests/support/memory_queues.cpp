#include "tests/support/memory_queues.hpp"

#include <algorithm>

#include "store/task_rules.hpp"

namespace jobman::test {

using base::Result;
using base::Status;
using core::QueueId;

QueueId MemoryQueues::Open(const std::string& file) {
  for (const auto& [id, entry] : queues_)
    if (entry.queue.file == file) return id;
  const QueueId id{std::ssize(queues_) + 1};
  queues_[id].queue = {.id = id, .file = file};
  return id;
}

std::vector<ports::Queue> MemoryQueues::All() const {
  std::vector<ports::Queue> all;
  for (const auto& [id, entry] : queues_) all.push_back(entry.queue);
  return all;
}

Result<const MemoryQueues::Entry*> MemoryQueues::Find(QueueId queue) const {
  const auto found = queues_.find(queue);
  if (found == queues_.end()) return store::NoSuchQueue(queue);
  return &found->second;
}

const MemoryQueues::Record* MemoryQueues::FindTask(QueueId queue, const std::string& id) const {
  const auto entry = queues_.find(queue);
  if (entry == queues_.end()) return nullptr;
  const auto found = entry->second.tasks.find(id);
  return found == entry->second.tasks.end() ? nullptr : &found->second;
}

Result<core::Task> MemoryQueues::Read(const Record& record) {
  if (!record.unreadable) return store::Sound(record.task);
  return base::Error{.code = base::Code::kFailedPrecondition,
                     .message = "written by a newer jobman: unknown standing of a task \"shelved\"",
                     .reason = base::Reason::kNewerStore};
}

Result<ports::TasksRead> MemoryQueues::Tasks(QueueId queue, std::int64_t after) const {
  JM_ASSIGN_OR_RETURN(const Entry* entry, Find(queue));
  const std::int64_t change = entry->queue.change;
  ports::TasksRead read{.change = change,
                        .complete = store::IsComplete(after, change, entry->erased)};
  for (const auto& [id, record] : entry->tasks)
    if (read.complete || record.change > after) store::AddToRead(read, id, Read(record));
  store::SortRead(read);
  return read;
}

Result<core::Task> MemoryQueues::Get(QueueId queue, const std::string& id) const {
  const Record* const record = FindTask(queue, id);
  if (record == nullptr) return store::NoSuchTask(id);
  return Read(*record);
}

std::vector<core::TaskRun> MemoryQueues::Runs(QueueId queue, const std::string& id) const {
  std::vector<core::TaskRun> runs;
  const Record* const record = FindTask(queue, id);
  if (record == nullptr) return runs;
  for (const auto& [number, run] : record->runs) runs.push_back(run);
  return runs;
}

bool MemoryQueues::IsCurrent(const core::Task& task) const {
  const Record* const stored = FindTask(task.queue, task.definition.id);
  return task.version == 0 ? stored == nullptr
                           : stored != nullptr && stored->task.version == task.version;
}

MemoryQueues::Record& MemoryQueues::Put(Entry& entry, core::Task task) {
  Record& record = entry.tasks[task.definition.id];
  task.version += 1;
  record.task = std::move(task);
  record.change = entry.queue.change;
  record.unreadable = false;
  return record;
}

Status MemoryQueues::Sync(QueueId queue, const ports::QueueReading& reading,
                          const std::vector<core::Task>& tasks) {
  JM_TRY(Find(queue));
  std::vector<core::Task> written;
  for (core::Task task : tasks) {
    task.queue = queue;
    const Record* const stored = FindTask(queue, task.definition.id);
    const bool set_aside = stored != nullptr && !Read(*stored).ok();
    if (task.version == 0 && set_aside) continue;
    if (!IsCurrent(task)) return store::StaleTask(task.definition.id);
    written.push_back(std::move(task));
  }
  Entry& entry = queues_.at(queue);
  entry.queue.reading = reading;
  ++entry.queue.change;
  for (core::Task& task : written) Put(entry, std::move(task));
  return base::Ok();
}

Result<std::vector<std::string>> MemoryQueues::Change(const std::vector<core::Task>& tasks) {
  std::set<QueueId> queues;
  for (const core::Task& task : tasks) queues.insert(task.queue);
  for (const QueueId queue : queues) JM_TRY(Find(queue));
  for (const QueueId queue : queues) ++queues_.at(queue).queue.change;
  std::vector<std::string> stale;
  for (const core::Task& task : tasks) {
    if (IsCurrent(task)) {
      Put(queues_.at(task.queue), task);
    } else {
      stale.push_back(task.definition.id);
    }
  }
  return stale;
}

Status MemoryQueues::Erase(QueueId queue, const std::string& id, std::int64_t version) {
  JM_ASSIGN_OR_RETURN(const core::Task task, Get(queue, id));
  JM_TRY(store::MayEraseTask(task, version));
  Entry& entry = queues_.at(queue);
  entry.erased = ++entry.queue.change;
  entry.tasks.erase(id);
  return base::Ok();
}

Status MemoryQueues::WriteChange(const core::TaskChange& change) {
  JM_TRY(Find(change.task.queue));
  if (change.task.version == 0 || !IsCurrent(change.task)) {
    return store::StaleTask(change.task.definition.id);
  }
  Entry& entry = queues_.at(change.task.queue);
  ++entry.queue.change;
  Record& record = Put(entry, change.task);
  record.runs[change.run.number] = change.run;
  std::erase_if(record.runs,
                [&](const auto& run) { return run.first <= store::ForgottenUpTo(change.task); });
  return base::Ok();
}

Status MemoryQueues::Release(const core::TaskRelease& release) {
  const auto stored = Get(release.queue, release.task);
  if (!stored.ok()) return base::Ok();
  const auto change = core::ReleaseTask(*stored, release.claim, release.end, release.at);
  return change ? WriteChange(*change) : base::Ok();
}

Status MemoryQueues::Write(const std::vector<core::TaskWrite>& writes) {
  for (const core::TaskWrite& write : writes) {
    const auto* const change = std::get_if<core::TaskChange>(&write);
    JM_TRY(change != nullptr ? WriteChange(*change) : Release(std::get<core::TaskRelease>(write)));
  }
  return base::Ok();
}

void MemoryQueues::SetUnreadable(QueueId queue, const std::string& id, bool unreadable) {
  Entry& entry = queues_.at(queue);
  Record& record = entry.tasks.at(id);
  record.unreadable = unreadable;
  record.change = ++entry.queue.change;
  ++record.task.version;
}

}  // namespace jobman::test
