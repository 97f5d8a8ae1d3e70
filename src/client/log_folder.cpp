#include "jobman/client/log_folder.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

namespace jobman::client {
namespace {

/// Longer than a tick of any file system's clock, even if looks follow each other at once.
constexpr int kSureAfter = 20;
/// Then each so many looks it is read in any case.
constexpr int kReadAgain = 50;
/// Looks that may believe the watch, one after the other: more than a second of them.
constexpr int kWatched = 24;
/// Fewer logs are looked at as fast.
constexpr std::size_t kWatchFrom = 16;

std::optional<std::filesystem::file_time_type> ChangedAt(const base::Path& folder) {
  std::error_code failed;
  const auto time = std::filesystem::last_write_time(folder, failed);
  return failed ? std::nullopt : std::optional(time);
}

}  // namespace

bool LogFolder::MayHaveChanged(const base::Path& folder, Look look) {
  auto names = watch_ ? watch_->Changed() : std::nullopt;
  if (!names || !look.watched) watch_.reset();
  if (!watch_ && look.watched && logs_.size() >= kWatchFrom) watch_.emplace(folder);
  const bool believed = names && watch_ && !look.sure && watched_looks_ < kWatched;
  if (believed) {
    ++watched_looks_;
    return TakeChanged(*names);
  }
  for (LogPlace& log : logs_) log.may_have_grown = true;
  return TimeMayHaveChanged(folder, std::exchange(watched_looks_, 0) + 1) || look.sure;
}

/// Whether there is a new log. Beside each are files about it, which change with it.
bool LogFolder::TakeChanged(const base::FolderWatch::Names& names) {
  if (!names.written.empty() || !names.made.empty()) {
    for (LogPlace& log : logs_) {
      const std::string name = log.file.path.filename().native();
      log.may_have_grown |= names.written.contains(name) || names.made.contains(name);
    }
  }
  return std::any_of(names.made.begin(), names.made.end(), [](const std::string& name) {
    return base::StatePaths::HostOfLog(name).has_value();
  });
}

/// A look at the time of the folder, after so many at something else. That time is coarse, so it is
/// believed only once it has been the same for a while; and never for long, since a file server may
/// keep an old one.
bool LogFolder::TimeMayHaveChanged(const base::Path& folder, int looks) {
  const auto now = ChangedAt(folder);
  const bool same = now && now == std::exchange(changed_at_, now);
  looks_ = same ? looks_ + looks : 0;
  unread_looks_ += looks;
  const bool due = looks_ < kSureAfter || unread_looks_ >= kReadAgain;
  if (due) unread_looks_ = 0;
  return due;
}

void LogFolder::Add(const std::vector<LogFile>& present,
                    const std::function<std::int64_t(const base::Path& path)>& begin_at) {
  std::size_t at = 0;
  for (const LogFile& file : present) {
    while (at < logs_.size() && logs_[at].file.host < file.host) ++at;
    if (at < logs_.size() && logs_[at].file.host == file.host) continue;
    logs_.insert(logs_.begin() + static_cast<std::ptrdiff_t>(at),
                 {.file = file, .offset = begin_at(file.path)});
  }
}

}  // namespace jobman::client
