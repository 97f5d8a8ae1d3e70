#include "jobman/client/log_folder.hpp"

#include <system_error>
#include <utility>

namespace jobman::client {
namespace {

/// Longer than a tick of any file system's clock, even if looks follow each other at once.
constexpr int kSureAfter = 20;
/// Then each so many looks it is read in any case.
constexpr int kReadAgain = 50;
/// Looks that may believe the watch, one after the other: a second of them.
constexpr int kWatched = 10;

std::optional<std::filesystem::file_time_type> ChangedAt(const base::Path& folder) {
  std::error_code failed;
  const auto time = std::filesystem::last_write_time(folder, failed);
  return failed ? std::nullopt : std::optional(time);
}

}  // namespace

bool LogFolder::MayHaveChanged(const base::Path& folder, bool sure) {
  auto names = watch_ ? watch_->Changed() : std::nullopt;
  if (!names) watch_.reset();
  if (!watch_ && ChangedAt(folder)) watch_.emplace(folder);  // sees what comes after this look
  const bool believed = names && !sure && ++watched_looks_ <= kWatched;
  if (believed) return TakeChanged(std::move(*names));
  watched_looks_ = 0;
  for (LogPlace& log : logs_) log.may_have_grown = true;
  return TimeMayHaveChanged(folder) || sure;
}

/// Whether a file has changed that is none of the logs.
bool LogFolder::TakeChanged(std::set<std::string> names) {
  if (names.empty()) return false;
  for (LogPlace& log : logs_)
    if (names.erase(log.file.path.filename().native()) > 0) log.may_have_grown = true;
  return !names.empty();
}

/// A look at the time of the folder. That is coarse, so it is believed only once it has been the
/// same for a while; and never for long, since a file server may keep an old one.
bool LogFolder::TimeMayHaveChanged(const base::Path& folder) {
  const auto now = ChangedAt(folder);
  const bool same = now && now == std::exchange(changed_at_, now);
  looks_ = same ? looks_ + 1 : 0;
  return looks_ < kSureAfter || looks_ % kReadAgain == 0;
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
