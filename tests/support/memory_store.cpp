#include "tests/support/memory_store.hpp"

#include <algorithm>

#include "store/rules.hpp"

namespace jobman::test {

using core::Job;

Result<MemoryStore::Record*> MemoryStore::Find(JobId id) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return store::NoSuchJob(id);
  return &found->second;
}

void MemoryStore::Append(Record& record, ports::Event event) {
  event.number = ++last_event_;
  event.job = record.job.id;
  record.events.push_back(std::move(event));
}

Result<JobId> MemoryStore::Create(Job job, std::string source, core::TimePoint now) {
  job = store::PrepareNew(std::move(job), now);
  job.id = {++last_job_};
  Record& record = jobs_[job.id];
  record = {.job = std::move(job), .source = std::move(source)};
  Append(record, store::CreatedEvent(record.job, now));
  ++writes_;
  return record.job.id;
}

Status MemoryStore::Import(const ports::ImportedJob& imported, core::TimePoint now) {
  JM_TRY(store::MayImport(imported.job));
  const JobId id = imported.job.id;
  if (jobs_.contains(id)) return store::IdTaken(id);
  last_job_ = std::max(last_job_, id.value);
  Record& record = jobs_[id];
  record = {.job = store::PrepareImported(imported.job), .source = imported.source};
  Append(record, store::ImportedEvent(imported, now));
  for (ports::AttemptRecord attempt : imported.attempts) {
    attempt.job = id;
    record.attempts[attempt.attempt] = attempt;
  }
  ++writes_;
  return base::Ok();
}

Status MemoryStore::ReserveIds(JobId last) {
  last_job_ = std::max(last_job_, last.value);
  return base::Ok();
}

Result<Job> MemoryStore::Get(JobId id) {
  JM_ASSIGN_OR_RETURN(const Record* record, Find(id));
  if (record->unusable) return *record->unusable;
  return record->job;
}

Result<std::string> MemoryStore::Source(JobId id) {
  JM_ASSIGN_OR_RETURN(const Record* record, Find(id));
  return record->source;
}

Result<std::vector<JobId>> MemoryStore::FindByName(const std::string& name) const {
  std::vector<JobId> ids;
  for (const auto& [id, record] : jobs_)
    if (record.job.name == name) ids.push_back(id);
  std::reverse(ids.begin(), ids.end());
  return ids;
}

Result<std::vector<ports::JobSummary>> MemoryStore::List(const ports::JobFilter& filter) const {
  std::vector<ports::JobSummary> rows;
  for (const auto& [id, record] : jobs_) {
    ports::JobSummary row = store::Summarise(record.job);
    row.why = record.set_aside.value_or(row.why);
    if (record.set_aside) row.pause.reset();
    if (!store::Matches(filter, row)) continue;
    if (filter.without_labels && filter.labels.empty()) row.labels.clear();
    rows.push_back(std::move(row));
  }
  return rows;
}

Result<std::vector<ports::JobVersion>> MemoryStore::ActiveVersions() const {
  std::vector<ports::JobVersion> jobs;
  for (const auto& [id, record] : jobs_) {
    if (core::NeedsCare(record.job)) jobs.push_back({.id = id, .version = record.job.version});
  }
  return jobs;
}

Status MemoryStore::SetWish(JobId id, core::Wish wish, core::SetupWish setup, core::TimePoint now) {
  JM_ASSIGN_OR_RETURN(Record * record, Find(id));
  store::ApplyWish(record->job, wish, setup, now);
  record->set_aside.reset();
  Append(*record, store::WishEvent(record->job, setup, now));
  ++writes_;
  return base::Ok();
}

