#include "jobman/ui/text.hpp"

#include <algorithm>
#include <array>

#include "jobman/base/clean.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::ui {
namespace {

using base::FirstChar;
constexpr char32_t kInvalid = base::Utf8Char::kInvalid;

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
    case Tone::kMoves:
      return "\x1b[36m";
    case Tone::kDim:
      return "\x1b[2m";
  }
  return "";
}

std::string_view CutMark(bool utf8) {
  return utf8 ? "…" : "...";
}

constexpr std::string_view kPaintEnd = "\x1b[0m";
/// Among the eight that every colour terminal has. No red, which means failure.
constexpr std::array<std::string_view, 5> kHostCodes = {"\x1b[36m", "\x1b[35m", "\x1b[33m",
                                                        "\x1b[32m", "\x1b[34m"};

// The length of a sequence of Paint() at the beginning of the text; 0 if there is none.
std::size_t PaintAt(std::string_view text) {
  for (const Tone tone : {Tone::kGood, Tone::kBad, Tone::kBusy, Tone::kMoves, Tone::kDim})
    if (text.starts_with(ToneCode(tone))) return ToneCode(tone).size();
  for (const std::string_view code : kHostCodes)
    if (text.starts_with(code)) return code.size();
  return text.starts_with(kPaintEnd) ? kPaintEnd.size() : 0;
}

}  // namespace

std::string Paint(Tone tone, std::string_view text, const Style& style) {
  if (!style.colour || tone == Tone::kPlain || text.empty()) return std::string(text);
  return std::string(ToneCode(tone)).append(text).append(kPaintEnd);
}

std::string PaintHost(int host, std::string_view text, const Style& style) {
  if (!style.colour) return std::string(text);
  const auto index = static_cast<std::size_t>(std::max(host, 0)) % kHostCodes.size();
  return std::string(kHostCodes[index]).append(text).append(kPaintEnd);
}

std::string Clean(std::string_view text, bool utf8) {
  std::string clean = base::CleanLine(text);
  if (utf8 || base::IsPrintableAscii(clean)) return clean;
  std::string ascii;
  for (std::string_view rest = clean; !rest.empty();) {
    const auto [code, size] = FirstChar(rest);
    ascii += code < 0x80 ? static_cast<char>(code) : '?';
    rest.remove_prefix(size);
  }
  return ascii;
}

std::string CleanText(std::string_view text, bool colour) {
  std::string clean;
  clean.reserve(text.size());
  for (;;) {
    const std::size_t plain = base::PlainLength(text);
    clean += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) return clean;
    const auto [code, size] = FirstChar(text);
    std::size_t taken = size;
    if (code == '\x1b' && colour) taken = std::max(taken, PaintAt(text));
    const bool stays = code == '\n' || code == '\t' || taken > size ||
                       (code != kInvalid && !base::IsControl(code));
    clean += stays ? text.substr(0, taken) : "?";
    text.remove_prefix(taken);
  }
}

std::string CleanLines(std::string_view text) {
  constexpr std::size_t kLongest = 2000;
  std::vector<std::string> lines = base::Split(text, '\n');
  for (std::string& line : lines) line = Clean(base::Shorten(line, kLongest), true);
  return base::Join(lines, "\n");
}

int DisplayWidth(std::string_view text) {
  if (base::IsPrintableAscii(text)) return static_cast<int>(text.size());
  int width = 0;
  while (!text.empty()) {
    const auto [code, size] = FirstChar(text);
    width += code == kInvalid ? 1 : WidthOf(code);
    text.remove_prefix(size);
  }
  return width;
}

std::string Wrap(std::string_view text, int indent, int width) {
  return WrapFrom(text, indent, indent, width);
}

std::string WrapFrom(std::string_view text, int start, int indent, int width) {
  std::string wrapped;
  int begin = start;  // of the line
  int column = start;
  for (const std::string& word : base::Split(text, ' ')) {
    const int needed = DisplayWidth(word);
    const bool begins = column == begin;
    if (!begins && width > 0 && column + 1 + needed > width) {
      wrapped += "\n" + std::string(static_cast<std::size_t>(indent), ' ');
      column = begin = indent;
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
  const std::string_view mark = CutMark(utf8);
  const int room = width - DisplayWidth(mark);
  if (room < 0) return std::string(static_cast<std::size_t>(std::max(width, 0)), '.');
  std::string_view rest = text;
  int used = 0;
  while (!rest.empty()) {
    const auto [code, size] = FirstChar(rest);
    const int next = used + (code == kInvalid ? 1 : WidthOf(code));
    if (next > room) break;
    used = next;
    rest.remove_prefix(size);
  }
  return std::string(text.substr(0, text.size() - rest.size())).append(mark);
}

std::string TruncateFront(std::string_view text, int width, bool utf8) {
  if (DisplayWidth(text) <= width) return std::string(text);
  const std::string_view mark = CutMark(utf8);
  const int room = width - DisplayWidth(mark);
  if (room < 0) return std::string(static_cast<std::size_t>(std::max(width, 0)), '.');
  while (DisplayWidth(text) > room) text.remove_prefix(FirstChar(text).size);
  return std::string(mark).append(text);
}

}  // namespace jobman::ui
