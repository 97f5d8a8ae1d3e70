#include "jobman/client/log_search.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>

#include "jobman/base/capped_file.hpp"

namespace jobman::client {
namespace {

/// Read at once. A line that is longer counts as several.
constexpr std::int64_t kReadBack = std::int64_t{2} << 20;

/// A search from the end of a file to its beginning.
struct BackSearch {
  int fd = -1;
  std::int64_t left = 0;  ///< lines to be found yet
  const LineTest& fits;
};

/// As much as can be read of the bytes from `from` to before `end`.
std::string ReadBlock(int fd, std::int64_t from, std::int64_t end) {
  std::string block(static_cast<std::size_t>(end - from), '\0');
  const ssize_t got = ::pread(fd, block.data(), block.size(), from);
  block.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return block;
}

/// Where the last line begins that has to be found; nothing if the text has fewer.
std::optional<std::int64_t> SearchText(BackSearch& search, std::string_view text) {
  while (!text.empty()) {
    std::string_view line = text;
    if (line.ends_with('\n')) line.remove_suffix(1);
    const std::size_t begin = line.rfind('\n') + 1;  // 0 if there is none before
    if (search.fits(line.substr(begin)) && --search.left == 0)
      return static_cast<std::int64_t>(begin);
    text = text.substr(0, begin);
  }
  return std::nullopt;
}

/// The same for the bytes from `begin`, where a line begins, to before `end`.
std::optional<std::int64_t> SearchPart(BackSearch& search, std::int64_t begin, std::int64_t end) {
  while (end > begin) {
    const std::int64_t from = std::max(begin, end - kReadBack);
    const std::string block = ReadBlock(search.fd, from, end);
    // A line that begins before the block is left for the next one, unless it fills this one.
    std::size_t first = from == begin ? 0 : block.find('\n') + 1;
    if (first == block.size()) first = 0;
    const std::int64_t place = from + static_cast<std::int64_t>(first);
    const auto found = SearchText(search, std::string_view(block).substr(first));
    if (found) return place + *found;
    end = place;
  }
  return std::nullopt;
}

}  // namespace

std::int64_t LastFittingFrom(const base::Path& path, std::int64_t lines, std::int64_t from,
                             const LineTest& fits) {
  const std::int64_t size = base::FileSize(path).value_or(0);
  const base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd || lines <= 0) return size;
  BackSearch search{.fd = fd.get(), .left = lines, .fits = fits};
  const auto gap = base::ReadGap(path);
  if (!gap) return SearchPart(search, from, size).value_or(from);
  if (const auto found = SearchPart(search, std::max(from, gap->end), size)) return *found;
  return SearchPart(search, from, std::min(gap->begin, size)).value_or(from);
}

}  // namespace jobman::client
