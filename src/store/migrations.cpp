#include "store/migrations.hpp"

#include <fmt/format.h>

#include "store/upgrade_records.hpp"
#include "store/upgrade_spec.hpp"

namespace jobman::store {
namespace {

// Columns hold what `list` shows, so that it parses no JSON. Everything else is JSON, so that a new
// member of a state needs no migration. Times are milliseconds since the epoch.
constexpr const char* kVersion1 = R"sql(
CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES ('store_id', lower(hex(randomblob(6))));

-- AUTOINCREMENT: the number of an erased job is never given out again.
CREATE TABLE jobs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  user TEXT NOT NULL,
  accelerator TEXT NOT NULL,
  zone TEXT NOT NULL,
  host0 TEXT NOT NULL,
  state TEXT NOT NULL,
  familiar TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  since INTEGER NOT NULL,
  why TEXT NOT NULL,
  labels_json TEXT NOT NULL,
  active INTEGER NOT NULL,
  wish TEXT NOT NULL,
  wish_new INTEGER NOT NULL,
  wake_at INTEGER,
  version INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  restart_reason TEXT NOT NULL,
  setup_epoch INTEGER NOT NULL,
  state_json TEXT NOT NULL,
  slice_json TEXT,
  stage_json TEXT,
  spent_json TEXT NOT NULL
) STRICT;
CREATE INDEX jobs_active ON jobs (id) WHERE active = 1;
CREATE INDEX jobs_name ON jobs (name);

-- Apart from jobs: large, hardly ever written again, and not to be read by `list`.
CREATE TABLE job_files (
  job INTEGER PRIMARY KEY,
  spec_json TEXT NOT NULL,
  source TEXT NOT NULL
) STRICT;

CREATE TABLE attempts (
  job INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  slice TEXT NOT NULL,
  zone TEXT NOT NULL,
  reason TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  outcome TEXT NOT NULL,
  PRIMARY KEY (job, attempt)
) STRICT, WITHOUT ROWID;

-- The key makes an exit code a fact that is recorded once.
CREATE TABLE exits (
  number INTEGER PRIMARY KEY,
  job INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  stage TEXT NOT NULL,
  host INTEGER NOT NULL,
  exit_code INTEGER NOT NULL,
  error TEXT NOT NULL,
  at INTEGER NOT NULL,
  UNIQUE (job, attempt, stage, host)
) STRICT;

-- The journal. Append-only while the job exists.
CREATE TABLE events (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  job INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  kind TEXT NOT NULL,
  subject TEXT NOT NULL,
  text TEXT NOT NULL
) STRICT;
CREATE INDEX events_job ON events (job, number);

CREATE TABLE host_keys (
  identity TEXT PRIMARY KEY,
  key TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE cache (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- One row for ever; an empty holder means that nobody holds the lease.
CREATE TABLE lease (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  holder TEXT NOT NULL,
  token INTEGER NOT NULL,
  expires INTEGER NOT NULL
) STRICT;
INSERT INTO lease VALUES (1, '', 0, 0);
)sql";

// The outbox: what to tell hooks, written with the decision. Rows stay until the job is erased, for
// `show`; next_try is null when nothing is left to do.
constexpr const char* kVersion2 = R"sql(
CREATE TABLE notices (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  job INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  event_id TEXT NOT NULL,
  event TEXT NOT NULL,
  hook INTEGER NOT NULL,
  target TEXT NOT NULL,
  body TEXT NOT NULL,
  at INTEGER NOT NULL,
  tries INTEGER NOT NULL,
  next_try INTEGER,
  error TEXT NOT NULL
) STRICT;
CREATE INDEX notices_job ON notices (job, number);
CREATE INDEX notices_waiting ON notices (number) WHERE next_try IS NOT NULL;
)sql";

// Requests abandoned before their slice was seen: the slice may still be created.
constexpr const char* kVersion3 = R"sql(
ALTER TABLE jobs ADD COLUMN given_up_json TEXT;
)sql";

// Why there is an attempt and how it ended become two things; a stage has one cause to be stopped;
// each time of a slice has one meaning.
constexpr const char* kVersion4 = R"sql(
ALTER TABLE jobs RENAME COLUMN given_up_json TO abandoned_json;
ALTER TABLE jobs ADD COLUMN attempt_json TEXT NOT NULL DEFAULT '{}';
)sql";

