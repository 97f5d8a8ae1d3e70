#include "jobman/store/sqlite_store.hpp"

#include "store/lease_row.hpp"
#include "store/open.hpp"
#include "store/rows.hpp"
#include "store/rules.hpp"
#include "store/sqlite.hpp"
#include "store/task_rows.hpp"

// Opening the store, and jobs. A job's history is in sqlite_records.cpp, data shared between jobs
// in sqlite_shared.cpp, queues of tasks in sqlite_queues.cpp.

namespace jobman::store {

using core::Job;
using core::JobId;

SqliteStore::SqliteStore(std::unique_ptr<Database> db) : db_(std::move(db)) {}

SqliteStore::~SqliteStore() = default;

Result<std::unique_ptr<SqliteStore>> SqliteStore::Open(const base::Path& dir,
                                                       const SqliteOptions& options) {
  JM_ASSIGN_OR_RETURN(Database db, OpenStore(dir, options));
  return std::unique_ptr<SqliteStore>(new SqliteStore(std::make_unique<Database>(std::move(db))));
}

Result<std::unique_ptr<SqliteStore>> SqliteStore::Open(const base::Path& dir, OpenMode mode) {
  return Open(dir, SqliteOptions{.mode = mode});
}

namespace {

constexpr const char* kInsertEvent =
    "INSERT INTO events (at, job, attempt, kind, subject, text) VALUES (?, ?, ?, ?, ?, ?)";

Status InsertEvent(Database& db, JobId job, const ports::Event& event) {
  return db.Run(kInsertEvent, "writing the journal", event.at, job.value, event.attempt, event.kind,
                event.subject, event.text);
}

Status InsertExit(Database& db, JobId job, const ports::ExitRecord& exit) {
  return db.Run(
      "INSERT INTO exits (job, attempt, stage, host, exit_code, error, at) "
      "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (job, attempt, stage, host) DO NOTHING",
      "recording an exit code", job.value, exit.attempt, exit.stage, exit.host, exit.exit_code,
      exit.error, exit.at);
}

Status PutAttempt(Database& db, JobId job, const ports::AttemptRecord& attempt) {
  return db.Run(
      "INSERT INTO attempts (job, attempt, slice, zone, reason, started_at, ended_at, outcome) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (job, attempt) DO UPDATE SET "
      "slice = excluded.slice, ended_at = excluded.ended_at, outcome = excluded.outcome",
      "recording an attempt", job.value, attempt.attempt, attempt.slice, attempt.zone,
      attempt.reason, attempt.started_at, attempt.ended_at, attempt.outcome);
}

Status InsertDelivery(Database& db, JobId job, const ports::HookDelivery& delivery) {
  return db.Run(
      "INSERT INTO deliveries (job, attempt, event_id, event, hook, target, body, at, tries, "
      "next_try, "
      "error) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      "writing to the outbox", job.value, delivery.attempt, delivery.event_id, delivery.event,
      delivery.hook, delivery.target, delivery.body, delivery.at, delivery.tries, delivery.next_try,
      delivery.error);
}

Status InsertJob(Database& db, const Job& job) {
  JM_ASSIGN_OR_RETURN(Query query, db.Prepare(InsertJobSql(), "storing a new job"));
  BindJob(query, job);
  return query.Run();
}

/// AUTOINCREMENT goes on beyond the largest id that was ever stored.
Status InsertJobWithId(Database& db, const Job& job) {
  JM_ASSIGN_OR_RETURN(Query query, db.Prepare(InsertJobWithIdSql(), "storing an imported job"));
  query.Bind(job.id.value);
  BindJob(query, job);
  return query.Run();
}

Result<bool> HasJob(Database& db, JobId id) {
  JM_ASSIGN_OR_RETURN(Query query,
                      db.Prepare("SELECT 1 FROM jobs WHERE id = ?", "looking for a job"));
  return query.Bind(id.value).Step();
}

/// Why no row of the job with that version was there to be written.
Error StaleOrGone(Database& db, JobId id) {
  const auto exists = HasJob(db, id);
  if (!exists.ok()) return exists.error();
  return *exists ? Stale(id) : NoSuchJob(id);
}

/// Overwrites the row if it still has `version`; kStale or kNotFound otherwise.
Status UpdateJob(Database& db, const Job& job, std::int64_t version) {
  {
    JM_ASSIGN_OR_RETURN(Query query, db.Prepare(UpdateJobSql(), "writing a job"));
    BindJob(query, job);
    JM_TRY(query.Bind(job.id.value).Bind(version).Run());
  }
  if (db.changes() == 1) return base::Ok();
  return StaleOrGone(db, job.id);
}

Result<Job> SelectJob(Database& db, JobId id) {
  static const std::string kSql = SelectJobSql() + "WHERE id = ?";
  JM_ASSIGN_OR_RETURN(Query query, db.Prepare(kSql.c_str(), "reading a job"));
  JM_ASSIGN_OR_RETURN(const bool found, query.Bind(id.value).Step());
  if (!found) return NoSuchJob(id);
  return ReadJob(query);
}

Status WriteTurn(Database& db, const ports::Turn& turn) {
  Job job = turn.job;
  job.version += 1;
  JM_TRY(UpdateJob(db, job, turn.job.version));
  const std::string spec = SpecText(job.spec);
  JM_TRY(db.Run("UPDATE job_files SET spec_json = ?1 WHERE job = ?2 AND spec_json <> ?1",
                "writing a job's spec", spec, job.id.value));
  for (const ports::Event& event : turn.events) JM_TRY(InsertEvent(db, job.id, event));
  for (const ports::ExitRecord& exit : turn.exits) JM_TRY(InsertExit(db, job.id, exit));
  for (const ports::AttemptRecord& attempt : turn.attempts) {
    JM_TRY(PutAttempt(db, job.id, attempt));
  }
  for (const ports::HookDelivery& delivery : turn.deliveries) {
    JM_TRY(InsertDelivery(db, job.id, delivery));
  }
  for (const core::TaskWrite& write : turn.tasks) JM_TRY(ApplyTaskWrite(db, write));
  return base::Ok();
}

Status PutFact(Database& db, const char* key, const std::string& value) {
  return db.Run("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", "writing the store's id",
                std::string(key), value);
}

}  // namespace

Task<Result<JobId>> SqliteStore::Create(Job job, std::string source, TimePoint now) {
  job = PrepareNew(std::move(job), now);
  JM_CO_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*db_));
  JM_CO_TRY(InsertJob(*db_, job));
  job.id = {db_->last_insert_id()};
  JM_CO_TRY(db_->Run("INSERT INTO job_files (job, spec_json, source) VALUES (?, ?, ?)",
                     "storing a job file", job.id.value, SpecText(job.spec), source));
  JM_CO_TRY(InsertEvent(*db_, job.id, CreatedEvent(job, now)));
  JM_CO_TRY(transaction.Commit());
  co_return job.id;
}

