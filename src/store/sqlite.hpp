#pragma once

#include <sqlite3.h>

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "jobman/base/handle.hpp"
#include "jobman/base/result.hpp"
#include "jobman/base/time.hpp"

// Three small types around SQLite's C API. Nothing else in this module calls sqlite3_*.

namespace jobman::store {

using base::Error;
using base::Result;
using base::Status;
using base::TimePoint;

/// The last failure of `db` as an Error that names the store's file, the cause and the cure.
/// SQLITE_FULL is kDiskFull; READONLY, CANTOPEN and PERM are kNotWritable; CORRUPT and NOTADB are
/// kDataLoss; BUSY is kUnavailable. `path` names the file when `db` could not be opened.
Error ToError(sqlite3* db, const char* doing, const std::string& path = {});

/// A prepared statement in use: bind from left to right, step, read from left to right. Returned to
/// its Database on destruction. One at a time per SQL text.
class Query {
 public:
  Query(sqlite3_stmt* statement, const char* doing) : statement_(statement), doing_(doing) {}
  Query(Query&& other) noexcept;
  Query& operator=(Query&&) = delete;
  ~Query();

  Query& Bind(std::int64_t value);
  Query& Bind(int value) { return Bind(std::int64_t{value}); }
  Query& Bind(bool value) { return Bind(std::int64_t{value ? 1 : 0}); }
  Query& Bind(std::string_view text);
  Query& Bind(const std::string& text) { return Bind(std::string_view(text)); }
  Query& Bind(const char* text) { return Bind(std::string_view(text)); }
  Query& Bind(TimePoint time) { return Bind(base::ToMillis(time)); }
  Query& Bind(const std::optional<TimePoint>& time);
  Query& Bind(const std::optional<std::string>& text);

  /// Moves on to the next row; false when there is none.
  Result<bool> Step();
  /// Runs to the end, for statements without rows.
  Status Run();

  /// The next column of the current row, from the left.
  std::int64_t Int();
  int SmallInt() { return static_cast<int>(Int()); }
  bool Bool() { return Int() != 0; }
  TimePoint Time() { return base::FromMillis(Int()); }
  /// Valid until the next Step().
  std::string_view View();
  std::string Text() { return std::string(View()); }
  std::optional<TimePoint> MaybeTime();
  std::optional<std::string> MaybeText();

 private:
  Query& BindNull();
  bool IsNull() const;

  sqlite3_stmt* statement_ = nullptr;
  const char* doing_ = "";
  int bound_ = 0;
  int column_ = 0;
  int bind_error_ = SQLITE_OK;
};

/// A connection and its prepared statements, created on first use.
class Database {
 public:
  /// `name` is a path, ":memory:", or a file: URI. Later calls wait up to 5 s for other writers.
  static Result<Database> Open(const std::string& name, int flags);

  /// An in-memory copy; changes to it change no file.
  Result<Database> CopyToMemory();

  /// `sql` must live as long as the database (a literal or a static): it is the cache's key. So
  /// must `doing`, which appears in errors.
  Result<Query> Prepare(const char* sql, const char* doing);
  /// One statement without rows.
  template <class... Args>
  Status Run(const char* sql, const char* doing, const Args&... args) {
    JM_ASSIGN_OR_RETURN(Query query, Prepare(sql, doing));
    (query.Bind(args), ...);
    return query.Run();
  }
  /// Several statements, not cached: schema and pragmas.
  Status RunScript(const std::string& sql, const char* doing);
  /// A pragma's single value as text; empty if it returns no row.
  Result<std::string> Pragma(const std::string& pragma);
  Result<std::int64_t> NumberPragma(const std::string& pragma);

  std::int64_t last_insert_id() const { return sqlite3_last_insert_rowid(db_.get()); }
  /// Rows touched by the last statement.
  std::int64_t changes() const { return sqlite3_changes(db_.get()); }
  /// Rows touched by this connection so far.
  std::int64_t total_changes() const { return sqlite3_total_changes(db_.get()); }
  /// Of the file; empty: ":memory:", or a copy in memory.
  std::string path() const {
    const char* const name = sqlite3_db_filename(db_.get(), "main");
    return name == nullptr ? "" : name;
  }
  bool in_memory() const { return path().empty(); }
  bool read_only() const { return sqlite3_db_readonly(db_.get(), "main") == 1; }

 private:
  using Handle = base::UniqueHandle<sqlite3, sqlite3_close>;
  using StatementHandle = base::UniqueHandle<sqlite3_stmt, sqlite3_finalize>;
  explicit Database(Handle db) : db_(std::move(db)) {}

  Handle db_;  // outlives the statements
  std::unordered_map<const char*, StatementHandle> statements_;
};

/// BEGIN IMMEDIATE ... COMMIT. Rolls back on destruction unless Commit() succeeded.
class Transaction {
 public:
  static Result<Transaction> Begin(Database& db);
  /// Many reads of one state that lock the file once. It locks out no writer, and needs no
  /// Commit().
  static Result<Transaction> BeginToRead(Database& db);
  Transaction(Transaction&& other) noexcept : db_(std::exchange(other.db_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  Status Commit();

 private:
  explicit Transaction(Database& db) : db_(&db) {}
  Database* db_ = nullptr;
};

}  // namespace jobman::store