Status MemoryStore::Revise(ports::JobVersion job, const ports::Revision& revision,
                           std::optional<core::Wish> wish, core::TimePoint now) {
  JM_ASSIGN_OR_RETURN(Record * record, Find(job.id));
  if (record->job.version != job.version) return store::Stale(job.id);
  store::ApplyRevision(record->job, revision.spec, now);
  record->source = revision.source;
  record->set_aside.reset();
  Append(*record, store::RevisionEvent(record->job, now));
  ++writes_;
  if (!wish) return base::Ok();
  return SetWish(job.id, *wish, core::SetupWish::kAsNeeded, now);
}

Status MemoryStore::CheckLease(std::int64_t token) const {
  const bool held = !lease_.holder.empty() && lease_.token == token;
  if (token != 0 && !held) return store::LeaseLost();
  return base::Ok();
}

Status MemoryStore::WriteTasks(const std::vector<core::TaskWrite>& writes) {
  if (writes.empty()) return base::Ok();
  MemoryQueues before = queues_;
  Status written = queues_.Write(writes);
  if (!written.ok()) queues_ = std::move(before);
  return written;
}

Status MemoryStore::Commit(const ports::Turn& turn, std::int64_t lease_token) {
  JM_TRY(CheckLease(lease_token));
  JM_ASSIGN_OR_RETURN(Record * record, Find(turn.job.id));
  if (record->job.version != turn.job.version) return store::Stale(turn.job.id);
  JM_TRY(WriteTasks(turn.tasks));
  record->job = turn.job;
  record->job.version += 1;
  record->set_aside.reset();
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
  for (ports::HookDelivery delivery : turn.deliveries) {
    delivery.number = ++last_delivery_;
    delivery.job = turn.job.id;
    record->deliveries.push_back(std::move(delivery));
  }
  ++writes_;
  return base::Ok();
}

Status MemoryStore::SetAside(ports::JobVersion job, const std::string& why,
                             std::int64_t lease_token) {
  JM_TRY(CheckLease(lease_token));
  JM_ASSIGN_OR_RETURN(Record * record, Find(job.id));
  if (record->job.version != job.version) return store::Stale(job.id);
  record->set_aside = why;
  ++writes_;
  return base::Ok();
}

Result<std::optional<std::string>> MemoryStore::WhySetAside(JobId id) const {
  const auto record = jobs_.find(id);
  return record == jobs_.end() ? std::nullopt : record->second.set_aside;
}

Status MemoryStore::Erase(ports::JobVersion job) {
  JM_ASSIGN_OR_RETURN(const Record* record, Find(job.id));
  JM_TRY(store::MayErase(record->job, job.version));
  jobs_.erase(job.id);
  ++writes_;
  return base::Ok();
}

Result<std::vector<ports::Event>> MemoryStore::Events(JobId id, std::int64_t after_number) const {
  std::vector<ports::Event> events;
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return events;
  for (const ports::Event& event : found->second.events)
    if (event.number > after_number) events.push_back(event);
  return events;
}

Result<std::vector<ports::ExitRecord>> MemoryStore::Exits(JobId id) const {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? std::vector<ports::ExitRecord>() : found->second.exits;
}

Result<std::vector<ports::AttemptRecord>> MemoryStore::Attempts(JobId id) const {
  std::vector<ports::AttemptRecord> attempts;
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return attempts;
  for (const auto& [number, attempt] : found->second.attempts) attempts.push_back(attempt);
  return attempts;
}

Result<std::vector<ports::HookDelivery>> MemoryStore::Waiting() const {
  std::vector<ports::HookDelivery> waiting;
  for (const auto& [id, record] : jobs_) {
    for (const ports::HookDelivery& delivery : record.deliveries) {
      if (delivery.next_try) waiting.push_back(delivery);
    }
  }
  std::sort(waiting.begin(), waiting.end(),
            [](const auto& one, const auto& other) { return one.number < other.number; });
  return waiting;
}

Result<std::vector<ports::HookDelivery>> MemoryStore::Deliveries(JobId id) const {
  const auto found = jobs_.find(id);
  return found == jobs_.end() ? std::vector<ports::HookDelivery>() : found->second.deliveries;
}

