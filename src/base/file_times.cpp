#include "jobman/base/file_times.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "jobman/base/log.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::base {
namespace {

using Entries = std::vector<FileTimes::Entry>;
using std::chrono::seconds;

/// Longer than any record of kMost entries.
constexpr std::int64_t kLongestTimes = std::int64_t{1} << 20;
/// Who follows a file needs no more than its last minutes.
constexpr std::int64_t kLatestTimes = 4096;
/// In the year 5138; a number beyond is no time.
constexpr std::int64_t kLastSecond = 99'999'999'999;

std::string TimesPath(const Path& path) {
  return path.string() + ".times";
}

TimePoint WholeSecond(TimePoint time) {
  return std::chrono::floor<seconds>(time);
}

/// The last `most` bytes of the file, from the beginning of a line on.
std::string ReadEnd(const Path& path, std::int64_t most) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  const std::int64_t size = in ? std::int64_t{in.tellg()} : 0;
  if (size <= 0) return {};
  in.seekg(std::max<std::int64_t>(0, size - most));
  std::string text(static_cast<std::size_t>(std::min(size, most)), '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (size > most) text.erase(0, std::min(text.find('\n'), text.size() - 1) + 1);
  return text;
}

std::optional<FileTimes::Entry> ReadEntry(const std::string& line) {
  const auto words = Split(line, ' ');
  if (words.size() != 2) return std::nullopt;
  const auto offset = ParseNumber(words[0]);
  const auto second = ParseNumber(words[1]);
  if (!offset || !second || *second > kLastSecond) return std::nullopt;
  return FileTimes::Entry{.offset = *offset, .at = TimePoint{seconds{*second}}};
}

/// A line that is not complete may be a part of one.
std::string_view WholeLines(std::string_view text) {
  return text.substr(0, text.rfind('\n') + 1);
}

/// Whether the last entry is too large, rather than the new one too small: a crash may have joined
/// the beginning of one line to the end of another.
bool IsPeak(const Entries& entries, std::int64_t offset) {
  const std::int64_t before = entries.size() > 1 ? entries[entries.size() - 2].offset : 0;
  return !entries.empty() && entries.back().offset > offset && before <= offset;
}

Entries Parse(std::string_view text) {
  Entries entries;
  for (const std::string& line : Split(WholeLines(text), '\n')) {
    const auto entry = ReadEntry(line);
    if (!entry) continue;
    if (IsPeak(entries, entry->offset)) entries.pop_back();
    const bool later = entries.empty() || entry->offset >= entries.back().offset;
    if (later) entries.push_back(*entry);
  }
  return entries;
}

/// What the file itself says, if all its bytes came in one second. One with a record that says
/// nothing has come in more.
std::optional<FileTimes::Entry> Unrecorded(const Path& path) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0 || FileSize(TimesPath(path))) return std::nullopt;
  if (info.st_size == 0 || info.st_size > FileTimes::kMostUnrecorded) return std::nullopt;
  return FileTimes::Entry{.offset = 0, .at = TimePoint{seconds{info.st_mtim.tv_sec}}};
}

std::string LineOf(const FileTimes::Entry& entry) {
  const auto second = std::chrono::floor<seconds>(entry.at.time_since_epoch());
  return fmt::format("{} {}\n", entry.offset, second.count());
}

Entries Thinned(const Entries& entries) {
  const std::size_t half = entries.size() / 4 * 2;  // an even number
  Entries left;
  for (std::size_t i = 0; i < half; i += 2) {
    const TimePoint later = std::max(entries[i].at, entries[i + 1].at);
    left.push_back({.offset = entries[i].offset, .at = later});
  }
  left.insert(left.end(), entries.begin() + static_cast<std::ptrdiff_t>(half), entries.end());
  return left;
}

/// The first entry whose bytes begin after the one at `offset`.
auto After(const Entries& entries, std::int64_t offset) {
  return std::upper_bound(
      entries.begin(), entries.end(), offset,
      [](std::int64_t at, const FileTimes::Entry& entry) { return at < entry.offset; });
}

/// Writes `bytes` at `begin`; the file ends with them. Needs no more disk than they do, and what a
/// crash leaves are whole lines, a part of one, and lines that Parse() passes over as too early.
Status WriteEnd(const Path& path, std::int64_t begin, std::string_view bytes) {
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  if (!fd) return FromErrno(errno, "opening " + path.string());
  const ssize_t count = ::pwrite(fd.get(), bytes.data(), bytes.size(), begin);
  if (count < 0) return FromErrno(errno, "writing " + path.string());
  if (count < std::ssize(bytes)) return FromErrno(ENOSPC, "writing " + path.string());
  if (::ftruncate(fd.get(), begin + count) != 0)
    return FromErrno(errno, "shortening " + path.string());
  return Ok();
}

}  // namespace

