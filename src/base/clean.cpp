#include "jobman/base/clean.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

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

namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);

/// How many bytes at the beginning, in whole words, are printable ASCII. Most texts are nothing
/// else.
std::size_t PrintableWords(std::string_view text) {
  constexpr std::uint64_t kEach = 0x0101010101010101;
  std::size_t length = 0;
  for (; length + kWord <= text.size(); length += kWord) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + length, kWord);
    // The high bit of a byte: set if it is less than 0x20, if it is 0x7F, if it is not ASCII.
    const std::uint64_t odd = (word - kEach * 0x20) | (word + kEach) | word;
    if ((odd & (kEach * 0x80)) != 0) break;
  }
  return length;
}

bool IsPrintableChar(char c) {
  return c >= 0x20 && c < 0x7F;
}

}  // namespace

std::size_t PlainLength(std::string_view text) {
  std::size_t length = 0;
  for (;;) {
    length += PrintableWords(text.substr(length));
    const std::size_t end = std::min(length + kWord, text.size());
    const auto plain = [](char c) { return IsPrintableChar(c) || c == '\n' || c == '\t'; };
    while (length < end && plain(text[length])) ++length;
    if (length < end || length == text.size()) return length;
  }
}

bool IsPrintableAscii(std::string_view text) {
  text.remove_prefix(PrintableWords(text));
  return text.size() < kWord && std::all_of(text.begin(), text.end(), IsPrintableChar);
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
