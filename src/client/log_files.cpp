#include "jobman/client/log_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "jobman/base/capped_file.hpp"

namespace jobman::client {
namespace {

constexpr std::size_t kPiece = std::size_t{256} * 1024;

// In place of what the log has lost.
std::string GapNote(std::int64_t bytes) {
  return fmt::format("\njobman: {} bytes of this log are gone: it is longer than logs.max_bytes\n",
                     bytes);
}

// The names in a folder; empty if it does not exist.
std::vector<std::string> Names(const base::Path& folder) {
  std::vector<std::string> names;
  std::error_code failed;
  for (std::filesystem::directory_iterator at(folder, failed), end; !failed && at != end;
       at.increment(failed))
    names.push_back(at->path().filename().string());
  return names;
}

}  // namespace

std::vector<int> LogAttempts(const base::StatePaths& paths, core::JobId job) {
  std::vector<int> attempts;
  for (const std::string& name : Names(paths.JobDir(job.value)))
    if (const auto number = base::StatePaths::AttemptOfDir(name)) attempts.push_back(*number);
  std::sort(attempts.begin(), attempts.end());
  return attempts;
}

std::vector<LogStage> LogStages(const base::StatePaths& paths, core::JobId job, int attempt) {
  std::vector<LogStage> stages;
  for (std::string& name : Names(paths.AttemptDir(job.value, attempt)))
    stages.push_back({.attempt = attempt, .name = std::move(name)});
  std::sort(stages.begin(), stages.end(),
            [](const LogStage& a, const LogStage& b) { return core::RunsBefore(a.name, b.name); });
  return stages;
}

std::vector<LogFile> LogFiles(const base::StatePaths& paths, core::JobId job,
                              const LogStage& stage) {
  std::vector<LogFile> files;
  const base::Path folder = paths.AttemptDir(job.value, stage.attempt) / stage.name;
  for (const std::string& name : Names(folder))
    if (const auto host = base::StatePaths::HostOfLog(name))
      files.push_back({.host = *host, .path = folder / name});
  std::sort(files.begin(), files.end(),
            [](const LogFile& a, const LogFile& b) { return a.host < b.host; });
  return files;
}

int HostCount(const base::StatePaths& paths, const core::Job& job, const LogStage& stage) {
  int count = 1;
  if (job.slice) count = std::max(count, static_cast<int>(job.slice->hosts.size()));
  if (job.stage)
    for (const core::HostRun& run : job.stage->hosts) count = std::max(count, run.host + 1);
  for (const LogFile& file : LogFiles(paths, job.id, stage)) count = std::max(count, file.host + 1);
  return count;
}

base::Result<std::int64_t> ReadLog(const base::Path& path, std::int64_t offset,
                                   const std::function<bool(std::string_view)>& take) {
  return ReadPlacedLog(path, offset, [&take](auto, std::string_view bytes) { return take(bytes); });
}

base::Result<std::int64_t> ReadPlacedLog(
    const base::Path& path, std::int64_t offset,
    const std::function<bool(std::optional<std::int64_t> place, std::string_view bytes)>& take,
    std::int64_t most) {
  const base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) {
    if (errno == ENOENT) return offset;
    return base::FromErrno(errno, "reading " + path.string());
  }
  // Not filled with zeros: a thousand hosts with a line each come here ten times a second.
  const auto piece = std::make_unique_for_overwrite<char[]>(kPiece);
  const std::int64_t end = offset > kWholeLog - most ? kWholeLog : offset + most;
  while (offset < end) {
    const auto wanted = std::min<std::int64_t>(static_cast<std::int64_t>(kPiece), end - offset);
    ssize_t got = ::pread(fd.get(), piece.get(), static_cast<std::size_t>(wanted), offset);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return base::FromErrno(errno, "reading " + path.string());
    if (got == 0) return offset;
    // Looked up after the read: a gap may have grown over the piece meanwhile.
    const auto gap = base::ReadGap(path);
    const bool within = gap && offset < gap->end;
    if (within && offset >= gap->begin) {
      const std::string note = GapNote(gap->end - offset);
      offset = gap->end;
      if (!take(std::nullopt, note)) return offset;
      continue;
    }
    if (within) got = std::min<ssize_t>(got, gap->begin - offset);
    const std::int64_t place = std::exchange(offset, offset + got);
    if (!take(place, std::string_view(piece.get(), static_cast<std::size_t>(got)))) return offset;
  }
  return offset;
}

std::int64_t LastLinesFrom(const base::Path& path, std::int64_t lines) {
  constexpr std::int64_t kMostBack = std::int64_t{16} << 20;
  const std::int64_t size = base::FileSize(path).value_or(0);
  const base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd || lines <= 0) return size;
  std::string piece(kPiece, '\0');
  std::int64_t left = lines;
  std::int64_t end = size;
  while (end > std::max<std::int64_t>(0, size - kMostBack)) {
    const std::int64_t from = std::max<std::int64_t>(0, end - static_cast<std::int64_t>(kPiece));
    const ssize_t got = ::pread(fd.get(), piece.data(), static_cast<std::size_t>(end - from), from);
    if (got <= 0) return size;
    for (std::int64_t at = got; at-- > 0;) {
      const bool ends_file = from + at + 1 == size;  // the last line's own end
      if (piece[static_cast<std::size_t>(at)] != '\n' || ends_file) continue;
      if (--left == 0) return from + at + 1;
    }
    end = from;
  }
  return end;
}

}  // namespace jobman::client
