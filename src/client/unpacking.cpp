#include "client/unpacking.hpp"

#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <asio/buffer.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>
#include <cerrno>
#include <filesystem>

#include "client/copy_parts.hpp"
#include "jobman/base/clean.hpp"

namespace jobman::client {
namespace {

using base::Path;
using base::Result;
using base::Status;
using base::Task;
namespace fs = std::filesystem;

constexpr std::size_t kQueue = std::size_t{1} << 20;

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

Status Rename(const Path& from, const Path& to) {
  std::error_code failed;
  fs::rename(from, to, failed);
  if (failed) return base::FromErrno(failed.value(), "writing " + Shown(to));
  return base::Ok();
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
  for (fs::directory_iterator one(from, failed), end; !failed && one != end;
       one.increment(failed)) {
    JM_TRY(Move(one->path(), to / one->path().filename(), really));
  }
  if (failed) return base::FromErrno(failed.value(), "looking at " + Shown(from));
  return base::Ok();
}

}  // namespace

Result<std::shared_ptr<Unpacking>> Unpacking::Begin(asio::any_io_executor executor,
                                                    const Path& parent) {
  std::string folder = (parent / ".jobman-cp-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr)
    return base::FromErrno(errno, "making a folder in " + parent.string());
  std::shared_ptr<Unpacking> made(new Unpacking(folder, executor));
  if (::mkdir(made->Inside().c_str(), 0700) != 0)
    return base::FromErrno(errno, "making a folder in " + folder);
  return made;
}

Status Unpacking::StartTar() {
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
  base::Spawn(executor_, scope_, Write());
  return base::Ok();
}

Unpacking::~Unpacking() {
  tar_.reset();
  static_cast<void>(TameAll(Inside()));
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

Result<std::optional<std::string>> Unpacking::NextInput() {
  return std::optional<std::string>(std::string());
}

Result<bool> Unpacking::MayRead() {
  if (broken_) {
    return base::Error{.code = base::Code::kFailedPrecondition,
                       .message = "tar cannot unpack what the host sends"};
  }
  if (!tar_) JM_TRY(StartTar());
  return queue_.size() < kQueue;
}

void Unpacking::Take(std::string_view bytes) {
  queue_.append(bytes);
  changed_.WakeAll();
}

Task<void> Unpacking::Write() {
  std::error_code failed;
  while (!failed) {
    while (queue_.empty() && !all_taken_) co_await changed_.Wait();
    if (queue_.empty()) break;
    const std::string piece = std::exchange(queue_, {});
    Wake();
    co_await asio::async_write(to_tar_, asio::buffer(piece),
                               asio::redirect_error(asio::use_awaitable, failed));
    co_await base::EndIfCancelled();
  }
  broken_ = static_cast<bool>(failed);
  written_ = true;
  to_tar_.close(failed);
  Wake();
  changed_.WakeAll();
}

void Unpacking::End() {
  all_taken_ = true;
  changed_.WakeAll();
}

Task<Status> Unpacking::Finish() {
  End();
  if (!tar_) co_return base::Internal("nothing was unpacked");
  while (!written_) co_await changed_.Wait();
  const int code = co_await tar_->End();
  if (code != 0) co_return CopyError(tar_->said(), code).With("unpacking what it sent");
  co_return base::Ok();
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
