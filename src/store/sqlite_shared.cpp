#include "jobman/store/sqlite_store.hpp"
#include "store/rules.hpp"
#include "store/sqlite.hpp"

// What belongs to no job: the store's name, host keys, cached facts, the lease.

namespace jobman::store {
namespace {

/// The lease as stored; an empty holder when nobody holds it.
Result<ports::Lease> SelectLease(Database& db) {
  JM_ASSIGN_OR_RETURN(
      Query query,
      db.Prepare("SELECT holder, token, expires FROM lease WHERE id = 1", "reading the lease"));
  JM_ASSIGN_OR_RETURN(const bool found, query.Step());
  if (!found) return base::Internal("the store has no row for the lease");
  return ports::Lease{.holder = query.Text(), .token = query.Int(), .expires = query.Time()};
}

Status UpdateLease(Database& db, const ports::Lease& lease) {
  return db.Run("UPDATE lease SET holder = ?, token = ?, expires = ? WHERE id = 1",
                "writing the lease", lease.holder, lease.token, lease.expires);
}

}  // namespace

Result<std::string> SqliteStore::StoreId() {
  JM_ASSIGN_OR_RETURN(Query query, db_->Prepare("SELECT value FROM meta WHERE key = 'store_id'",
                                                "reading the store's name"));
  JM_ASSIGN_OR_RETURN(const bool found, query.Step());
  if (!found) return base::Internal("the store has no name");
  return query.Text();
}

Result<std::optional<std::string>> SqliteStore::PinnedKey(const std::string& identity) {
  JM_ASSIGN_OR_RETURN(Query query, db_->Prepare("SELECT key FROM host_keys WHERE identity = ?",
                                                "reading a host key"));
  JM_ASSIGN_OR_RETURN(const bool found, query.Bind(identity).Step());
  return found ? std::optional(query.Text()) : std::nullopt;
}

Status SqliteStore::PinKey(const std::string& identity, const std::string& key) {
  return db_->Run("INSERT OR REPLACE INTO host_keys (identity, key) VALUES (?, ?)",
                  "pinning a host key", identity, key);
}

Result<std::optional<std::pair<std::string, core::TimePoint>>> SqliteStore::Cached(
    const std::string& key) {
  using Fact = std::pair<std::string, core::TimePoint>;
  JM_ASSIGN_OR_RETURN(Query query, db_->Prepare("SELECT value, at FROM cache WHERE key = ?",
                                                "reading a cached fact"));
  JM_ASSIGN_OR_RETURN(const bool found, query.Bind(key).Step());
  if (!found) return std::optional<Fact>();
  std::string value = query.Text();
  return std::optional<Fact>(Fact{std::move(value), query.Time()});
}

Status SqliteStore::Cache(const std::string& key, const std::string& value, core::TimePoint now) {
  return db_->Run("INSERT OR REPLACE INTO cache (key, value, at) VALUES (?, ?, ?)",
                  "caching a fact", key, value, now);
}

Result<std::optional<ports::Lease>> SqliteStore::TakeLease(const std::string& holder,
                                                           core::TimePoint now,
                                                           core::Duration time_to_live) {
  JM_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*db_));
  JM_ASSIGN_OR_RETURN(const ports::Lease present, SelectLease(*db_));
  const auto lease = NextLease(present, holder, now, time_to_live);
  if (!lease) return lease;
  JM_TRY(UpdateLease(*db_, *lease));
  JM_TRY(transaction.Commit());
  return lease;
}

Status SqliteStore::DropLease(const ports::Lease& lease) {
  JM_TRY(db_->Run("UPDATE lease SET holder = '' WHERE holder = ? AND token = ?",
                  "dropping the lease", lease.holder, lease.token));
  return db_->changes() == 1 ? base::Ok() : Status(LeaseLost());
}

Result<std::optional<ports::Lease>> SqliteStore::CurrentLease() {
  JM_ASSIGN_OR_RETURN(ports::Lease lease, SelectLease(*db_));
  return lease.holder.empty() ? std::nullopt : std::optional(std::move(lease));
}

Result<std::int64_t> SqliteStore::ChangeCounter() {
  // data_version counts the commits of others only.
  JM_ASSIGN_OR_RETURN(Query query, db_->Prepare("PRAGMA data_version", "asking for changes"));
  JM_ASSIGN_OR_RETURN(const bool found, query.Step());
  const std::int64_t others = found ? query.Int() : 0;
  return (others << 32) + (db_->total_changes() & 0xffffffff);
}

}  // namespace jobman::store