Status MemoryStore::RecordTry(const ports::HookDelivery& delivery, const ports::Event& event,
                              std::int64_t lease_token) {
  JM_TRY(CheckLease(lease_token));
  JM_ASSIGN_OR_RETURN(Record * record, Find(delivery.job));
  const auto known = std::find_if(
      record->deliveries.begin(), record->deliveries.end(),
      [&](const ports::HookDelivery& other) { return other.number == delivery.number; });
  if (known == record->deliveries.end()) return store::NoSuchJob(delivery.job);
  known->tries = delivery.tries;
  known->next_try = delivery.next_try;
  known->error = delivery.error;
  Append(*record, event);
  ++writes_;
  return base::Ok();
}

Result<std::optional<ports::Lease>> MemoryStore::TakeLease(const std::string& holder, TimePoint now,
                                                           base::Duration time_to_live) {
  const auto lease = store::NextLease(lease_, holder, now, time_to_live);
  if (!lease) return lease;
  lease_ = *lease;
  ++writes_;
  return lease;
}

Status MemoryStore::DropLease(const ports::Lease& lease) {
  if (lease_.holder.empty() || lease_.holder != lease.holder || lease_.token != lease.token)
    return store::LeaseLost();
  lease_.holder.clear();
  ++writes_;
  return base::Ok();
}

Result<std::optional<ports::Lease>> MemoryStore::CurrentLease() const {
  return lease_.holder.empty() ? std::nullopt : std::optional(lease_);
}

Result<std::optional<std::string>> MemoryStore::PinnedKey(const std::string& identity) const {
  const auto found = host_keys_.find(identity);
  return found == host_keys_.end() ? std::nullopt : std::optional(found->second);
}

Result<std::map<std::string, std::string>> MemoryStore::PinnedKeys(
    const std::vector<std::string>& identities) const {
  std::map<std::string, std::string> keys;
  for (const std::string& identity : identities) {
    const auto found = host_keys_.find(identity);
    if (found != host_keys_.end()) keys[identity] = found->second;
  }
  return keys;
}

Status MemoryStore::PinKey(const std::string& identity, const std::string& key) {
  host_keys_[identity] = key;
  ++writes_;
  return base::Ok();
}

Result<std::optional<ports::CachedFact>> MemoryStore::Cached(const std::string& key) const {
  const auto found = cache_.find(key);
  return found == cache_.end() ? std::nullopt : std::optional(found->second);
}

Status MemoryStore::PutInCache(const std::string& key, ports::CachedFact fact) {
  cache_[key] = std::move(fact);
  ++writes_;
  return base::Ok();
}

void MemoryStore::MakeUnreadable(JobId id) {
  jobs_.at(id).unusable =
      base::Error{.code = base::Code::kFailedPrecondition,
                  .message = "written by a newer jobman: \"flex\" is not a value of pricing",
                  .reason = base::Reason::kNewerStore};
  ++jobs_.at(id).job.version;
  ++writes_;
}

void MemoryStore::MakeReadable(JobId id) {
  jobs_.at(id).unusable.reset();
  ++jobs_.at(id).job.version;
  ++writes_;
}

void MemoryStore::Damage(JobId id) {
  jobs_.at(id).unusable =
      base::Error{.code = base::Code::kDataLoss, .message = "a row of the store is damaged"};
  ++jobs_.at(id).job.version;
  ++writes_;
}

void MemoryStore::Lose(JobId id) {
  jobs_.erase(id);
  ++writes_;
}

Status MemoryStore::SetSites(std::vector<core::Site> sites) {
  sites_ = std::move(sites);
  ++writes_;
  return base::Ok();
}

