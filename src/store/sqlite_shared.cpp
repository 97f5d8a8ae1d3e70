#include <algorithm>
#include <utility>

#include "jobman/base/shell.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/core/run_id.hpp"
#include "jobman/store/sqlite_store.hpp"
#include "store/documents.hpp"
#include "store/lease_row.hpp"
#include "store/rules.hpp"
#include "store/sqlite.hpp"

// Data of no single job: the store's id and sites, guests, host keys, cached facts, the lease.

namespace jobman::store {
namespace {

/// In `meta`; an older jobman, which does not read it, lets nobody in.
std::string GuestKey(const core::Guest& guest) {
  return "guest:" + guest.user + ":" + guest.key.type + " " + guest.key.data;
}

std::string GuestText(const core::Guest& guest) {
  return core::GuestToJson(guest).dump();
}

constexpr std::string_view kGuestPrefix = "guest:";

/// The user and the key that the record is about, of GuestKey(); as much as there is of them.
core::Guest LoginIn(std::string_view row) {
  row.remove_prefix(std::min(row.size(), kGuestPrefix.size()));
  const std::size_t colon = std::min(row.find(':'), row.size());
  const std::string_view key = row.substr(std::min(colon + 1, row.size()));
  const std::size_t space = std::min(key.find(' '), key.size());
  core::Guest login;
  login.user = row.substr(0, colon);
  login.key.type = key.substr(0, space);
  login.key.data = key.substr(std::min(space + 1, key.size()));
  return login;
}

Result<core::Guest> ReadGuest(const std::string& row, std::string_view text) {
  JM_ASSIGN_OR_RETURN(const base::Json json, ParseColumn(text));
  JM_ASSIGN_OR_RETURN(core::Guest guest, core::GuestFromJson(json));
  if (GuestKey(guest) == row) return guest;
  return base::Error{.code = base::Code::kDataLoss, .message = "it is about somebody else"};
}

/// Names the record, and how to get rid of it if no jobman can read it.
base::Error UnreadError(base::Error error, const std::string& row, const std::string& file) {
  const core::Guest login = LoginIn(row);
  if (error.reason != base::Reason::kNewerStore) {
    const std::string drop =
        "DELETE FROM meta WHERE key = '" + base::ReplaceAll(row, "'", "''") + "'";
    error.hint = "drop the record: sqlite3 " + base::ShellQuote(file) + " " +
                 base::ShellQuote(drop) +
                 "; nodes may have the key, so add it anew, and remove it to take it away";
  }
  return std::move(error).With("the record of " + login.user + " (" +
                               core::FingerprintOf(login.key) + ") in " + file);
}

/// Each record of a guest, with the key of its row.
using GuestRow = std::pair<std::string, Result<core::Guest>>;

Result<std::vector<GuestRow>> SelectGuests(Database& db) {
  JM_ASSIGN_OR_RETURN(
      Query query, db.Prepare("SELECT key, value FROM meta WHERE key GLOB 'guest:*' ORDER BY key",
                              "reading the guests"));
  std::vector<GuestRow> rows;
  for (;;) {
    JM_ASSIGN_OR_RETURN(const bool found, query.Step());
    if (!found) return rows;
    std::string row = query.Text();
    auto guest = ReadGuest(row, query.View());
    rows.emplace_back(std::move(row), std::move(guest));
  }
}

Result<std::optional<std::string>> SelectKey(Database& db, const std::string& identity) {
  JM_ASSIGN_OR_RETURN(Query query, db.Prepare("SELECT key FROM host_keys WHERE identity = ?",
                                              "reading a host key"));
  JM_ASSIGN_OR_RETURN(const bool found, query.Bind(identity).Step());
  return found ? std::optional(query.Text()) : std::nullopt;
}

}  // namespace

Task<Result<std::string>> SqliteStore::StoreId() {
  JM_CO_ASSIGN_OR_RETURN(Query query, db_->Prepare("SELECT value FROM meta WHERE key = 'store_id'",
                                                   "reading the store's id"));
  JM_CO_ASSIGN_OR_RETURN(const bool found, query.Step());
  std::string id = found ? query.Text() : "";
  if (core::IsRunIdField(id)) co_return id;
  base::Error damaged{.code = base::Code::kDataLoss,
                      .message = "the store's id is damaged: \"" + id + '"',
                      .hint = "restore the store from a backup"};
  co_return damaged;
}

Task<Result<std::vector<core::Site>>> SqliteStore::Sites() {
  JM_CO_ASSIGN_OR_RETURN(Query query, db_->Prepare("SELECT value FROM meta WHERE key = 'sites'",
                                                   "reading where the store belongs"));
  JM_CO_ASSIGN_OR_RETURN(const bool found, query.Step());
  if (!found) co_return std::vector<core::Site>{};
  auto sites = base::Result<std::vector<core::Site>>(base::Internal("not read"));
  if (const auto json = base::ParseJson(query.Text()); json.ok())
    sites = core::SitesFromJson(*json);
  if (sites.ok()) co_return sites;
  base::Error damaged{.code = base::Code::kDataLoss,
                      .message = "the store's record of where it belongs is damaged",
                      .hint = "restore the store from a backup"};
  co_return damaged;
}

Task<Result<std::vector<core::Guest>>> SqliteStore::Guests() {
  JM_CO_ASSIGN_OR_RETURN(std::vector<GuestRow> rows, SelectGuests(*db_));
  std::vector<core::Guest> guests;
  for (auto& [key, guest] : rows) {
    if (guest.ok()) guests.push_back(*std::move(guest));
  }
  co_return guests;
}

Task<Result<std::vector<ports::UnreadGuest>>> SqliteStore::UnreadGuests() {
  JM_CO_ASSIGN_OR_RETURN(const std::vector<GuestRow> rows, SelectGuests(*db_));
  std::vector<ports::UnreadGuest> unread;
  for (const auto& [key, guest] : rows) {
    if (guest.ok()) continue;
    unread.push_back(
        {.login = LoginIn(key), .error = UnreadError(guest.error(), key, db_->path())});
  }
  co_return unread;
}

Task<Status> SqliteStore::SetGuest(std::optional<core::Guest> was, std::optional<core::Guest> now) {
  constexpr const char* kDoing = "writing a guest";
  if (!was) {
    JM_CO_TRY(db_->Run("INSERT OR IGNORE INTO meta (key, value) VALUES (?, ?)", kDoing,
                       GuestKey(*now), GuestText(*now)));
  } else if (!now) {
    JM_CO_TRY(db_->Run("DELETE FROM meta WHERE key = ? AND value = ?", kDoing, GuestKey(*was),
                       GuestText(*was)));
  } else {
    JM_CO_TRY(db_->Run("UPDATE meta SET value = ? WHERE key = ? AND value = ?", kDoing,
                       GuestText(*now), GuestKey(*was), GuestText(*was)));
  }
  co_return db_->changes() == 1 ? base::Ok() : Status(GuestIsStale());
}

Task<Result<std::optional<std::string>>> SqliteStore::PinnedKey(std::string identity) {
  co_return SelectKey(*db_, identity);
}

Task<Result<std::map<std::string, std::string>>> SqliteStore::PinnedKeys(
    std::vector<std::string> identities) {
  JM_CO_ASSIGN_OR_RETURN(const Transaction reading, Transaction::BeginToRead(*db_));
  std::map<std::string, std::string> keys;
  for (const std::string& identity : identities) {
    JM_CO_ASSIGN_OR_RETURN(auto key, SelectKey(*db_, identity));
    if (key) keys[identity] = *std::move(key);
  }
  co_return keys;
}

Task<Status> SqliteStore::PinKey(std::string identity, std::string key) {
  co_return db_->Run("INSERT OR REPLACE INTO host_keys (identity, key) VALUES (?, ?)",
                     "pinning a host key", identity, key);
}

Task<Result<std::optional<ports::CachedFact>>> SqliteStore::Cached(std::string key) {
  JM_CO_ASSIGN_OR_RETURN(Query query, db_->Prepare("SELECT value, at FROM cache WHERE key = ?",
                                                   "reading a cached fact"));
  JM_CO_ASSIGN_OR_RETURN(const bool found, query.Bind(key).Step());
  if (!found) co_return std::nullopt;
  co_return ports::CachedFact{.value = query.Text(), .at = query.Time()};
}

Task<Status> SqliteStore::PutInCache(std::string key, ports::CachedFact fact) {
  co_return db_->Run("INSERT OR REPLACE INTO cache (key, value, at) VALUES (?, ?, ?)",
                     "caching a fact", key, fact.value, fact.at);
}

Task<Result<std::optional<ports::Lease>>> SqliteStore::TakeLease(std::string holder, TimePoint now,
                                                                 base::Duration time_to_live) {
  JM_CO_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*db_));
  JM_CO_ASSIGN_OR_RETURN(const ports::Lease present, SelectLease(*db_));
  const auto lease = NextLease(present, holder, now, time_to_live);
  if (!lease) co_return lease;
  JM_CO_TRY(UpdateLease(*db_, *lease));
  JM_CO_TRY(transaction.Commit());
  co_return lease;
}

Task<Status> SqliteStore::DropLease(ports::Lease lease) {
  JM_CO_TRY(db_->Run("UPDATE lease SET holder = '' WHERE holder = ? AND token = ?",
                     "dropping the lease", lease.holder, lease.token));
  co_return db_->changes() == 1 ? base::Ok() : Status(LeaseLost());
}

Task<Result<std::optional<ports::Lease>>> SqliteStore::CurrentLease() {
  JM_CO_ASSIGN_OR_RETURN(ports::Lease lease, SelectLease(*db_));
  co_return lease.holder.empty() ? std::nullopt : std::optional(std::move(lease));
}

Task<Result<std::int64_t>> SqliteStore::ChangeCounter() {
  // data_version counts only the commits of other connections.
  JM_CO_ASSIGN_OR_RETURN(Query query, db_->Prepare("PRAGMA data_version", "asking for changes"));
  JM_CO_ASSIGN_OR_RETURN(const bool found, query.Step());
  const std::int64_t others = found ? query.Int() : 0;
  co_return (others << 32) + (db_->total_changes() & 0xffffffff);
}

}  // namespace jobman::store
