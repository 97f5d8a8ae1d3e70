#include "jobman/store/sqlite_store.hpp"
#include "store/sqlite.hpp"

// A job's history.

namespace jobman::store {

using core::JobId;

namespace {

Result<std::vector<ports::HookDelivery>> ReadDeliveries(Query& query) {
  std::vector<ports::HookDelivery> deliveries;
  for (;;) {
    JM_ASSIGN_OR_RETURN(const bool row, query.Step());
    if (!row) return deliveries;
    deliveries.push_back({.number = query.Int(),
                          .job = {query.Int()},
                          .attempt = query.SmallInt(),
                          .event_id = query.Text(),
                          .event = query.Text(),
                          .hook = query.SmallInt(),
                          .target = query.Text(),
                          .body = query.Text(),
                          .at = query.Time(),
                          .tries = query.SmallInt(),
                          .next_try = query.MaybeTime(),
                          .error = query.Text()});
  }
}

}  // namespace

Task<Result<std::vector<ports::HookDelivery>>> SqliteStore::Waiting() {
  JM_CO_ASSIGN_OR_RETURN(
      Query query,
      db_->Prepare("SELECT number, job, attempt, event_id, event, hook, target, body, at, tries, "
                   "next_try, error FROM deliveries WHERE next_try IS NOT NULL ORDER BY number",
                   "reading the outbox"));
  co_return ReadDeliveries(query);
}

Task<Result<std::vector<ports::HookDelivery>>> SqliteStore::Deliveries(JobId id) {
  JM_CO_ASSIGN_OR_RETURN(
      Query query,
      db_->Prepare("SELECT number, job, attempt, event_id, event, hook, target, body, at, tries, "
                   "next_try, error FROM deliveries WHERE job = ? ORDER BY number",
                   "reading what hooks were told"));
  query.Bind(id.value);
  co_return ReadDeliveries(query);
}

Task<Result<std::vector<ports::Event>>> SqliteStore::Events(JobId id, std::int64_t after_number) {
  JM_CO_ASSIGN_OR_RETURN(
      Query query, db_->Prepare("SELECT number, at, job, attempt, kind, subject, text FROM events "
                                "WHERE job = ? AND number > ? ORDER BY number",
                                "reading the journal"));
  query.Bind(id.value).Bind(after_number);
  std::vector<ports::Event> events;
  for (;;) {
    JM_CO_ASSIGN_OR_RETURN(const bool row, query.Step());
    if (!row) co_return events;
    events.push_back({.number = query.Int(),
                      .at = query.Time(),
                      .job = {query.Int()},
                      .attempt = query.SmallInt(),
                      .kind = query.Text(),
                      .subject = query.Text(),
                      .text = query.Text()});
  }
}

Task<Result<std::vector<ports::ExitRecord>>> SqliteStore::Exits(JobId id) {
  JM_CO_ASSIGN_OR_RETURN(
      Query query, db_->Prepare("SELECT job, attempt, stage, host, exit_code, error, at FROM exits "
                                "WHERE job = ? ORDER BY number",
                                "reading the exit codes"));
  query.Bind(id.value);
  std::vector<ports::ExitRecord> exits;
  for (;;) {
    JM_CO_ASSIGN_OR_RETURN(const bool row, query.Step());
    if (!row) co_return exits;
    exits.push_back({.job = {query.Int()},
                     .attempt = query.SmallInt(),
                     .stage = query.Text(),
                     .host = query.SmallInt(),
                     .exit_code = query.SmallInt(),
                     .error = query.Text(),
                     .at = query.Time()});
  }
}

Task<Result<std::vector<ports::AttemptRecord>>> SqliteStore::Attempts(JobId id) {
  JM_CO_ASSIGN_OR_RETURN(
      Query query,
      db_->Prepare("SELECT job, attempt, slice, zone, reason, started_at, ended_at, outcome "
                   "FROM attempts WHERE job = ? ORDER BY attempt",
                   "reading the attempts"));
  query.Bind(id.value);
  std::vector<ports::AttemptRecord> attempts;
  for (;;) {
    JM_CO_ASSIGN_OR_RETURN(const bool row, query.Step());
    if (!row) co_return attempts;
    attempts.push_back({.job = {query.Int()},
                        .attempt = query.SmallInt(),
                        .slice = query.Text(),
                        .zone = query.Text(),
                        .reason = query.Text(),
                        .started_at = query.Time(),
                        .ended_at = query.MaybeTime(),
                        .outcome = query.Text()});
  }
}

}  // namespace jobman::store
