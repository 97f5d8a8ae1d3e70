#include "jobman/base/spill.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

namespace jobman::base {
namespace {

constexpr std::size_t kPending = std::size_t{16} << 10U;
constexpr std::int64_t kPiece = std::int64_t{64} << 10U;

/// For file systems without O_TMPFILE, such as NFS.
UniqueFd OpenUnlinked(const Path& folder) {
  std::string name = (folder / ".spill.XXXXXX").string();
  UniqueFd fd(::mkostemp(name.data(), O_CLOEXEC));
  if (fd) ::unlink(name.c_str());
  return fd;
}

}  // namespace

Result<Spill> Spill::Open(const Path& folder) {
  UniqueFd fd(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!fd) fd = OpenUnlinked(folder);
  if (!fd) return FromErrno(errno, "creating a temporary file in " + folder.string());
  return Spill(std::move(fd), folder);
}

Status Spill::Append(int writer, std::string_view bytes) {
  Written& written = written_[writer];
  written.pending.append(bytes);
  return written.pending.size() < kPending ? Ok() : Flush(written);
}

Status Spill::Flush(Written& written) {
  std::string_view left = written.pending;
  while (!left.empty()) {
    const ssize_t count = ::pwrite(fd_.get(), left.data(), left.size(), end_);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return FromErrno(errno, "writing a temporary file in " + folder_.string());
    const bool goes_on = !written.extents.empty() &&
                         written.extents.back().offset + written.extents.back().size == end_;
    if (!goes_on) written.extents.push_back({.offset = end_});
    written.extents.back().size += count;
    end_ += count;
    left.remove_prefix(static_cast<std::size_t>(count));
  }
  written.pending.clear();
  return Ok();
}

Status Spill::Read(int writer, const std::function<Status(std::string_view)>& take) const {
  const auto found = written_.find(writer);
  if (found == written_.end()) return Ok();
  for (const Extent& extent : found->second.extents) JM_TRY(ReadExtent(extent, take));
  return found->second.pending.empty() ? Ok() : take(found->second.pending);
}

Status Spill::ReadExtent(Extent extent, const std::function<Status(std::string_view)>& take) const {
  std::string piece(static_cast<std::size_t>(std::min(kPiece, extent.size)), '\0');
  while (extent.size > 0) {
    const auto wanted = static_cast<std::size_t>(std::min(kPiece, extent.size));
    const ssize_t count = ::pread(fd_.get(), piece.data(), wanted, extent.offset);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return FromErrno(errno, "reading a temporary file in " + folder_.string());
    if (count == 0) return Internal("a temporary file in " + folder_.string() + " became shorter");
    JM_TRY(take(std::string_view(piece).substr(0, static_cast<std::size_t>(count))));
    extent.offset += count;
    extent.size -= count;
  }
  return Ok();
}

}  // namespace jobman::base