Task<Status> SqliteStore::Import(ports::ImportedJob imported, TimePoint now) {
  JM_CO_TRY(MayImport(imported.job));
  const Job job = PrepareImported(imported.job);
  JM_CO_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*db_));
  JM_CO_ASSIGN_OR_RETURN(const bool taken, HasJob(*db_, job.id));
  if (taken) co_return IdTaken(job.id);
  JM_CO_TRY(InsertJobWithId(*db_, job));
  JM_CO_TRY(db_->Run("INSERT INTO job_files (job, spec_json, source) VALUES (?, ?, ?)",
                     "storing a job file", job.id.value, SpecText(job.spec), imported.source));
  JM_CO_TRY(InsertEvent(*db_, job.id, ImportedEvent(imported, now)));
  for (const ports::AttemptRecord& attempt : imported.attempts) {
    JM_CO_TRY(PutAttempt(*db_, job.id, attempt));
  }
  co_return transaction.Commit();
}

Task<Status> SqliteStore::ReserveIds(JobId last) {
  constexpr const char* kReserving = "reserving the numbers of jobs";
  JM_CO_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*db_));
  // SQLite's own table of AUTOINCREMENT, which may be written. It has no row before the first job.
  JM_CO_TRY(
      db_->Run("INSERT INTO sqlite_sequence (name, seq) SELECT 'jobs', 0 WHERE NOT EXISTS "
               "(SELECT 1 FROM sqlite_sequence WHERE name = 'jobs')",
               kReserving));
  JM_CO_TRY(db_->Run("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'jobs'", kReserving,
                     last.value));
  co_return transaction.Commit();
}

