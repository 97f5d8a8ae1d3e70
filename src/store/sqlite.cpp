#include "store/sqlite.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

namespace jobman::store {
namespace {

using base::Code;
using base::Reason;

constexpr int kBusyTimeoutMs = 5000;

std::string StorePath(sqlite3* db, const std::string& path) {
  if (!path.empty() || db == nullptr) return path;
  const char* name = sqlite3_db_filename(db, "main");
  return name == nullptr || *name == '\0' ? std::string("in memory") : std::string(name);
}

Error DiskFull(const std::string& path) {
  return {.code = Code::kResourceExhausted,
          .message = "the disk of the store " + path + " is full",
          .reason = Reason::kDiskFull,
          .hint = "free some space there; what was stored before is intact"};
}

Error NotWritable(const std::string& path, const std::string& cause) {
  return {.code = Code::kPermissionDenied,
          .message = "the store " + path + " cannot be written: " + cause,
          .reason = Reason::kNotWritable,
          .hint = "make its folder writable, or set JOBMAN_HOME to a folder that is"};
}

Error Damaged(const std::string& path, const std::string& cause) {
  return {.code = Code::kDataLoss,
          .message = "the store " + path + " is damaged: " + cause,
          .hint = "nothing was changed; try `sqlite3 " + path +
                  " .recover`, or move the file away to start afresh (the slices it knew stay "
                  "in the cloud under the label jobman-job)"};
}

Error NoLocks(const std::string& path, const std::string& cause) {
  return {.code = Code::kUnavailable,
          .message = "the file system of the store " + path + " does not lock files: " + cause,
          .hint = "set JOBMAN_HOME to a folder on a local disk"};
}

Error Busy(const std::string& path) {
  return {.code = Code::kUnavailable,
          .message = "the store " + path + " is in use: another process has been writing for 5 s",
          .hint = "try again; `fuser " + path + "` names the process"};
}

/// SQLITE_IOERR and SQLITE_CANTOPEN hide the real cause in errno.
std::optional<Error> FromSystemErrno(int system_errno, const std::string& path) {
  switch (system_errno) {
    case ENOSPC:
    case EDQUOT:
      return DiskFull(path);
    case EACCES:
    case EPERM:
    case EROFS:
      return NotWritable(path, std::strerror(system_errno));
    default:
      return std::nullopt;
  }
}

Error Classify(sqlite3* db, int extended, const std::string& path, const std::string& cause) {
  const int primary = extended & 0xff;
  if (primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN)
    if (auto error = FromSystemErrno(sqlite3_system_errno(db), path)) return std::move(*error);
  if (extended == SQLITE_IOERR_LOCK || extended == SQLITE_IOERR_SHMMAP) return NoLocks(path, cause);
  switch (primary) {
    case SQLITE_FULL:
      return DiskFull(path);
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
      return NotWritable(path, cause);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return Damaged(path, cause);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Busy(path);
    case SQLITE_PROTOCOL:
    case SQLITE_NOLFS:
      return NoLocks(path, cause);
    default:
      return base::Internal("the store " + path + ": " + cause);
  }
}

}  // namespace

Error ToError(sqlite3* db, const char* doing, const std::string& path) {
  if (db == nullptr) return base::Internal("out of memory opening the store").With(doing);
  const std::string cause = sqlite3_errmsg(db);
  return Classify(db, sqlite3_extended_errcode(db), StorePath(db, path), cause).With(doing);
}

// --- Query ---

Query::Query(Query&& other) noexcept
    : statement_(std::exchange(other.statement_, nullptr)),
      doing_(other.doing_),
      bound_(other.bound_),
      column_(other.column_),
      bind_error_(other.bind_error_) {}

Query::~Query() {
  if (statement_ == nullptr) return;
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

Query& Query::Bind(std::int64_t value) {
  const int code = sqlite3_bind_int64(statement_, ++bound_, value);
  if (code != SQLITE_OK) bind_error_ = code;
  return *this;
}

Query& Query::Bind(std::string_view text) {
  // A null pointer would bind NULL.
  const char* bytes = text.data() == nullptr ? "" : text.data();
  const int code =
      sqlite3_bind_text64(statement_, ++bound_, bytes, text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  if (code != SQLITE_OK) bind_error_ = code;
  return *this;
}

Query& Query::Bind(const std::optional<TimePoint>& time) {
  return time ? Bind(*time) : BindNull();
}

Query& Query::Bind(const std::optional<std::string>& text) {
  return text ? Bind(*text) : BindNull();
}

Query& Query::BindNull() {
  const int code = sqlite3_bind_null(statement_, ++bound_);
  if (code != SQLITE_OK) bind_error_ = code;
  return *this;
}

Result<bool> Query::Step() {
  sqlite3* db = sqlite3_db_handle(statement_);
  if (bind_error_ != SQLITE_OK)
    return base::Internal(std::string("binding a value: ") + sqlite3_errstr(bind_error_))
        .With(doing_);
  column_ = 0;
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return ToError(db, doing_);
}

Status Query::Run() {
  for (;;) {
    JM_ASSIGN_OR_RETURN(const bool row, Step());
    if (!row) return base::Ok();
  }
}

bool Query::IsNull() const {
  return sqlite3_column_type(statement_, column_) == SQLITE_NULL;
}

std::int64_t Query::Int() {
  return sqlite3_column_int64(statement_, column_++);
}

std::string_view Query::View() {
  const void* bytes = sqlite3_column_text(statement_, column_);
  const int size = sqlite3_column_bytes(statement_, column_);
  ++column_;
  if (bytes == nullptr) return {};
  return {static_cast<const char*>(bytes), static_cast<std::size_t>(size)};
}

std::optional<TimePoint> Query::MaybeTime() {
  const bool null = IsNull();
  const TimePoint time = Time();
  return null ? std::nullopt : std::optional(time);
}

std::optional<std::string> Query::MaybeText() {
  const bool null = IsNull();
  std::string text = Text();
  return null ? std::nullopt : std::optional(std::move(text));
}

// --- Database ---

Result<Database> Database::Open(const std::string& name, int flags) {
  sqlite3* raw = nullptr;
  // Without SQLite's lock around each call: a store belongs to one thread.
  const int code = sqlite3_open_v2(name.c_str(), &raw, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  Handle db(raw);  // must be closed even if opening failed
  if (code != SQLITE_OK) return ToError(raw, "opening the store", name);
  sqlite3_extended_result_codes(raw, 1);
  sqlite3_busy_timeout(raw, kBusyTimeoutMs);
  return Database(std::move(db));
}

Result<Database> Database::CopyToMemory() {
  JM_ASSIGN_OR_RETURN(Database copy, Open(":memory:", SQLITE_OPEN_READWRITE));
  sqlite3_backup* const backup = sqlite3_backup_init(copy.db_.get(), "main", db_.get(), "main");
  // If the store is being written right now this is SQLITE_BUSY, which finish() does not report.
  const int copied = backup == nullptr ? SQLITE_ERROR : sqlite3_backup_step(backup, -1);
  if (backup != nullptr) sqlite3_backup_finish(backup);
  if (copied != SQLITE_DONE) {
    return Error{.code = Code::kUnavailable,
                 .message = std::string("the store cannot be read: ") + sqlite3_errstr(copied),
                 .hint = "try again in a moment"};
  }
  return copy;
}

Result<Query> Database::Prepare(const char* sql, const char* doing) {
  StatementHandle& statement = statements_[sql];
  if (!statement) {
    sqlite3_stmt* raw = nullptr;
    const int code =
        sqlite3_prepare_v3(db_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
    statement.reset(raw);
    if (code != SQLITE_OK) return ToError(db_.get(), doing);
  }
  JM_CHECK(sqlite3_stmt_busy(statement.get()) == 0, "a statement is used twice at once");
  return Query(statement.get(), doing);
}

Status Database::RunScript(const std::string& sql, const char* doing) {
  if (sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    return ToError(db_.get(), doing);
  return base::Ok();
}

Result<std::string> Database::Pragma(const std::string& pragma) {
  const std::string sql = "PRAGMA " + pragma;
  sqlite3_stmt* raw = nullptr;
  const int code = sqlite3_prepare_v2(db_.get(), sql.c_str(), -1, &raw, nullptr);
  const StatementHandle statement(raw);
  if (code != SQLITE_OK) return ToError(db_.get(), "reading the store's header");
  Query query(raw, "reading the store's header");
  JM_ASSIGN_OR_RETURN(const bool row, query.Step());
  return row ? query.Text() : std::string();
}

Result<std::int64_t> Database::NumberPragma(const std::string& pragma) {
  JM_ASSIGN_OR_RETURN(const std::string text, Pragma(pragma));
  return std::strtoll(text.c_str(), nullptr, 10);
}

// --- Transaction ---

Result<Transaction> Transaction::Begin(Database& db) {
  JM_TRY(db.Run("BEGIN IMMEDIATE", "starting to write"));
  return Transaction(db);
}

Result<Transaction> Transaction::BeginToRead(Database& db) {
  JM_TRY(db.Run("BEGIN DEFERRED", "starting to read"));
  return Transaction(db);
}

Status Transaction::Commit() {
  JM_TRY(db_->Run("COMMIT", "ending a write"));
  db_ = nullptr;
  return base::Ok();
}

Transaction::~Transaction() {
  // SQLite may have rolled back by itself (a full disk); then this fails, which is harmless.
  if (db_ != nullptr) static_cast<void>(db_->Run("ROLLBACK", "taking a write back").ok());
}

}  // namespace jobman::store