Status MemoryStore::BecomeAnother(std::string store_id, core::Site site,
                                  const std::vector<ports::Turn>& turns) {
  const MemoryStore before = *this;
  for (const ports::Turn& turn : turns) {
    Status written = Commit(turn, 0);
    if (written.ok()) continue;
    *this = before;
    return written;
  }
  store_id_ = std::move(store_id);
  sites_ = {std::move(site)};
  lease_.holder.clear();
  lease_.token += 1;
  for (auto& [id, record] : jobs_) {
    for (ports::HookDelivery& delivery : record.deliveries) {
      if (std::exchange(delivery.next_try, std::nullopt)) delivery.error = store::kLeftToOriginal;
    }
  }
  ++writes_;
  return base::Ok();
}

Status MemoryStore::SetGuest(const std::optional<core::Guest>& was,
                             const std::optional<core::Guest>& now) {
  const auto key = [](const core::Guest& guest) {
    return std::pair(guest.user, guest.key.type + " " + guest.key.data);
  };
  const auto same = [&](const core::Guest& one) { return key(one) == key(was ? *was : *now); };
  const auto found = std::find_if(guests_.begin(), guests_.end(), same);
  const bool there = found != guests_.end();
  // Times are stored in milliseconds.
  const auto text = [](const core::Guest& guest) { return core::GuestToJson(guest).dump(); };
  if (there != was.has_value() || (there && text(*found) != text(*was))) {
    return store::GuestIsStale();
  }
  if (there) guests_.erase(found);
  if (now) guests_.push_back(core::GuestFromJson(core::GuestToJson(*now)).value());
  std::sort(guests_.begin(), guests_.end(),
            [&](const auto& a, const auto& b) { return key(a) < key(b); });
  ++writes_;
  return base::Ok();
}

Result<core::QueueId> MemoryStore::OpenQueue(const std::string& file) {
  const std::size_t known = queues_.All().size();
  const core::QueueId id = queues_.Open(file);
  if (queues_.All().size() > known) ++writes_;
  return id;
}

Status MemoryStore::SyncQueue(core::QueueId queue, const ports::QueueReading& reading,
                              const std::vector<core::Task>& tasks, std::int64_t lease_token) {
  JM_TRY(CheckLease(lease_token));
  JM_TRY(queues_.Sync(queue, reading, tasks));
  ++writes_;
  return base::Ok();
}

Result<std::vector<std::string>> MemoryStore::ChangeTasks(const std::vector<core::Task>& tasks) {
  JM_ASSIGN_OR_RETURN(auto stale, queues_.Change(tasks));
  ++writes_;
  return stale;
}

Status MemoryStore::ReleaseTasks(const std::vector<core::TaskRelease>& releases,
                                 std::int64_t lease_token) {
  JM_TRY(CheckLease(lease_token));
  JM_TRY(WriteTasks({releases.begin(), releases.end()}));
  ++writes_;
  return base::Ok();
}

Status MemoryStore::EraseTask(core::QueueId queue, const std::string& id, std::int64_t version) {
  JM_TRY(queues_.Erase(queue, id, version));
  ++writes_;
  return base::Ok();
}

void MemoryStore::MakeTaskUnreadable(core::QueueId queue, const std::string& id) {
  queues_.SetUnreadable(queue, id, true);
  ++writes_;
}

// --- MemoryPorts ---

Task<Result<std::string>> MemoryPorts::StoreId() {
  return Ask([](MemoryStore& store) { return store.StoreId(); });
}

Task<Result<JobId>> MemoryPorts::Create(core::Job job, std::string source, TimePoint now) {
  return Ask([=](MemoryStore& store) { return store.Create(job, source, now); });
}

Task<Status> MemoryPorts::Import(ports::ImportedJob imported, TimePoint now) {
  return Ask([=](MemoryStore& store) { return store.Import(imported, now); });
}

Task<Status> MemoryPorts::ReserveIds(JobId last) {
  return Ask([=](MemoryStore& store) { return store.ReserveIds(last); });
}

Task<Result<Job>> MemoryPorts::Get(JobId id) {
  return Ask([=](MemoryStore& store) { return store.Get(id); });
}

Task<Result<std::string>> MemoryPorts::Source(JobId id) {
  return Ask([=](MemoryStore& store) { return store.Source(id); });
}