FileTimes FileTimes::Read(const Path& path, std::int64_t from) {
  FileTimes times;
  // First: a record is written before the bytes that need it.
  const auto unrecorded = Unrecorded(path);
  times.entries_ = Parse(ReadEnd(TimesPath(path), kLatestTimes));
  const bool reaches_back = !times.empty() && times.entries_.front().offset <= from;
  if (!reaches_back) times.entries_ = Parse(ReadEnd(TimesPath(path), kLongestTimes));
  if (times.empty() && unrecorded) times.entries_.push_back(*unrecorded);
  return times;
}

std::optional<TimePoint> FileTimes::At(std::int64_t offset) const {
  const auto next = After(entries_, offset);
  return next == entries_.begin() ? std::nullopt : std::optional(std::prev(next)->at);
}

std::int64_t FileTimes::EndOf(std::int64_t offset) const {
  const auto next = After(entries_, offset);
  return next == entries_.end() ? kNoEnd : next->offset;
}

std::optional<std::int64_t> FileTimes::FirstSince(TimePoint time) const {
  const TimePoint second = WholeSecond(time);
  const auto first = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.at >= second; });
  if (first == entries_.end()) return std::nullopt;
  // Of what came before the record began nothing is known.
  return first == entries_.begin() ? 0 : first->offset;
}

FileTimesWriter::FileTimesWriter(const Path& path) : path_(path.string()) {}

void FileTimesWriter::Record(std::int64_t offset, TimePoint now, std::int64_t more) {
  const TimePoint second = WholeSecond(now);
  const std::int64_t from = unrecorded_.value_or(offset);
  Status added = begun_ ? Ok() : Begin(from);
  // Unequal also when the clock was set back.
  if (added.ok() && second == last_ && !held_) return;
  if (added.ok() && Hold({.offset = from, .at = second}, offset - from + more)) {
    unrecorded_.reset();
    return;
  }
  if (added.ok()) added = Add({.offset = from, .at = second});
  unrecorded_ = added.ok() ? std::nullopt : std::optional(from);
  if (!added.ok() && !std::exchange(failed_, true)) {
    Log(LogLevel::kWarn, "logs", "when output came is not recorded: {}", added.error().ToString());
  }
}

/// After a loss of power the file may be shorter than its record says.
Status FileTimesWriter::Begin(std::int64_t offset) {
  const std::string text = ReadEnd(TimesPath(path_), kLongestTimes);
  Entries entries = Parse(text);
  const auto beyond = std::find_if(entries.begin(), entries.end(),
                                   [&](const auto& entry) { return entry.offset > offset; });
  if (beyond != entries.end()) {
    entries.erase(beyond, entries.end());
    JM_TRY(Rewrite(entries));
  } else if (!entries.empty()) {
    size_ = std::ssize(WholeLines(text));
    count_ = entries.size();
    last_ = entries.back().at;
  }
  // Another writer may have held its entry.
  if (count_ == 0 && offset > 0) held_ = Unrecorded(path_);
  begun_ = true;
  return Ok();
}

/// Whether the entry need not be written yet.
bool FileTimesWriter::Hold(const FileTimes::Entry& entry, std::int64_t more) {
  if (count_ == 0 && !held_ && entry.offset == 0) held_ = entry;
  return held_ && held_->at == entry.at && entry.offset + more <= FileTimes::kMostUnrecorded;
}

Status FileTimesWriter::Add(const FileTimes::Entry& entry) {
  if (count_ >= kMost) JM_TRY(Rewrite(Thinned(Parse(ReadEnd(TimesPath(path_), kLongestTimes)))));
  std::string lines = held_ ? LineOf(*held_) : std::string();
  if (!held_ || held_->at != entry.at) lines += LineOf(entry);
  JM_TRY(WriteEnd(TimesPath(path_), size_, lines));
  size_ += std::ssize(lines);
  count_ += static_cast<std::size_t>(std::count(lines.begin(), lines.end(), '\n'));
  held_.reset();
  last_ = entry.at;
  return Ok();
}

Status FileTimesWriter::Rewrite(const Entries& entries) {
  std::string text;
  for (const FileTimes::Entry& entry : entries) text += LineOf(entry);
  JM_TRY(WriteEnd(TimesPath(path_), 0, text));
  size_ = std::ssize(text);
  count_ = entries.size();
  last_ = entries.empty() ? std::nullopt : std::optional(entries.back().at);
  return Ok();
}

}  // namespace jobman::base
