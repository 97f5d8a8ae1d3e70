#pragma once

#include <string>
#include <string_view>

namespace jobman::ui {

/// Makes a program's output, which arrives in pieces cut anywhere, harmless for a terminal: its
/// letters, tabs and line breaks stay; colours and other escape sequences (CSI) are left out; a
/// carriage return alone becomes a line break, so that no line is overwritten; other control
/// characters and invalid UTF-8 become '?'.
class HostBytes {
 public:
  /// The cleaned text as far as it is certain; the rest comes with the next piece.
  std::string Take(std::string_view piece);

 private:
  std::string begun_ = {};  ///< the beginning of a character or sequence, of some bytes at most
};

}  // namespace jobman::ui
