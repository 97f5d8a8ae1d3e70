#include "jobman/store/memory_store.hpp"

#include <algorithm>

#include "store/rules.hpp"

namespace jobman::store {

using core::Job;
using core::JobId;

Result<MemoryStore::Record*> MemoryStore::Find(JobId id) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return NoSuchJob(id);
  return &found->second;
}

void MemoryStore::Append(Record& record, ports::Event event) {
  event.number = ++last_event_;
  event.job = record.job.id;
  record.events.push_back(std::move(event));
}

Result<std::string> MemoryStore::StoreId() {
  return std::string("memory");
}

Result<JobId> MemoryStore::Create(Job job, std::string source, core::TimePoint now) {
  job = PrepareNew(std::move(job), now);
  job.id = {++last_job_};
  Record& record = jobs_[job.id];
  record = {.job = std::move(job), .source = std::move(source)};
  Append(record, CreatedEvent(record.job, now));
  ++writes_;
  return record.job.id;
}

Result<Job> MemoryStore::Get(JobId id) {
  JM_ASSIGN_OR_RETURN(const Record* record, Find(id));
  return record->job;
}

Result<std::string> MemoryStore::Source(JobId id) {
  JM_ASSIGN_OR_RETURN(const Record* record, Find(id));
  return record->source;
}

Result<std::vector<JobId>> MemoryStore::FindByName(const std::string& name) {
  std::vector<JobId> ids;
  for (const auto& [id, record] : jobs_)
    if (record.job.name == name) ids.push_back(id);
  std::reverse(ids.begin(), ids.end());
  return ids;
}

Result<std::vector<ports::JobSummary>> MemoryStore::List(const ports::JobFilter& filter) {
  std::vector<ports::JobSummary> rows;
  for (const auto& [id, record] : jobs_) {
    ports::JobSummary row = Summarise(record.job);
    if (Matches(filter, row)) rows.push_back(std::move(row));
  }
  return rows;
}

Result<std::vector<Job>> MemoryStore::Active() {
  std::vector<Job> jobs;
  for (const auto& [id, record] : jobs_)
    if (core::NeedsCare(record.job)) jobs.push_back(record.job);
  return jobs;
}

Status MemoryStore::SetWish(JobId id, core::Wish wish, bool redo_setup, core::TimePoint now) {
  JM_ASSIGN_OR_RETURN(Record * record, Find(id));
  ApplyWish(record->job, wish, redo_setup, now);
  Append(*record, WishEvent(record->job, redo_setup, now));
  ++writes_;
  return base::Ok();
}

Status MemoryStore::Commit(const ports::Turn& turn, std::int64_t lease_token) {
  const bool held = !lease_.holder.empty() && lease_.token == lease_token;
  if (lease_token != 0 && !held) return LeaseLost();
  JM_ASSIGN_OR_RETURN(Record * record, Find(turn.job.id));
  if (record->job.version != turn.job.version) return Stale(turn.job.id);
  record->job = turn.job;
  record->job.version += 1;
  for (const ports::Event& event : turn.events) Append(*record, event);
  for (ports::ExitRecord exit : turn.exits) {
    exit.job = turn.job.id;
    const bool known = std::any_of(record->exits.begin(), record->exits.end(),
                                   [&exit](const ports::ExitRecord& other) {
                                     return other.attempt == exit.attempt &&
                                            other.stage == exit.stage && other.host == exit.host;
                                   });
    if (!known) record->exits.push_back(std::move(exit));
  }
  for (const ports::AttemptRecord& told : turn.attempts) {
    const auto [place, fresh] = record->attempts.try_emplace(told.attempt, told);
    ports::AttemptRecord& attempt = place->second;
    attempt.job = turn.job.id;
    if (!fresh) {
      attempt.slice = told.slice;
      attempt.ended_at = told.ended_at;
      attempt.outcome = told.outcome;
    }
  }
  for (ports::Notice notice : turn.notices) {
    notice.number = ++last_notice_;
    notice.job = turn.job.id;
    record->notices.push_back(std::move(notice));
  }
  ++writes_;
  return base::Ok();
}