Task<Result<std::vector<JobId>>> MemoryPorts::FindByName(std::string name) {
  return Ask([=](MemoryStore& store) { return store.FindByName(name); });
}

Task<Result<std::vector<ports::JobSummary>>> MemoryPorts::List(ports::JobFilter filter) {
  return Ask([=](MemoryStore& store) { return store.List(filter); });
}

Task<Result<std::vector<ports::JobVersion>>> MemoryPorts::ActiveVersions() {
  return Ask([](MemoryStore& store) { return store.ActiveVersions(); });
}

Task<Status> MemoryPorts::SetWish(JobId id, core::Wish wish, core::SetupWish setup, TimePoint now) {
  return Ask([=](MemoryStore& store) { return store.SetWish(id, wish, setup, now); });
}

Task<Status> MemoryPorts::Revise(ports::JobVersion job, ports::Revision revision,
                                 std::optional<core::Wish> wish, TimePoint now) {
  return Ask([=](MemoryStore& store) { return store.Revise(job, revision, wish, now); });
}

Task<Status> MemoryPorts::Commit(ports::Turn turn, std::int64_t lease_token) {
  return Ask([=](MemoryStore& store) { return store.Commit(turn, lease_token); });
}

Task<Status> MemoryPorts::SetAside(ports::JobVersion job, std::string why,
                                   std::int64_t lease_token) {
  return Ask([=](MemoryStore& store) { return store.SetAside(job, why, lease_token); });
}

Task<Result<std::optional<std::string>>> MemoryPorts::WhySetAside(JobId id) {
  return Ask([=](MemoryStore& store) { return store.WhySetAside(id); });
}

Task<Status> MemoryPorts::Erase(ports::JobVersion job) {
  return Ask([=](MemoryStore& store) { return store.Erase(job); });
}

Task<Result<std::vector<ports::Event>>> MemoryPorts::Events(JobId id, std::int64_t after_number) {
  return Ask([=](MemoryStore& store) { return store.Events(id, after_number); });
}

Task<Result<std::vector<ports::ExitRecord>>> MemoryPorts::Exits(JobId id) {
  return Ask([=](MemoryStore& store) { return store.Exits(id); });
}

Task<Result<std::vector<ports::AttemptRecord>>> MemoryPorts::Attempts(JobId id) {
  return Ask([=](MemoryStore& store) { return store.Attempts(id); });
}

Task<Result<std::int64_t>> MemoryPorts::ChangeCounter() {
  return Ask([](MemoryStore& store) { return store.ChangeCounter(); });
}

Task<Result<std::vector<ports::HookDelivery>>> MemoryPorts::Waiting() {
  return Ask([](MemoryStore& store) { return store.Waiting(); });
}

Task<Result<std::vector<ports::HookDelivery>>> MemoryPorts::Deliveries(JobId id) {
  return Ask([=](MemoryStore& store) { return store.Deliveries(id); });
}

Task<Status> MemoryPorts::RecordTry(ports::HookDelivery delivery, ports::Event event,
                                    std::int64_t lease_token) {
  return Ask([=](MemoryStore& store) { return store.RecordTry(delivery, event, lease_token); });
}

Task<Result<std::optional<ports::Lease>>> MemoryPorts::TakeLease(std::string holder, TimePoint now,
                                                                 base::Duration time_to_live) {
  return Ask([=](MemoryStore& store) { return store.TakeLease(holder, now, time_to_live); });
}

Task<Status> MemoryPorts::DropLease(ports::Lease lease) {
  return Ask([=](MemoryStore& store) { return store.DropLease(lease); });
}

Task<Result<std::optional<ports::Lease>>> MemoryPorts::CurrentLease() {
  return Ask([](MemoryStore& store) { return store.CurrentLease(); });
}

Task<Result<std::optional<std::string>>> MemoryPorts::PinnedKey(std::string identity) {
  return Ask([=](MemoryStore& store) { return store.PinnedKey(identity); });
}

