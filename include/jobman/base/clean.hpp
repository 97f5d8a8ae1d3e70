#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace jobman::base {

/// What a text from outside (a host, the API, a file name, an error) may not do to a terminal or a
/// log: everything that is shown is cleaned by these rules.

/// The character at the beginning of a text that is not empty. Strict: no overlong forms, no
/// surrogates, nothing above U+10FFFF.
struct Utf8Char {
  static constexpr char32_t kInvalid = 0xFFFFFFFF;
  char32_t code = kInvalid;
  std::size_t size = 1;  ///< in bytes; 1 if it is invalid
};
Utf8Char FirstChar(std::string_view text);

/// Whether the character controls what is shown: C0, DEL, C1, the line separators, and the
/// bidirectional controls, which could make a line read as another one.
bool IsControl(char32_t code);

/// Whether the text is printable ASCII only: the common case, with nothing to clean.
bool IsPrintableAscii(std::string_view text);

/// How many bytes at the beginning are printable ASCII, line feeds or tabs.
std::size_t PlainLength(std::string_view text);

/// One line: line breaks and tabs become spaces, other control characters and invalid UTF-8 '?'.
std::string CleanLine(std::string_view text);

}  // namespace jobman::base