Status MemoryStore::Erase(JobId id) {
  JM_ASSIGN_OR_RETURN(const Record* record, Find(id));
  JM_TRY(MayErase(record->job));
  jobs_.erase(id);
  ++writes_;
  return base::Ok();
}

Result<std::vector<ports::Event>> MemoryStore::Events(JobId id, std::int64_t after_number) {
  std::vector<ports::Event> events;
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return events;
  for (const ports::Event& event : found->second.events)
    if (event.number > after_number) events.push_back(event);
  return events;
}

Result<std::vector<ports::ExitRecord>> MemoryStore::Exits(JobId id) {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? std::vector<ports::ExitRecord>() : found->second.exits;
}

Result<std::vector<ports::AttemptRecord>> MemoryStore::Attempts(JobId id) {
  std::vector<ports::AttemptRecord> attempts;
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return attempts;
  for (const auto& [number, attempt] : found->second.attempts) attempts.push_back(attempt);
  return attempts;
}

Result<std::vector<ports::Notice>> MemoryStore::Outbox() {
  std::vector<ports::Notice> waiting;
  for (const auto& [id, record] : jobs_) {
    for (const ports::Notice& notice : record.notices) {
      if (notice.next_try) waiting.push_back(notice);
    }
  }
  std::sort(waiting.begin(), waiting.end(),
            [](const auto& one, const auto& other) { return one.number < other.number; });
  return waiting;
}

Result<std::vector<ports::Notice>> MemoryStore::Notices(JobId id) {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? std::vector<ports::Notice>() : found->second.notices;
}

Status MemoryStore::RecordTry(const ports::Notice& notice, const ports::Event& event,
                              std::int64_t lease_token) {
  const bool held = !lease_.holder.empty() && lease_.token == lease_token;
  if (lease_token != 0 && !held) return LeaseLost();
  JM_ASSIGN_OR_RETURN(Record * record, Find(notice.job));
  const auto known =
      std::find_if(record->notices.begin(), record->notices.end(),
                   [&](const ports::Notice& other) { return other.number == notice.number; });
  if (known == record->notices.end()) return NoSuchJob(notice.job);
  known->tries = notice.tries;
  known->next_try = notice.next_try;
  known->error = notice.error;
  Append(*record, event);
  ++writes_;
  return base::Ok();
}

Result<std::optional<std::string>> MemoryStore::PinnedKey(const std::string& identity) {
  const auto found = host_keys_.find(identity);
  return found == host_keys_.end() ? std::nullopt : std::optional(found->second);
}

Status MemoryStore::PinKey(const std::string& identity, const std::string& key) {
  host_keys_[identity] = key;
  ++writes_;
  return base::Ok();
}

Result<std::optional<std::pair<std::string, core::TimePoint>>> MemoryStore::Cached(
    const std::string& key) {
  const auto found = cache_.find(key);
  return found == cache_.end() ? std::nullopt : std::optional(found->second);
}

Status MemoryStore::Cache(const std::string& key, const std::string& value, core::TimePoint now) {
  cache_[key] = {value, now};
  ++writes_;
  return base::Ok();
}

Result<std::optional<ports::Lease>> MemoryStore::TakeLease(const std::string& holder,
                                                           core::TimePoint now,
                                                           core::Duration time_to_live) {
  const auto lease = NextLease(lease_, holder, now, time_to_live);
  if (!lease) return lease;
  lease_ = *lease;
  ++writes_;
  return lease;
}

Status MemoryStore::DropLease(const ports::Lease& lease) {
  if (lease_.holder.empty() || lease_.holder != lease.holder || lease_.token != lease.token)
    return LeaseLost();
  lease_.holder.clear();
  ++writes_;
  return base::Ok();
}

Result<std::optional<ports::Lease>> MemoryStore::CurrentLease() {
  return lease_.holder.empty() ? std::nullopt : std::optional(lease_);
}

Result<std::int64_t> MemoryStore::ChangeCounter() {
  return writes_;
}

}  // namespace jobman::store
