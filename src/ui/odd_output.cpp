#include "jobman/ui/odd_output.hpp"

#include <algorithm>
#include <array>

namespace jobman::ui {
namespace {

/// More than a progress bar or a row of a table.
constexpr std::size_t kLongLine = std::size_t{1} << 20;
/// Where a command says why it failed.
constexpr std::size_t kEnd = 512;

/// ENOSPC and EDQUOT in the words of strerror(3).
constexpr std::array<std::string_view, 2> kDiskIsFull = {"No space left on device",
                                                         "Disk quota exceeded"};

}  // namespace

void OddOutput::Add(std::string_view piece) {
  // As git and grep tell: no text has such a byte.
  binary_ = binary_ || piece.find('\0') != std::string_view::npos;
  Measure(piece);
  KeepEnd(piece);
}

/// Lines within one piece are no long ones.
void OddOutput::Measure(std::string_view piece) {
  const char ends = piece.find('\n') != std::string_view::npos ? '\n' : '\r';
  const std::size_t first = piece.find(ends);
  line_ += std::min(first, piece.size());
  longest_ = std::max(longest_, line_);
  if (first != std::string_view::npos) line_ = piece.size() - 1 - piece.rfind(ends);
}

void OddOutput::KeepEnd(std::string_view piece) {
  if (piece.size() >= kEnd) end_.clear();
  end_ += piece.substr(piece.size() - std::min(piece.size(), kEnd));
  if (end_.size() > kEnd) end_.erase(0, end_.size() - kEnd);
}

std::string OddOutput::FullDisk() const {
  for (const std::string_view words : kDiskIsFull)
    if (end_.find(words) != std::string::npos) return std::string(words);
  return {};
}

/// Without the length, by which a thousand hosts would have as many rows.
std::string OddOutput::Words() const {
  if (binary_) return "binary data";
  return longest_ > kLongLine ? "a line of over 1 MB" : "";
}

}  // namespace jobman::ui
