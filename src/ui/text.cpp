#include "jobman/ui/text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "jobman/base/strings.hpp"

namespace jobman::ui {
namespace {

constexpr char32_t kInvalid = 0xFFFFFFFF;

struct Decoded {
  char32_t code = kInvalid;
  std::size_t size = 1;
};

// Strict: no overlong forms, no surrogates, nothing above U+10FFFF.
Decoded Decode(std::string_view text) {
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

struct CodeRange {
  char32_t first;
  char32_t last;
};

// The blocks that matter in names and log lines, not all of Unicode's East Asian Width.
constexpr std::array<CodeRange, 7> kZeroWidth = {{{0x0300, 0x036F},
                                                  {0x1AB0, 0x1AFF},
                                                  {0x1DC0, 0x1DFF},
                                                  {0x200B, 0x200F},
                                                  {0x20D0, 0x20FF},
                                                  {0xFE00, 0xFE0F},
                                                  {0xFE20, 0xFE2F}}};
constexpr std::array<CodeRange, 9> kDoubleWidth = {{{0x1100, 0x115F},
                                                    {0x2E80, 0x303E},
                                                    {0x3041, 0xA4CF},
                                                    {0xAC00, 0xD7A3},
                                                    {0xF900, 0xFAFF},
                                                    {0xFE30, 0xFE6F},
                                                    {0xFF00, 0xFF60},
                                                    {0x1F300, 0x1FAFF},
                                                    {0x20000, 0x3FFFD}}};

template <std::size_t N>
bool In(const std::array<CodeRange, N>& ranges, char32_t code) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](CodeRange range) { return code >= range.first && code <= range.last; });
}

int WidthOf(char32_t code) {
  if (code < 0x300) return 1;
  if (In(kZeroWidth, code)) return 0;
  return In(kDoubleWidth, code) ? 2 : 1;
}

// Includes the bidirectional controls, which could make a line read as another one.
bool IsControl(char32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || (code >= 0x202A && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069) || code == 0x2028 || code == 0x2029;
}

// The common case: one column per byte, nothing to clean.
bool IsPrintableAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7F; });
}

std::string_view ToneCode(Tone tone) {
  switch (tone) {
    case Tone::kPlain:
      return "";
    case Tone::kGood:
      return "\x1b[32m";
    case Tone::kBad:
      return "\x1b[31m";
    case Tone::kBusy:
      return "\x1b[33m";
    case Tone::kDim:
      return "\x1b[2m";
  }
  return "";
}

}  // namespace

std::string Paint(Tone tone, std::string_view text, const Style& style) {
  if (!style.colour || tone == Tone::kPlain || text.empty()) return std::string(text);
  return std::string(ToneCode(tone)).append(text).append("\x1b[0m");
}

std::string Clean(std::string_view text, bool utf8) {
  if (IsPrintableAscii(text)) return std::string(text);
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const auto [code, size] = Decode(text);
    if (code == '\n' || code == '\t' || code == '\r') {
      clean += ' ';
    } else if (code == kInvalid || IsControl(code) || (code >= 0x80 && !utf8)) {
      clean += '?';
    } else {
      clean.append(text.substr(0, size));
    }
    text.remove_prefix(size);
  }
  return clean;
}

std::string CleanLines(std::string_view text) {
  constexpr std::size_t kLongest = 2000;
  std::vector<std::string> lines = base::Split(text, '\n');
  for (std::string& line : lines) line = Clean(base::Shorten(line, kLongest), true);
  return base::Join(lines, "\n");
}

int DisplayWidth(std::string_view text) {
  if (IsPrintableAscii(text)) return static_cast<int>(text.size());
  int width = 0;
  while (!text.empty()) {
    const auto [code, size] = Decode(text);
    width += code == kInvalid ? 1 : WidthOf(code);
    text.remove_prefix(size);
  }
  return width;
}

std::string Wrap(std::string_view text, int indent, int width) {
  std::string wrapped;
  int column = indent;
  for (const std::string& word : base::Split(text, ' ')) {
    const int needed = DisplayWidth(word);
    const bool begins = column == indent;
    if (!begins && width > 0 && column + 1 + needed > width) {
      wrapped += "\n" + std::string(static_cast<std::size_t>(indent), ' ');
      column = indent;
    } else if (!begins) {
      wrapped += ' ';
      ++column;
    }
    wrapped += word;
    column += needed;
  }
  return wrapped;
}

std::string Truncate(std::string_view text, int width, bool utf8) {
  if (DisplayWidth(text) <= width) return std::string(text);
  const std::string_view mark = utf8 ? "…" : "...";
  const int room = width - DisplayWidth(mark);
  if (room < 0) return std::string(static_cast<std::size_t>(std::max(width, 0)), '.');
  std::string_view rest = text;
  int used = 0;
  while (!rest.empty()) {
    const auto [code, size] = Decode(rest);
    const int next = used + (code == kInvalid ? 1 : WidthOf(code));
    if (next > room) break;
    used = next;
    rest.remove_prefix(size);
  }
  return std::string(text.substr(0, text.size() - rest.size())).append(mark);
}

}  // namespace jobman::ui
