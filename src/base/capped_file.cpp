#include "jobman/base/capped_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "jobman/base/log.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::base {
namespace {

constexpr std::size_t kLongestRecord = 64;

Path GapPath(const Path& path) {
  return path.string() + ".gap";
}

/// Gives [begin, end) back to the file system. Nothing where it has no holes.
Result<bool> Punch(const Path& path, FileGap gap) {
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!fd) return FromErrno(errno, "opening " + path.string());
  const int mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
  if (::fallocate(fd.get(), mode, gap.begin, gap.end - gap.begin) == 0) return true;
  if (errno == EOPNOTSUPP || errno == ENOSYS) return false;
  return FromErrno(errno, "giving back a part of " + path.string());
}

/// An empty gap reads as none.
Status RecordGap(const Path& path, FileGap gap) {
  return WriteFileAtomic(GapPath(path), fmt::format("{} {}\n", gap.begin, gap.end));
}

}  // namespace

std::optional<FileGap> ReadGap(const Path& path) {
  const auto text = ReadFile(GapPath(path), kLongestRecord);
  if (!text.ok()) return std::nullopt;
  const auto words = Split(Trim(*text), ' ');
  if (words.size() != 2) return std::nullopt;
  const auto begin = ParseNumber(words[0]);
  const auto end = ParseNumber(words[1]);
  if (!begin || !end || *begin >= *end) return std::nullopt;
  return FileGap{.begin = *begin, .end = *end};
}

CappedFile::CappedFile(AppendFile file, std::int64_t most)
    : file_(std::move(file)), half_(most / 2), least_(half_ - half_ / 4) {
  gap_ = FileGap{.begin = half_, .end = half_};
  if (file_.size() > 0) gap_ = ReadGap(file_.path()).value_or(gap_);
}

Result<CappedFile> CappedFile::Open(const Path& path, std::int64_t most) {
  JM_ASSIGN_OR_RETURN(AppendFile file, AppendFile::Open(path));
  return CappedFile(std::move(file), most);
}

Status CappedFile::Append(std::string_view bytes) {
  // In pieces, and first makes room for each: the limit holds at any moment.
  while (!bytes.empty()) {
    const auto piece =
        bytes.substr(0, static_cast<std::size_t>(std::max<std::int64_t>(half_ / 4, 1)));
    const std::int64_t end = size() + static_cast<std::int64_t>(piece.size());
    if (holes_ && end - gap_.end > half_) JM_TRY(Drop(end - least_));
    JM_TRY(file_.Append(piece));
    bytes.remove_prefix(piece.size());
  }
  return Ok();
}

Status CappedFile::Skip(FileGap lost) {
  const bool first = gap_.begin == gap_.end;
  const FileGap wider{.begin = std::min(gap_.begin, lost.begin),
                      .end = first ? lost.end : std::max(gap_.end, lost.end)};
  JM_TRY(RecordGap(file_.path(), wider));
  JM_TRY(file_.Extend(wider.end));
  gap_ = wider;
  JM_ASSIGN_OR_RETURN(holes_, Punch(file_.path(), wider));
  return Ok();
}

Status CappedFile::Drop(std::int64_t end) {
  const FileGap wider{.begin = gap_.begin, .end = end};
  // On record first: a reader never takes the zeros of a hole for the log.
  JM_TRY(RecordGap(file_.path(), wider));
  const auto punched = Punch(file_.path(), wider);
  if (!punched.ok() || !*punched) JM_TRY(RecordGap(file_.path(), gap_));
  JM_ASSIGN_OR_RETURN(holes_, punched);
  if (!holes_) {
    Log(LogLevel::kWarn, "logs", "{} grows past its limit: {}", file_.path(),
        "its file system cannot give a part of a file back");
    return Ok();
  }
  gap_ = wider;
  return Ok();
}

}  // namespace jobman::base
