#include "client/unpacking.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <asio/buffer.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>
#include <cerrno>
#include <ctime>
#include <filesystem>

#include "client/copy_parts.hpp"
#include "jobman/base/clean.hpp"
#include "jobman/base/hash.hpp"

namespace jobman::client {
namespace {

using base::Path;
using base::Result;
using base::Status;
using base::Task;
namespace fs = std::filesystem;

constexpr std::size_t kArchivePiece = std::size_t{256} << 10;
constexpr std::int64_t kGivenBack = std::int64_t{64} << 20;  // at a time
constexpr std::time_t kKept = 24 * 60 * 60;
constexpr const char* kPrefix = ".jobman-cp-";

/// For messages: a host chose the name.
std::string Shown(const Path& path) {
  return base::CleanLine(path.string());
}

base::Error Refused(const Path& path, const std::string& why) {
  return {.code = base::Code::kFailedPrecondition,
          .message = Shown(path) + " " + why,
          .hint = "nothing was copied there; move what is in the way, or choose another target"};
}

bool IsThere(const fs::file_status& status) {
  return fs::exists(status);
}

/// Makes an unpacked entry harmless, and a folder one that can be moved.
Status Tame(const Path& entry) {
  struct stat facts = {};
  if (::lstat(entry.c_str(), &facts) != 0)
    return base::FromErrno(errno, "looking at " + Shown(entry));
  if (S_ISLNK(facts.st_mode)) return base::Ok();
  if (!S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode))
    return Refused(entry, "is neither a file nor a folder nor a link");
  const mode_t own = S_ISDIR(facts.st_mode) ? S_IRWXU : 0;
  const mode_t mode = (facts.st_mode & 0777) | own;
  if (mode != (facts.st_mode & 07777) && ::chmod(entry.c_str(), mode) != 0)
    return base::FromErrno(errno, "setting the mode of " + Shown(entry));
  return base::Ok();
}

/// The folder and everything below it, without following links. Goes on after what it refuses, so
/// that all can be removed; returns the first error.
Status TameAll(const Path& folder) {
  std::error_code failed;
  Status all = Tame(folder);
  for (fs::recursive_directory_iterator one(folder, failed), end; !failed && one != end;
       one.increment(failed)) {
    Status tamed = Tame(one->path());
    if (all.ok()) all = std::move(tamed);
  }
  if (all.ok() && failed) return base::FromErrno(failed.value(), "looking at " + Shown(folder));
  return all;
}

/// A folder of this user, and no link to one: its name can be guessed. Outside of folders such as
/// /tmp, where all may write, the owner does not matter: mounted buckets may name somebody else.
bool IsOwnCopy(const Path& path) {
  struct stat facts = {};
  if (::lstat(path.c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode)) return false;
  if (facts.st_uid == ::geteuid()) return true;
  struct stat around = {};
  return ::stat(path.parent_path().c_str(), &around) == 0 && (around.st_mode & S_ISVTX) == 0;
}

/// The archive in a copy's folder, locked, where the file system has locks; EWOULDBLOCK if another
/// process has it.
base::UniqueFd LockArchive(const Path& archive, int flags) {
  base::UniqueFd fd(::open(archive.c_str(), flags | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (fd && ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    fd.Reset();
    errno = EWOULDBLOCK;
  }
  return fd;
}

void RemoveCopy(const Path& folder) {
  static_cast<void>(TameAll(folder));
  std::error_code ignored;
  fs::remove_all(folder, ignored);
}

/// Up to kArchivePiece bytes at this offset; empty at the end.
Result<std::string> ReadAt(int fd, std::int64_t offset, const Path& archive) {
  std::string piece(kArchivePiece, '\0');
  ssize_t count = -1;
  do {
    count = ::pread(fd, piece.data(), piece.size(), offset);
  } while (count < 0 && errno == EINTR);
  if (count < 0) return base::FromErrno(errno, "reading " + archive.string());
  piece.resize(static_cast<std::size_t>(count));
  return piece;
}

Status Rename(const Path& from, const Path& to) {
  std::error_code failed;
  fs::rename(from, to, failed);
  if (failed) return base::FromErrno(failed.value(), "writing " + Shown(to));
  return base::Ok();
}

/// A folder that was there before has its mode and time from the one that was sent, unless it
/// belongs to somebody else.
void LendFacts(const struct stat& sent, const Path& to) {
  const std::array<timespec, 2> times = {sent.st_atim, sent.st_mtim};
  if (::chmod(to.c_str(), sent.st_mode & 0777) == 0)
    static_cast<void>(::utimensat(AT_FDCWD, to.c_str(), times.data(), AT_SYMLINK_NOFOLLOW));
}

/// Gives an entry its final name: a file replaces a file, folders are merged. Never through a link.
/// Without `really` nothing is moved: what would be in the way is the error.
Status Move(const Path& from, const Path& to, bool really) {
  std::error_code failed;
  const auto there = fs::symlink_status(to, failed);
  const bool is_folder = fs::symlink_status(from, failed).type() == fs::file_type::directory;
  if (!IsThere(there)) return really ? Rename(from, to) : base::Ok();
  if (is_folder != (there.type() == fs::file_type::directory)) {
    return is_folder ? Refused(to, there.type() == fs::file_type::symlink
                                       ? "is a link, and a folder would take its place"
                                       : "is not a folder, and a folder would take its place")
                     : Refused(to, "is a folder, and a file would take its place");
  }
  if (!is_folder) return really ? Rename(from, to) : base::Ok();
  struct stat sent = {};
  if (::lstat(from.c_str(), &sent) != 0) return base::FromErrno(errno, "looking at " + Shown(from));
  for (fs::directory_iterator one(from, failed), end; !failed && one != end;
       one.increment(failed)) {
    JM_TRY(Move(one->path(), to / one->path().filename(), really));
  }
  if (failed) return base::FromErrno(failed.value(), "looking at " + Shown(from));
  if (really) LendFacts(sent, to);
  return base::Ok();
}

}  // namespace

Result<std::shared_ptr<Unpacking>> Unpacking::Begin(asio::any_io_executor executor, Path folder) {
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return base::FromErrno(errno, "making a folder in " + folder.parent_path().string());
  if (!IsOwnCopy(folder)) {
    return base::Error{.code = base::Code::kFailedPrecondition,
                       .message = folder.string() + " is not a folder of this user",
                       .hint = "remove it"};
  }
  std::shared_ptr<Unpacking> made(new Unpacking(std::move(folder), executor));
  JM_TRY(made->Open());
  return made;
}

Status Unpacking::Open() {
  archive_ = LockArchive(Archive(), O_CREAT);
  if (!archive_ && errno != EWOULDBLOCK)
    return base::FromErrno(errno, "opening " + Archive().string());
  if (!archive_) {
    return base::Error{.code = base::Code::kFailedPrecondition,
                       .message = "another jobman cp copies the same to " +
                                  folder_.parent_path().string() + " now",
                       .hint = "wait for its end"};
  }
  // What was begun to be unpacked is not whole any more.
  if (fs::exists(fs::symlink_status(Inside()))) {
    RemoveCopy(Inside());
    return Restart();
  }
  offset_ = base::FileSize(Archive()).value_or(0);
  return base::Ok();
}

Unpacking::~Unpacking() {
  tar_.reset();
  // Without the lock it is another one's.
  if (archive_ && (dropped_ || begun_ || offset_ == 0)) RemoveCopy(folder_);
}

base::Task<Result<std::string>> Unpacking::Hash() {
  while (hashed_ < offset_) {
    JM_CO_ASSIGN_OR_RETURN(const std::string piece, ReadAt(archive_.get(), hashed_, Archive()));
    if (piece.empty()) break;
    hash_.Add(piece);
    hashed_ += std::ssize(piece);
    co_await base::Yield();
  }
  co_return hash_.Hex();
}

Result<std::optional<std::string>> Unpacking::NextInput() {
  return std::optional<std::string>(std::string());
}

Result<bool> Unpacking::MayRead() {
  return true;
}

Status Unpacking::Take(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(archive_.get(), bytes.data(), bytes.size(), offset_);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const int why = errno;
      // What does not fit is not kept.
      if (why == ENOSPC || why == EDQUOT || why == EFBIG) Drop();
      return base::FromErrno(why, "writing " + Archive().string());
    }
    offset_ += count;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return base::Ok();
}

Status Unpacking::Restart() {
  if (::ftruncate(archive_.get(), 0) != 0)
    return base::FromErrno(errno, "emptying " + Archive().string());
  offset_ = 0;
  hash_ = {};
  hashed_ = 0;
  return base::Ok();
}

Status Unpacking::StartTar() {
  if (::mkdir(Inside().c_str(), 0700) != 0)
    return base::FromErrno(errno, "making a folder in " + folder_.string());
  std::array<int, 2> ends = {};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return base::FromErrno(errno, "making a pipe");
  const base::UniqueFd from(ends[1]);
  to_tar_ = Socket(executor_, asio::local::stream_protocol(), ends[0]);
  const std::vector<std::string> words = {"--extract",
                                          "--file=-",
                                          "--no-unquote",
                                          "--directory=" + Inside().string(),
                                          "--no-same-owner",
                                          "--preserve-permissions",
                                          "--warning=no-timestamp"};
  JM_ASSIGN_OR_RETURN(tar_, TarProcess::Start(executor_, words, from.get(), -1));
  return base::Ok();
}

Task<Status> Unpacking::FeedTar() {
  std::error_code failed;
  std::int64_t given_back = 0;
  for (std::int64_t at = 0; !failed;) {
    JM_CO_ASSIGN_OR_RETURN(const std::string piece, ReadAt(archive_.get(), at, Archive()));
    if (piece.empty()) break;
    // If tar has ended, it has said why.
    co_await asio::async_write(to_tar_, asio::buffer(piece),
                               asio::redirect_error(asio::use_awaitable, failed));
    co_await base::EndIfCancelled();
    at += std::ssize(piece);
    if (at - given_back < kGivenBack) continue;
    // Where the file system cannot, both are there until the end.
    static_cast<void>(::fallocate(archive_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                  given_back, at - given_back));
    given_back = at;
  }
  to_tar_.close(failed);
  co_return base::Ok();
}

Task<Status> Unpacking::Finish() {
  begun_ = true;
  JM_CO_TRY(StartTar());
  JM_CO_TRY(co_await FeedTar());
  const int code = co_await tar_->End();
  if (code != 0) co_return CopyError(tar_->said(), code).With("unpacking what it sent");
  co_return base::Ok();
}

void DropOldCopies(const Path& folder) {
  std::error_code failed;
  for (fs::directory_iterator one(folder, failed), end; !failed && one != end;
       one.increment(failed)) {
    if (!one->path().filename().string().starts_with(kPrefix) || !IsOwnCopy(one->path())) continue;
    const base::UniqueFd archive = LockArchive(one->path() / "archive", 0);
    struct stat facts = {};
    if (!archive || ::fstat(archive.get(), &facts) != 0) continue;
    if (std::time(nullptr) - facts.st_mtime > kKept) RemoveCopy(one->path());
  }
}

Result<std::vector<Path>> Unpacking::NamesInside(const std::vector<std::string>& expected) const {
  std::error_code failed;
  std::vector<Path> found;
  for (fs::directory_iterator one(Inside(), failed), end; !failed && one != end;
       one.increment(failed)) {
    const Path own = one->path().filename();
    if (std::find(expected.begin(), expected.end(), own.string()) == expected.end())
      return Refused(own, "was sent, though nobody asked for it");
    found.push_back(own);
  }
  if (failed) return base::FromErrno(failed.value(), "looking at " + Inside().string());
  return found;
}

Status Unpacking::Place(const Path& into, const std::string& name,
                        const std::vector<std::string>& expected) {
  JM_TRY(TameAll(Inside()));
  JM_ASSIGN_OR_RETURN(const std::vector<Path> found, NamesInside(expected));
  for (const bool really : {false, true}) {
    moving_ = really;
    for (const Path& own : found)
      JM_TRY(Move(Inside() / own, into / (name.empty() ? own : Path(name)), really));
  }
  return base::Ok();
}

}  // namespace jobman::client
