#include "jobman/ui/host_bytes.hpp"

#include <algorithm>
#include <cstdint>

#include "jobman/base/clean.hpp"

namespace jobman::ui {
namespace {

/// A sequence that is longer is not one.
constexpr std::size_t kLongestSequence = 64;

/// What stands at the beginning of a text.
struct Item {
  std::size_t size = 0;          ///< 0: more bytes are needed to know
  std::string_view shown = "?";  ///< instead of it
};

/// ESC [ parameters final; the bytes of each part are those of ECMA-48, 5.4.
Item Sequence(std::string_view text) {
  if (text.size() < 2) return {};
  if (text[1] != '[') return {.size = 1};
  std::size_t end = 2;
  while (end < text.size() && text[end] >= 0x20 && text[end] < 0x40) ++end;
  if (end >= kLongestSequence) return {.size = 1};
  if (end == text.size()) return {};
  if (text[end] < 0x40 || text[end] >= 0x7F) return {.size = 1};
  return {.size = end + 1, .shown = ""};
}

/// Whether a character begins at the text that is not complete yet.
bool IsCutOff(std::string_view text) {
  const auto first = static_cast<std::uint8_t>(text.front());
  const std::size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 1;
  return first <= 0xF4 && text.size() < size &&
         std::all_of(text.begin() + 1, text.end(),
                     [](char c) { return (static_cast<std::uint8_t>(c) & 0xC0) == 0x80; });
}

Item First(std::string_view text) {
  if (text.front() == '\x1b') return Sequence(text);
  if (text.front() == '\n' || text.front() == '\t') return {.size = 1, .shown = text.substr(0, 1)};
  if (text.front() == '\r') {
    if (text.size() < 2) return {};
    return {.size = text[1] == '\n' ? 2U : 1U, .shown = "\n"};
  }
  const auto [code, size] = base::FirstChar(text);
  if (code != base::Utf8Char::kInvalid && !base::IsControl(code))
    return {.size = size, .shown = text.substr(0, size)};
  if (code == base::Utf8Char::kInvalid && IsCutOff(text)) return {};
  return {.size = size};
}

}  // namespace

std::string HostBytes::Take(std::string_view piece) {
  begun_.append(piece);
  std::string_view text = begun_;
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const Item item = First(text);
    if (item.size == 0) break;
    clean += item.shown;
    text.remove_prefix(item.size);
  }
  begun_.erase(0, begun_.size() - text.size());
  return clean;
}

}  // namespace jobman::ui