Task<Result<Job>> SqliteStore::Get(JobId id) {
  co_return SelectJob(*db_, id);
}

Task<Result<std::string>> SqliteStore::Source(JobId id) {
  JM_CO_ASSIGN_OR_RETURN(Query query, db_->Prepare("SELECT source FROM job_files WHERE job = ?",
                                                   "reading a job file"));
  JM_CO_ASSIGN_OR_RETURN(const bool found, query.Bind(id.value).Step());
  if (!found) co_return NoSuchJob(id);
  co_return query.Text();
}

Task<Result<std::vector<JobId>>> SqliteStore::FindByName(std::string name) {
  JM_CO_ASSIGN_OR_RETURN(Query query,
                         db_->Prepare("SELECT id FROM jobs WHERE name = ? ORDER BY id DESC",
                                      "looking for a job's name"));
  query.Bind(name);
  std::vector<JobId> ids;
  for (;;) {
    JM_CO_ASSIGN_OR_RETURN(const bool row, query.Step());
    if (!row) co_return ids;
    ids.push_back({query.Int()});
  }
}

Task<Result<std::vector<ports::JobSummary>>> SqliteStore::List(ports::JobFilter filter) {
  constexpr const char* kDoing = "listing the jobs";
  JM_CO_ASSIGN_OR_RETURN(Query count, db_->Prepare("SELECT count(*) FROM jobs", kDoing));
  JM_CO_ASSIGN_OR_RETURN(const bool counted, count.Step());
  std::vector<ports::JobSummary> rows;
  // A row is long: without room for all of them they would be moved again and again.
  if (counted) rows.reserve(static_cast<std::size_t>(count.Int()));
  JM_CO_ASSIGN_OR_RETURN(Query query, db_->Prepare(SelectSummariesSql(), kDoing));
  const bool with_labels = !filter.without_labels || !filter.labels.empty();
  for (;;) {
    JM_CO_ASSIGN_OR_RETURN(const bool more, query.Step());
    if (!more) co_return rows;
    rows.emplace_back();
    JM_CO_TRY(ReadSummary(query, with_labels, rows.back()));
    if (!Matches(filter, rows.back())) rows.pop_back();
  }
}

Task<Result<std::vector<ports::JobVersion>>> SqliteStore::ActiveVersions() {
  JM_CO_ASSIGN_OR_RETURN(Query query,
                         db_->Prepare("SELECT id, version FROM jobs WHERE active = 1 ORDER BY id",
                                      "looking for active jobs"));
  std::vector<ports::JobVersion> jobs;
  for (;;) {
    JM_CO_ASSIGN_OR_RETURN(const bool more, query.Step());
    if (!more) co_return jobs;
    jobs.push_back({.id = {query.Int()}, .version = query.Int()});
  }
}

Task<Status> SqliteStore::SetWish(JobId id, core::Wish wish, core::SetupWish setup, TimePoint now) {
  JM_CO_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*db_));
  JM_CO_ASSIGN_OR_RETURN(Job job, SelectJob(*db_, id));
  const std::int64_t version = job.version;
  ApplyWish(job, wish, setup, now);
  JM_CO_TRY(UpdateJob(*db_, job, version));
  JM_CO_TRY(InsertEvent(*db_, id, WishEvent(job, setup, now)));
  co_return transaction.Commit();
}

Task<Status> SqliteStore::Revise(ports::JobVersion job, ports::Revision revision,
                                 std::optional<core::Wish> wish, TimePoint now) {
  JM_CO_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*db_));
  JM_CO_ASSIGN_OR_RETURN(Job stored, SelectJob(*db_, job.id));
  if (stored.version != job.version) co_return Stale(job.id);
  ApplyRevision(stored, std::move(revision.spec), now);
  JM_CO_TRY(InsertEvent(*db_, job.id, RevisionEvent(stored, now)));
  if (wish) {
    ApplyWish(stored, *wish, core::SetupWish::kAsNeeded, now);
    JM_CO_TRY(InsertEvent(*db_, job.id, WishEvent(stored, core::SetupWish::kAsNeeded, now)));
  }
  JM_CO_TRY(UpdateJob(*db_, stored, job.version));
  JM_CO_TRY(db_->Run("UPDATE job_files SET source = ? WHERE job = ?", "writing a job file",
                     revision.source, job.id.value));
  co_return transaction.Commit();
}

