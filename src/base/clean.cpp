#include "jobman/base/clean.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace jobman::base {

Utf8Char FirstChar(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = byte(0);
  if (first < 0x80) return {first, 1};
  const std::size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < size) return {};
  char32_t code = first & (0xFFu >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3Fu);
  }
  constexpr std::array<char32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kLeast[size] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return {};
  return {code, size};
}

bool IsControl(char32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x61C || code == 0x200E ||
         code == 0x200F || (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

std::size_t PlainLength(std::string_view text) {
  const auto odd = std::find_if_not(text.begin(), text.end(), [](char c) {
    return (c >= 0x20 && c < 0x7F) || c == '\n' || c == '\t';
  });
  return static_cast<std::size_t>(odd - text.begin());
}

bool IsPrintableAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7F; });
}

std::string CleanLine(std::string_view text) {
  if (IsPrintableAscii(text)) return std::string(text);
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const auto [code, size] = FirstChar(text);
    if (code == '\n' || code == '\t' || code == '\r') {
      clean += ' ';
    } else if (code == Utf8Char::kInvalid || IsControl(code)) {
      clean += '?';
    } else {
      clean.append(text.substr(0, size));
    }
    text.remove_prefix(size);
  }
  return clean;
}

}  // namespace jobman::base
