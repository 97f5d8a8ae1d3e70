#include "store/open.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "jobman/base/log.hpp"
#include "jobman/base/random.hpp"
#include "store/file_system.hpp"
#include "store/locks.hpp"
#include "store/migrations.hpp"

namespace jobman::store {
namespace {

using base::Code;
using base::Path;
using base::Reason;

constexpr const char* kFileName = "jobman.db";
constexpr const char* kDoing = "opening the store";
/// In KiB, of connections that only read. Most read once, and pages that are kept would only be
/// memory to clear; those that watch read again from the kernel's cache.
constexpr const char* kSmallCache = "cache_size = -128";

struct Place {
  Path dir = {};
  Path file = {};
  bool shared = false;  ///< its file system is used by several machines
};

/// An error from errno, with the cure.
Error FromOs(int error_number, const Path& file, const char* what) {
  Error error = base::FromErrno(error_number, fmt::format("{} the store {}", what, file.string()));
  if (error.reason == Reason::kDiskFull) error.hint = "free some space there";
  if (error.reason == Reason::kNotWritable || error_number == ENOTDIR)
    error.hint = "make its folder writable, or set JOBMAN_HOME to a folder that is";
  return error;
}

Error JournalInUse(const std::string& mode) {
  return Error{.code = Code::kUnavailable,
               .message =
                   "the store has moved to another kind of file system, and another process "
                   "still uses its journal (" +
                   mode + ")",
               .hint = "stop every jobman that works on it, then try again"}
      .With(kDoing);
}

/// Write-ahead log where it is safe: readers never wait, a commit is one append. Elsewhere the
/// rollback journal with a sync at every step, because a server may lose writes.
Status UseJournal(Database& db, bool shared) {
  const std::string wanted = shared ? "delete" : "wal";
  JM_ASSIGN_OR_RETURN(const std::string present, db.Pragma("journal_mode"));
  if (present != wanted && !db.read_only()) {
    JM_ASSIGN_OR_RETURN(const std::string now, db.Pragma("journal_mode = " + wanted));
    if (now != wanted) return JournalInUse(present);
  }
  return db.RunScript(shared ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL", kDoing);
}

Status CheckIsOurs(Database& db, const Path& file) {
  JM_ASSIGN_OR_RETURN(const std::int64_t id, db.NumberPragma("application_id"));
  if (id == kApplicationId) return base::Ok();
  return Error{.code = Code::kDataLoss,
               .message = "the file " + file.string() + " is not a jobman store",
               .hint = "nothing was changed; move it away, or set JOBMAN_HOME to another folder"}
      .With(kDoing);
}

Status CheckIsFile(const struct stat& info, const Path& file) {
  if (S_ISREG(info.st_mode)) return base::Ok();
  return Error{.code = Code::kFailedPrecondition,
               .message = "the store " + file.string() +
                          (S_ISDIR(info.st_mode) ? " is a folder" : " is not a file"),
               .hint = "nothing was changed; move it away, or set JOBMAN_HOME to another folder"};
}

/// SQLite accepts a file of 0 bytes as an empty database. Here it is a store that lost its data.
Status CheckNotEmpty(const struct stat& info, const Path& file) {
  if (info.st_size > 0) return base::Ok();
  return Error{.code = Code::kDataLoss,
               .message = "the store " + file.string() + " is damaged: it has 0 bytes",
               .hint =
                   "put a copy of it back, or remove it to start afresh (the slices it "
                   "knew stay in the cloud under the label jobman-job)"}
      .With(kDoing);
}

Status FillNewFile(const Path& file, bool shared) {
  JM_ASSIGN_OR_RETURN(Database db, Database::Open(file.string(), SQLITE_OPEN_READWRITE));
  JM_TRY(db.RunScript(fmt::format("PRAGMA application_id = {}", kApplicationId), kDoing));
  JM_TRY(UseJournal(db, shared));
  // No other process sees the file yet: one sync at the end is enough.
  JM_TRY(db.RunScript("PRAGMA synchronous = OFF", kDoing));
  return Migrate(db, Migrations());
}

/// A hard link never replaces a file, so of two concurrent creators one wins. Without hard links, a
/// rename is used after a last check.
Status PutInPlace(const Path& fresh, const Path& file) {
  if (link(fresh.c_str(), file.c_str()) == 0 || errno == EEXIST) return base::Ok();
  const int link_errno = errno;
  if (access(file.c_str(), F_OK) == 0) return base::Ok();
  if (link_errno != ENOSPC && rename(fresh.c_str(), file.c_str()) == 0) return base::Ok();
  return FromOs(link_errno, file, "creating");
}

/// Creates the store under another name and links it, so that it appears complete or not at all.
Status CreateFile(const Place& place) {
  JM_TRY(base::EnsureDir(place.dir, 0700));
  const Path fresh = place.dir / ("." + std::string(kFileName) + "." + base::RandomHex(6));
  const base::UniqueFd fd(open(fresh.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600));
  if (!fd) return FromOs(errno, place.file, "creating");
  Status done = FillNewFile(fresh, place.shared);
  if (done.ok() && fsync(fd.get()) != 0) done = FromOs(errno, place.file, "creating");
  if (done.ok()) done = PutInPlace(fresh, place.file);
  // The temporary name would mean nothing to the user.
  if (!done.ok() && done.error().reason == Reason::kDiskFull) {
    done = FromOs(ENOSPC, place.file, "creating");
  }
  for (const char* suffix : {"", "-wal", "-shm", "-journal"})
    unlink((fresh.string() + suffix).c_str());
  return done;
}

bool CannotWrite(const Error& error) {
  return error.reason == Reason::kNotWritable || error.reason == Reason::kDiskFull;
}

Result<Database> OpenChecked(const Place& place, const std::string& name, int flags,
                             OpenMode mode) {
  JM_ASSIGN_OR_RETURN(Database db, Database::Open(name, flags));
  JM_TRY(CheckIsOurs(db, place.file));
  Status migrated = Migrate(db, Migrations());
  if (migrated.ok()) return db;
  // Reading a store of an older version must not need free disk space.
  if (mode == OpenMode::kReadOnly && CannotWrite(migrated.error())) {
    JM_ASSIGN_OR_RETURN(Database copy, db.CopyToMemory());
    JM_TRY(Migrate(copy, Migrations()));
    JM_TRY(copy.RunScript("PRAGMA query_only = ON", kDoing));
    return copy;
  }
  return std::move(migrated).error().With("opening " + place.file.string());
}

/// A file: URI; `immutable` reads without locks and without the -wal and -shm files.
std::string ImmutableUri(const Path& file) {
  std::string uri = "file:";
  for (const char c : file.string()) {
    if (c == '?' || c == '#' || c == '%')
      uri += fmt::format("%{:02x}", static_cast<unsigned char>(c));
    else
      uri += c;
  }
  return uri + "?immutable=1";
}

/// In a read-only folder, or on a full disk, the write-ahead log cannot be opened. If it is empty,
/// the main file is complete.
Result<Database> OpenImmutable(const Place& place, Error why) {
  if (base::FileSize(place.file.string() + "-wal").value_or(0) > 0) return why;
  return OpenChecked(place, ImmutableUri(place.file), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI,
                     OpenMode::kReadOnly);
}

Result<Database> OpenFile(const Place& place, const SqliteOptions& options) {
  auto db = OpenChecked(place, place.file.string(), SQLITE_OPEN_READWRITE, options.mode);
  const bool writable = db.ok() && !db->read_only();
  if (options.mode == OpenMode::kReadOnly) {
    if (db.ok() || !CannotWrite(db.error())) return db;
    return OpenImmutable(place, std::move(db).error());
  }
  if (!db.ok() || writable) return db;
  return FromOs(EACCES, place.file, "writing to");
}

Result<Database> OpenEmpty() {
  JM_ASSIGN_OR_RETURN(Database db, Database::Open(":memory:", SQLITE_OPEN_READWRITE));
  JM_TRY(Migrate(db, Migrations()));
  return db;
}

/// What SQLite needs of a file system of the network is checked before it is relied on. A new store
/// says what its place means; later that is for the log only.
Status CheckShared(const Place& place, bool is_new) {
  JM_TRY(ProbeLocks(place.dir));
  const Mount mount = MountOf(place.dir);
  const auto level = is_new ? base::LogLevel::kWarn : base::LogLevel::kInfo;
  if (LocksStayHere(mount))
    base::Log(
        level, "store",
        "the store {} is on a network file system ({}) whose locks other machines do not see: "
        "use it on this machine only, or set JOBMAN_HOME to a folder on a local disk",
        place.dir.string(), mount.type);
  return base::Ok();
}

}  // namespace

Result<Database> OpenStore(const Path& dir, const SqliteOptions& options) {
  const Path file = dir / kFileName;
  struct stat info = {};
  const int missing = stat(file.c_str(), &info) == 0 ? 0 : errno;
  if (missing == ENOENT && options.mode == OpenMode::kReadOnly) {
    return OpenEmpty();
  }
  if (missing != 0 && missing != ENOENT) return FromOs(missing, file, "opening");
  Place place{.dir = dir, .file = file};
  if (missing == ENOENT) JM_TRY(base::EnsureDir(dir, 0700));
  place.shared =
      options.shared_file_system ? *options.shared_file_system : IsOnSharedFileSystem(dir);
  if (place.shared && options.mode == OpenMode::kReadWrite)
    JM_TRY(CheckShared(place, missing == ENOENT));
  if (missing == ENOENT) {
    JM_TRY(CreateFile(place));
  } else {
    JM_TRY(CheckIsFile(info, file));
    JM_TRY(CheckNotEmpty(info, file));
  }
  JM_ASSIGN_OR_RETURN(Database db, OpenFile(place, options));
  if (!db.read_only() && !db.in_memory()) JM_TRY(UseJournal(db, place.shared));
  if (options.mode == OpenMode::kReadOnly && !db.in_memory()) JM_TRY(db.Pragma(kSmallCache));
  if (options.max_pages > 0)
    JM_TRY(db.Pragma(fmt::format("max_page_count = {}", options.max_pages)));
  return db;
}

}  // namespace jobman::store
