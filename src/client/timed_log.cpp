#include "jobman/client/timed_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "jobman/base/file_times.hpp"
#include "jobman/client/log_files.hpp"

namespace jobman::client {
namespace {

/// Further back no beginning of a line is looked for.
constexpr std::int64_t kLongestLineBack = std::int64_t{16} << 10;

/// Where the line begins that has the byte at `offset`.
std::int64_t BeginOfLine(const base::Path& path, std::int64_t offset) {
  const base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const std::int64_t from = std::max<std::int64_t>(0, offset - kLongestLineBack);
  std::string before(static_cast<std::size_t>(offset - from), '\0');
  if (!fd || ::pread(fd.get(), before.data(), before.size(), from) != std::ssize(before)) {
    return offset;
  }
  const std::size_t end = before.find_last_of("\r\n");
  if (end == std::string::npos) return from == 0 ? 0 : offset;
  return from + static_cast<std::int64_t>(end) + 1;
}

std::int64_t BeginSince(const base::Path& path, base::TimePoint since) {
  // Before the times: what comes after this look has come since.
  const std::int64_t size = base::FileSize(path).value_or(0);
  const auto times = base::FileTimes::Read(path);
  if (times.empty()) return 0;
  const auto first = times.FirstSince(since);
  return first && *first < size ? BeginOfLine(path, *first) : size;
}

}  // namespace

base::Result<std::int64_t> ReadPieces(const base::Path& path, std::int64_t offset, bool timed,
                                      const std::function<bool(const LogPiece& piece)>& take,
                                      std::int64_t most) {
  if (!timed) {
    const auto pass = [&take](auto, std::string_view bytes) { return take({.bytes = bytes}); };
    return ReadPlacedLog(path, offset, pass, most);
  }
  std::optional<base::FileTimes> times;
  LogPiece piece;
  const auto pass = [&](auto place, std::string_view bytes) {
    if (!place) return take({.bytes = bytes, .at = piece.at});
    // After the bytes: the time was recorded before they were written. More may have come since the
    // last look at the times.
    if (!times || times->EndOf(*place + std::ssize(bytes) - 1) == base::FileTimes::kNoEnd) {
      times = base::FileTimes::Read(path, *place);
    }
    for (std::int64_t at = *place; !bytes.empty(); at += std::ssize(piece.bytes)) {
      const auto size = std::min(std::ssize(bytes), times->EndOf(at) - at);
      piece = {.bytes = bytes.substr(0, static_cast<std::size_t>(size)), .at = times->At(at)};
      if (!take(piece)) return false;
      bytes.remove_prefix(piece.bytes.size());
    }
    return true;
  };
  return ReadPlacedLog(path, offset, pass, most);
}

std::int64_t BeginOf(const base::Path& path, const LogPart& part) {
  const std::int64_t since = part.since ? BeginSince(path, *part.since) : 0;
  if (!part.tail) return since;
  if (part.fits) return LastFittingFrom(path, *part.tail, since, part.fits);
  return std::max(since, LastLinesFrom(path, *part.tail));
}

bool IsUntimed(const base::Path& path) {
  const std::int64_t size = base::FileSize(path).value_or(0);
  return size > 0 && base::FileTimes::Read(path, size).empty();
}

}  // namespace jobman::client