// The outbox holds deliveries; a notice comes from the cloud. set_aside: why a controller leaves a
// job alone, for `list`.
constexpr const char* kVersion5 = R"sql(
ALTER TABLE notices RENAME TO deliveries;
DROP INDEX notices_job;
DROP INDEX notices_waiting;
CREATE INDEX deliveries_job ON deliveries (job, number);
CREATE INDEX deliveries_waiting ON deliveries (number) WHERE next_try IS NOT NULL;
ALTER TABLE jobs ADD COLUMN set_aside TEXT;
)sql";

// job.worker_num was the number of hosts that were expected; now it is a suffix, part of the names.
constexpr const char* kVersion7 = R"sql(
UPDATE job_files SET spec_json = json_remove(spec_json, '$.job.worker_num')
  WHERE json_valid(spec_json) AND json_type(spec_json, '$.job.worker_num') IS NOT NULL;
)sql";

// Queues of tasks (ADR 23). Columns are for what is looked for, the rest of a task is JSON.
// queues.change counts the writes to a queue, erased is what it was when a task was last erased;
// tasks.change is what it was when the row was written: a controller reads what is new.
// AUTOINCREMENT: as for jobs.
constexpr const char* kVersion8 = R"sql(
CREATE TABLE queues (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  file TEXT NOT NULL UNIQUE,
  read_at INTEGER NOT NULL DEFAULT 0,
  error TEXT NOT NULL DEFAULT '',
  fingerprint TEXT NOT NULL DEFAULT '',
  notes_json TEXT NOT NULL DEFAULT '{}',
  change INTEGER NOT NULL DEFAULT 0,
  erased INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE tasks (
  queue INTEGER NOT NULL,
  id TEXT NOT NULL,
  version INTEGER NOT NULL,
  change INTEGER NOT NULL,
  task_json TEXT NOT NULL,
  UNIQUE (queue, id)
) STRICT;
CREATE INDEX tasks_change ON tasks (queue, change);

CREATE TABLE task_runs (
  queue INTEGER NOT NULL,
  task TEXT NOT NULL,
  number INTEGER NOT NULL,
  run_json TEXT NOT NULL,
  PRIMARY KEY (queue, task, number)
) STRICT, WITHOUT ROWID;
)sql";

// What `list` says of a job's wait, in columns: SQLite would parse the JSON of each row.
constexpr const char* kVersion9 = R"sql(
ALTER TABLE jobs ADD COLUMN search_since INTEGER;
ALTER TABLE jobs ADD COLUMN search_tries INTEGER NOT NULL DEFAULT 0;
ALTER TABLE jobs ADD COLUMN pause_until INTEGER;
ALTER TABLE jobs ADD COLUMN pause_message TEXT NOT NULL DEFAULT '';
ALTER TABLE jobs ADD COLUMN pause_reason TEXT NOT NULL DEFAULT 'none';
ALTER TABLE jobs ADD COLUMN pause_for_maintenance INTEGER NOT NULL DEFAULT 0;
UPDATE jobs SET
  search_since = CAST(round((julianday(json_extract(attempt_json, '$.search.since')) - 2440587.5)
                            * 86400000) AS INTEGER),
  search_tries = min(2147483647,
    max(0, coalesce(CAST(json_extract(attempt_json, '$.search.tries') AS INTEGER), 0)))
  WHERE CASE WHEN json_valid(attempt_json)
             THEN json_type(attempt_json, '$.search.since') = 'text' END;
UPDATE jobs SET
  pause_until = CAST(round((julianday(json_extract(state_json, '$.until')) - 2440587.5)
                           * 86400000) AS INTEGER),
  pause_message = coalesce(CAST(json_extract(state_json, '$.error.message') AS TEXT), ''),
  pause_reason = coalesce(CAST(json_extract(state_json, '$.error.reason') AS TEXT), 'none'),
  pause_for_maintenance =
    coalesce(CAST(json_extract(state_json, '$.for_maintenance') AS INTEGER), 0)
  WHERE state = 'BACKOFF'
        AND CASE WHEN json_valid(state_json) THEN json_type(state_json, '$.until') = 'text' END;
)sql";

constexpr const char* kMigrating = "upgrading the store";

struct Records {
  std::int64_t id = 0;
  std::string attempt = {};
  std::optional<std::string> slice = {};
  std::optional<std::string> stage = {};
};