Task<Status> SqliteStore::Commit(ports::Turn turn, std::int64_t lease_token) {
  JM_CO_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*db_));
  JM_CO_TRY(CheckLease(*db_, lease_token));
  JM_CO_TRY(WriteTurn(*db_, turn));
  co_return transaction.Commit();
}

Task<Status> SqliteStore::SetAside(ports::JobVersion job, std::string why,
                                   std::int64_t lease_token) {
  JM_CO_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*db_));
  JM_CO_TRY(CheckLease(*db_, lease_token));
  JM_CO_TRY(db_->Run("UPDATE jobs SET set_aside = ? WHERE id = ? AND version = ?",
                     "setting a job aside", why, job.id.value, job.version));
  if (db_->changes() != 1) co_return StaleOrGone(*db_, job.id);
  co_return transaction.Commit();
}

Task<Result<std::optional<std::string>>> SqliteStore::WhySetAside(JobId id) {
  JM_CO_ASSIGN_OR_RETURN(
      Query query, db_->Prepare("SELECT set_aside FROM jobs WHERE id = ? AND set_aside NOT NULL",
                                "reading why a job is set aside"));
  JM_CO_ASSIGN_OR_RETURN(const bool found, query.Bind(id.value).Step());
  co_return found ? std::optional(query.Text()) : std::nullopt;
}

Task<Status> SqliteStore::RecordTry(ports::HookDelivery delivery, ports::Event event,
                                    std::int64_t lease_token) {
  JM_CO_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*db_));
  JM_CO_TRY(CheckLease(*db_, lease_token));
  JM_CO_TRY(db_->Run("UPDATE deliveries SET tries = ?, next_try = ?, error = ? WHERE number = ?",
                     "writing to the outbox", delivery.tries, delivery.next_try, delivery.error,
                     delivery.number));
  if (db_->changes() != 1) co_return NoSuchJob(delivery.job);
  JM_CO_TRY(InsertEvent(*db_, delivery.job, event));
  co_return transaction.Commit();
}

Task<Status> SqliteStore::Erase(ports::JobVersion job) {
  JM_CO_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*db_));
  JM_CO_ASSIGN_OR_RETURN(const Job stored, SelectJob(*db_, job.id));
  JM_CO_TRY(MayErase(stored, job.version));
  for (const char* sql :
       {"DELETE FROM jobs WHERE id = ?", "DELETE FROM job_files WHERE job = ?",
        "DELETE FROM attempts WHERE job = ?", "DELETE FROM exits WHERE job = ?",
        "DELETE FROM events WHERE job = ?", "DELETE FROM deliveries WHERE job = ?"}) {
    JM_CO_TRY(db_->Run(sql, "erasing a job", job.id.value));
  }
  co_return transaction.Commit();
}

Task<Status> SqliteStore::SetSites(std::vector<core::Site> sites) {
  co_return PutFact(*db_, "sites", core::SitesToJson(sites).dump());
}

Task<Status> SqliteStore::BecomeAnother(std::string store_id, core::Site site,
                                        std::vector<ports::Turn> turns) {
  JM_CO_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*db_));
  JM_CO_TRY(PutFact(*db_, "store_id", store_id));
  JM_CO_TRY(PutFact(*db_, "sites", core::SitesToJson({site}).dump()));
  for (const ports::Turn& turn : turns) JM_CO_TRY(WriteTurn(*db_, turn));
  JM_CO_TRY(db_->Run("UPDATE lease SET holder = '', token = token + 1", "dropping the lease"));
  JM_CO_TRY(db_->Run("UPDATE deliveries SET next_try = NULL, error = ? WHERE next_try NOT NULL",
                     "writing to the outbox", std::string(kLeftToOriginal)));
  co_return transaction.Commit();
}

}  // namespace jobman::store