Task<Result<std::map<std::string, std::string>>> MemoryPorts::PinnedKeys(
    std::vector<std::string> identities) {
  return Ask([=](MemoryStore& store) { return store.PinnedKeys(identities); });
}

Task<Status> MemoryPorts::PinKey(std::string identity, std::string key) {
  return Ask([=](MemoryStore& store) { return store.PinKey(identity, key); });
}

Task<Result<std::optional<ports::CachedFact>>> MemoryPorts::Cached(std::string key) {
  return Ask([=](MemoryStore& store) { return store.Cached(key); });
}

Task<Status> MemoryPorts::PutInCache(std::string key, ports::CachedFact fact) {
  return Ask([=](MemoryStore& store) { return store.PutInCache(key, fact); });
}

Task<Result<std::vector<core::Site>>> MemoryPorts::Sites() {
  return Ask([](MemoryStore& store) { return store.Sites(); });
}

Task<Status> MemoryPorts::SetSites(std::vector<core::Site> sites) {
  return Ask([=](MemoryStore& store) { return store.SetSites(sites); });
}

Task<Status> MemoryPorts::BecomeAnother(std::string store_id, core::Site site,
                                        std::vector<ports::Turn> turns) {
  return Ask([=](MemoryStore& store) { return store.BecomeAnother(store_id, site, turns); });
}

Task<Result<std::vector<core::Guest>>> MemoryPorts::Guests() {
  return Ask([](MemoryStore& store) { return store.Guests(); });
}

Task<Result<std::vector<ports::UnreadGuest>>> MemoryPorts::UnreadGuests() {
  return Ask([](MemoryStore& store) {
    return Result<std::vector<ports::UnreadGuest>>(store.unread_guests);
  });
}

Task<Status> MemoryPorts::SetGuest(std::optional<core::Guest> was, std::optional<core::Guest> now) {
  return Ask([=](MemoryStore& store) { return store.SetGuest(was, now); });
}

Task<Result<core::QueueId>> MemoryPorts::OpenQueue(std::string file) {
  return Ask([=](MemoryStore& store) { return store.OpenQueue(file); });
}

Task<Result<std::vector<ports::Queue>>> MemoryPorts::Queues() {
  return Ask([](MemoryStore& store) { return store.Queues(); });
}

Task<Result<ports::TasksRead>> MemoryPorts::Tasks(core::QueueId queue, std::int64_t after) {
  return Ask([=](MemoryStore& store) { return store.Tasks(queue, after); });
}

Task<Result<core::Task>> MemoryPorts::GetTask(core::QueueId queue, std::string id) {
  return Ask([=](MemoryStore& store) { return store.GetTask(queue, id); });
}

Task<Result<std::vector<core::TaskRun>>> MemoryPorts::Runs(core::QueueId queue, std::string id) {
  return Ask([=](MemoryStore& store) { return store.Runs(queue, id); });
}

Task<Status> MemoryPorts::SyncQueue(core::QueueId queue, ports::QueueReading reading,
                                    std::vector<core::Task> tasks, std::int64_t lease_token) {
  return Ask(
      [=](MemoryStore& store) { return store.SyncQueue(queue, reading, tasks, lease_token); });
}

Task<Result<std::vector<std::string>>> MemoryPorts::ChangeTasks(std::vector<core::Task> tasks) {
  return Ask([=](MemoryStore& store) { return store.ChangeTasks(tasks); });
}

Task<Status> MemoryPorts::ReleaseTasks(std::vector<core::TaskRelease> releases,
                                       std::int64_t lease_token) {
  return Ask([=](MemoryStore& store) { return store.ReleaseTasks(releases, lease_token); });
}

Task<Status> MemoryPorts::EraseTask(core::QueueId queue, std::string id, std::int64_t version) {
  return Ask([=](MemoryStore& store) { return store.EraseTask(queue, id, version); });
}

}  // namespace jobman::test
