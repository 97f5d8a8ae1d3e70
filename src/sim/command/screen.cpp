#include "sim/command/screen.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "jobman/base/strings.hpp"

namespace jobman::sim {

namespace {

/// Where a line goes on that has no key.
constexpr std::size_t kFurtherIn = 4;
/// A text needs so many columns beside its key.
constexpr std::size_t kLeastBeside = 30;

std::string Blanks(std::size_t count) {
  return std::string(count, ' ');
}

/// Breaks the line at blanks, none of them before column `begin`, where its text begins. It goes on
/// in column `indent`.
std::string Break(std::string line, std::size_t begin, std::size_t indent, std::size_t columns) {
  std::string broken;
  while (line.size() > columns) {
    std::size_t cut = line.rfind(' ', columns);
    if (cut == std::string::npos || cut <= begin) cut = line.find(' ', std::max(begin, columns));
    const std::size_t next = line.find_first_not_of(' ', cut);
    if (cut == std::string::npos || next == std::string::npos) break;
    broken += line.substr(0, line.find_last_not_of(' ', cut) + 1) + "\n";
    line = Blanks(indent) + line.substr(next);
    begin = indent;
  }
  return broken + line;
}

std::string FitLine(const std::string& line, std::size_t columns) {
  if (line.size() <= columns) return line;
  const std::size_t key = std::min(line.find_first_not_of(' '), line.size());
  const std::size_t gap = line.find("  ", key);
  const std::size_t text = line.find_first_not_of(' ', gap);
  if (gap == std::string::npos || text == std::string::npos)
    return Break(line, key, key == 0 ? kFurtherIn : key, columns);
  if (text + kLeastBeside <= columns) return Break(line, text, text, columns);
  const std::size_t below = key + kFurtherIn;
  return line.substr(0, gap) + "\n" +
         Break(Blanks(below) + line.substr(text), below, below, columns);
}

}  // namespace

int ColumnsOf(int fd) {
  winsize size{};
  if (isatty(fd) == 0 || ioctl(fd, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

std::string FitLines(std::string_view text, int columns) {
  if (columns <= 0) return std::string(text);
  std::vector<std::string> lines = base::Split(text, '\n');
  for (std::string& line : lines) line = FitLine(line, static_cast<std::size_t>(columns));
  return base::Join(lines, "\n");
}

}  // namespace jobman::sim
