#pragma once

#include <cstddef>
#include <string_view>

namespace jobman::config {

/// Length in bytes of the UTF-8 character at the start of the text; 0 if it is invalid. Overlong
/// forms and surrogates pass: they do no harm here.
inline std::size_t Utf8Length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = lead < 0x80           ? 1
                             : (lead >> 5) == 0x06 ? 2
                             : (lead >> 4) == 0x0E ? 3
                             : (lead >> 3) == 0x1E ? 4
                                                   : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U) return 0;
  }
  return length;
}

/// Whether every byte is part of a character; a NUL is not.
inline bool IsUtf8Text(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = text.front() == '\0' ? 0 : Utf8Length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace jobman::config
