#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace jobman::ui {

/// What is odd about a stream that a host writes, found while it passes by in pieces cut anywhere.
/// Takes a kilobyte or two, however long it is.
class OddOutput {
 public:
  void Add(std::string_view piece);
  /// "No space left on device", if its end says that, or a quota: why a command may have failed.
  std::string FullDisk() const;
  /// For a row about the host: "binary data", "a line of over 1 MB". Empty if nothing is odd.
  std::string Words() const;

 private:
  void Measure(std::string_view piece);
  void KeepEnd(std::string_view piece);

  bool binary_ = false;
  std::size_t line_ = 0;  ///< bytes since the last line break
  std::size_t longest_ = 0;
  std::string end_ = {};
};

}  // namespace jobman::ui