/// Text that is not JSON stays as it is: that job cannot be read, which is reported later.
Records UpgradedRecords(Query& query) {
  Records records{.id = query.Int()};
  const std::string restart_reason = query.Text();
  const std::string state = query.Text();
  records.attempt = UpgradeAttempt(restart_reason, state, query.SmallInt()).dump();
  records.slice = query.MaybeText();
  records.stage = query.MaybeText();
  base::Json slice;
  if (auto old = base::ParseJson(records.slice.value_or("")); old.ok()) {
    slice = UpgradeSlice(*old);
    records.slice = slice.dump();
  }
  if (auto old = base::ParseJson(records.stage.value_or("")); old.ok()) {
    records.stage = UpgradeStage(*old, slice).dump();
  }
  return records;
}

Status UpgradeRecords(Database& db) {
  std::vector<Records> all;
  {
    JM_ASSIGN_OR_RETURN(
        Query query,
        db.Prepare("SELECT id, restart_reason, state, attempt, slice_json, stage_json FROM jobs",
                   kMigrating));
    for (;;) {
      JM_ASSIGN_OR_RETURN(const bool row, query.Step());
      if (!row) break;
      all.push_back(UpgradedRecords(query));
    }
  }
  for (const Records& one : all) {
    JM_TRY(db.Run("UPDATE jobs SET attempt_json = ?, slice_json = ?, stage_json = ? WHERE id = ?",
                  kMigrating, one.attempt, one.slice, one.stage, one.id));
  }
  return db.RunScript("ALTER TABLE jobs DROP COLUMN restart_reason", kMigrating);
}

/// Version 6: specs use the keys of a job file.
Status UpgradeSpecs(Database& db) {
  std::vector<std::pair<std::int64_t, std::string>> specs;
  {
    JM_ASSIGN_OR_RETURN(Query query,
                        db.Prepare("SELECT job, spec_json FROM job_files", kMigrating));
    for (;;) {
      JM_ASSIGN_OR_RETURN(const bool row, query.Step());
      if (!row) break;
      const std::int64_t job = query.Int();
      const auto old = base::ParseJson(query.Text());
      if (old.ok()) specs.emplace_back(job, UpgradeSpec(*old).dump());
    }
  }
  for (const auto& [job, text] : specs) {
    JM_TRY(db.Run("UPDATE job_files SET spec_json = ? WHERE job = ?", kMigrating, text, job));
  }
  return base::Ok();
}

constexpr Migration kMigrations[] = {
    {.sql = kVersion1}, {.sql = kVersion2},
    {.sql = kVersion3}, {.sql = kVersion4, .rewrite = UpgradeRecords},
    {.sql = kVersion5}, {.rewrite = UpgradeSpecs},
    {.sql = kVersion7}, {.sql = kVersion8},
    {.sql = kVersion9},
};

Error NewerStore(std::int64_t version, std::size_t known) {
  return {.code = base::Code::kFailedPrecondition,
          .message = fmt::format("the store was written by a newer jobman: it has version {}, this "
                                 "program knows versions up to {}",
                                 version, known),
          .reason = base::Reason::kNewerStore,
          .hint = "use the newest jobman that has worked on it; nothing was changed"};
}

Status Apply(Database& db, std::int64_t from, const Migration& migration) {
  JM_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(db));
  // Another process may have migrated while this one waited for the lock.
  JM_ASSIGN_OR_RETURN(const std::int64_t present, StoreVersion(db));
  if (present != from) return base::Ok();
  JM_TRY(db.RunScript(migration.sql, kMigrating));
  if (migration.rewrite != nullptr) {
    Status rewritten = migration.rewrite(db);
    if (!rewritten.ok()) return std::move(rewritten).error().With(kMigrating);
  }
  JM_TRY(db.RunScript(fmt::format("PRAGMA user_version = {}", from + 1), kMigrating));
  return transaction.Commit();
}

}  // namespace

std::span<const Migration> Migrations() {
  return kMigrations;
}

Result<std::int64_t> StoreVersion(Database& db) {
  return db.NumberPragma("user_version");
}

Status Migrate(Database& db, std::span<const Migration> migrations) {
  for (;;) {
    JM_ASSIGN_OR_RETURN(const std::int64_t version, StoreVersion(db));
    const auto known = static_cast<std::int64_t>(migrations.size());
    if (version > known) return NewerStore(version, migrations.size());
    if (version == known) return base::Ok();
    JM_TRY(Apply(db, version, migrations[static_cast<std::size_t>(version)]));
  }
}

}  // namespace jobman::store
