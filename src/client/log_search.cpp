#include "jobman/client/log_search.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "jobman/base/capped_file.hpp"

namespace jobman::client {
namespace {

/// Read at once: at first little, as what is looked for is mostly near the end, then more and more.
constexpr std::int64_t kFirstRead = std::int64_t{64} << 10;
/// A line that is longer than this counts as several.
constexpr std::int64_t kMostRead = std::int64_t{2} << 20;

/// A search from the end of a file to its beginning.
struct BackSearch {
  int fd = -1;
  std::int64_t left = 0;  ///< lines to be found yet
  const LineTest& fits;
  std::int64_t first = 0;  ///< where the first of those begins that were found
  std::int64_t read = kFirstRead;
};

/// As much as can be read of the bytes from `from` to before `end`.
std::string ReadBlock(int fd, std::int64_t from, std::int64_t end) {
  std::string block(static_cast<std::size_t>(end - from), '\0');
  const ssize_t got = ::pread(fd, block.data(), block.size(), from);
  block.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return block;
}

/// Where the last line of the text begins, given without its end.
std::size_t LastLineIn(std::string_view text) {
  const void* const before = ::memrchr(text.data(), '\n', text.size());
  if (before == nullptr) return 0;
  return static_cast<std::size_t>(static_cast<const char*>(before) - text.data()) + 1;
}

/// Looks for the lines in a text that begins at `place`.
void SearchText(BackSearch& search, std::string_view text, std::int64_t place) {
  while (!text.empty() && search.left > 0) {
    std::string_view line = text;
    if (line.ends_with('\n')) line.remove_suffix(1);
    const std::size_t begin = LastLineIn(line);
    if (search.fits(line.substr(begin))) {
      search.first = place + static_cast<std::int64_t>(begin);
      --search.left;
    }
    text = text.substr(0, begin);
  }
}

/// The same in the bytes from `begin`, where a line begins, to before `end`.
void SearchPart(BackSearch& search, std::int64_t begin, std::int64_t end) {
  while (end > begin && search.left > 0) {
    const std::int64_t from = std::max(begin, end - search.read);
    const std::string block = ReadBlock(search.fd, from, end);
    // A line that begins before the block is left for the next one.
    std::size_t skipped = from == begin ? 0 : block.find('\n') + 1;
    const bool fills = from != begin && (skipped == 0 || skipped == block.size());
    const bool grows = search.read < kMostRead;
    search.read = std::min(2 * search.read, kMostRead);
    if (fills && grows) continue;
    if (fills) skipped = 0;
    const std::int64_t place = from + static_cast<std::int64_t>(skipped);
    SearchText(search, std::string_view(block).substr(skipped), place);
    end = place;
  }
}

/// Where the file's last line begins if it is not finished, else the end. `from` for a long line.
std::int64_t UnfinishedFrom(int fd, std::int64_t from, std::int64_t size) {
  const std::int64_t begin = std::max(from, size - kFirstRead);
  const std::size_t line = LastLineIn(ReadBlock(fd, begin, size));
  return line == 0 ? from : begin + static_cast<std::int64_t>(line);
}

}  // namespace

std::int64_t LastFittingFrom(const base::Path& path, std::int64_t lines, std::int64_t from,
                             const LineTest& fits) {
  const std::int64_t size = base::FileSize(path).value_or(0);
  const base::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd || lines <= 0 || from >= size) return size;
  BackSearch search{.fd = fd.get(), .left = lines, .fits = fits};
  search.first = UnfinishedFrom(fd.get(), from, size);  // the rest of it may come
  const auto gap = base::ReadGap(path);
  SearchPart(search, gap ? std::max(from, gap->end) : from, size);
  if (gap) SearchPart(search, from, std::min(gap->begin, size));
  return search.first;
}

}  // namespace jobman::client
