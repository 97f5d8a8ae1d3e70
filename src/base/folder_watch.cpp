#include "jobman/base/folder_watch.hpp"

#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <utility>

namespace jobman::base {
namespace {

constexpr std::uint32_t kFileEvents = IN_CREATE | IN_MODIFY | IN_MOVED_TO;
constexpr std::uint32_t kFolderEvents = IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;
constexpr std::size_t kPiece = std::size_t{16} << 10;
constexpr int kMostPieces = 64;  ///< more than the kernel keeps by default; the rest waits

std::atomic<int> watches = 0;  // of this process

/// Adds the names of the files; false if an event says more than that.
bool TakeNames(const char* events, std::size_t size, FolderWatch::Names& names) {
  bool all_known = true;
  for (std::size_t at = 0; at < size;) {
    inotify_event event = {};
    std::memcpy(&event, events + at, sizeof event);
    std::set<std::string>& to = (event.mask & IN_MODIFY) != 0 ? names.written : names.made;
    if ((event.mask & kFileEvents) != 0 && event.len > 0)
      to.emplace(events + at + sizeof event);
    else
      all_known = false;
    at += sizeof event + event.len;
  }
  return all_known;
}

}  // namespace

FolderWatch::FolderWatch(const Path& folder) {
  if (watches >= kMostOfAProcess) return;
  UniqueFd inotify(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  const bool watched = inotify && ::inotify_add_watch(inotify.get(), folder.c_str(),
                                                      kFileEvents | kFolderEvents) >= 0;
  if (!watched) return;
  inotify_ = std::move(inotify);
  ++watches;
}

FolderWatch::~FolderWatch() {
  if (inotify_) --watches;
}

std::optional<FolderWatch::Names> FolderWatch::Changed() {
  if (!inotify_) return std::nullopt;
  Names names;
  bool all_known = true;
  std::array<char, kPiece> events = {};
  for (int piece = 0; piece < kMostPieces; ++piece) {
    const ssize_t got = ::read(inotify_.get(), events.data(), events.size());
    if (got <= 0) break;  // nothing is left
    all_known &= TakeNames(events.data(), static_cast<std::size_t>(got), names);
  }
  if (!all_known) return std::nullopt;
  return names;
}

}  // namespace jobman::base
