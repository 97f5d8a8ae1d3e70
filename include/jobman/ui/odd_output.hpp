#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace jobman::ui {

/// What is odd about a host's output, found while it passes by in pieces cut anywhere. Takes some
/// hundred bytes, however much that is.
class OddOutput {
 public:
  void Add(std::string_view piece);
  /// For a row about the host: "binary data", "a line of 100.0 MB"; of a command that `failed`
  /// also an end that names a full disk, "No space left on device". Empty if nothing is odd.
  std::string Words(bool failed) const;

 private:
  void Measure(std::string_view piece);
  void KeepEnd(std::string_view piece);

  bool binary_ = false;
  std::size_t line_ = 0;  ///< bytes since the last line break
  std::size_t longest_ = 0;
  std::string end_ = {};
};

}  // namespace jobman::ui
