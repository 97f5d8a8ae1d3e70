#include "http/escaped.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "jobman/base/strings.hpp"
#include "jobman/http/redact.hpp"

namespace jobman::http {
namespace {

constexpr std::string_view kEscapes = "%\\&";  ///< with which an escape begins

/// A character as the reader of the text sees it, and the bytes that it takes there.
struct Escaped {
  char character = 0;
  std::size_t length = 0;
};

/// The number that `digits` is as a whole; nothing unless it is a character of one byte.
std::optional<char> CharacterOf(std::string_view digits, int base) {
  unsigned number = 0;
  const char* const end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, number, base);
  if (digits.empty() || read.ec != std::errc{} || read.ptr != end || number > 0xff) return {};
  return static_cast<char>(number);
}

/// A number of so many hexadecimal digits after `skip` bytes: %2F, \x2f, \u002f.
std::optional<Escaped> OfHex(std::string_view text, std::size_t skip, std::size_t digits) {
  if (text.size() < skip + digits) return {};
  const auto character = CharacterOf(text.substr(skip, digits), 16);
  if (!character) return {};
  return Escaped{*character, skip + digits};
}

std::optional<Escaped> OfBackslash(std::string_view text) {
  if (text.size() < 2) return {};
  if (text[1] == 'u') return OfHex(text, 2, 4);
  if (text[1] == 'x') return OfHex(text, 2, 2);
  return Escaped{text[1], 2};
}

std::optional<Escaped> OfHtml(std::string_view text) {
  constexpr std::size_t kLongest = 12;
  constexpr std::array kNames = {std::pair{"amp", '&'}, std::pair{"lt", '<'}, std::pair{"gt", '>'},
                                 std::pair{"quot", '"'}, std::pair{"apos", '\''}};
  const std::size_t end = text.substr(0, kLongest).find(';');
  if (end == std::string_view::npos) return {};
  const std::string_view name = text.substr(1, end - 1);
  for (const auto& [known, character] : kNames) {
    if (name == known) return Escaped{character, end + 1};
  }
  if (!name.starts_with('#')) return {};
  const bool hex = name.starts_with("#x") || name.starts_with("#X");
  const auto character = CharacterOf(name.substr(hex ? 2 : 1), hex ? 16 : 10);
  if (!character) return {};
  return Escaped{*character, end + 1};
}

std::optional<Escaped> EscapedAt(std::string_view text) {
  if (text.starts_with('%')) return OfHex(text, 1, 2);
  if (text.starts_with('\\')) return OfBackslash(text);
  if (text.starts_with('&')) return OfHtml(text);
  return {};
}

/// The first characters of a text, and how many bytes of it each takes.
class Beginning {
 public:
  explicit Beginning(std::string_view text) : size_(std::min(text.size(), kMost)) {
    std::copy_n(text.begin(), size_, characters_.begin());
    std::fill_n(lengths_.begin(), size_, 1);
  }

  Escaped first() const { return {characters_.front(), lengths_.front()}; }
  bool BeginsEscape() const { return EscapedAt(text()).has_value(); }

  /// Undoes one level of escapes.
  void Undo() {
    std::size_t to = 0;
    for (std::size_t at = 0; at < size_; ++to) {
      const auto escaped = EscapedAt(text().substr(at));
      const char character = escaped ? escaped->character : characters_[at];
      const std::size_t end = at + (escaped ? escaped->length : 1);
      std::size_t length = 0;
      for (; at < end; ++at) length += lengths_[at];
      characters_[to] = character;
      lengths_[to] = length;
    }
    size_ = to;
  }

 private:
  static constexpr std::size_t kMost = 24;  ///< one character, escaped as often as is looked for
  std::string_view text() const { return {characters_.data(), size_}; }

  std::size_t size_;
  std::array<char, kMost> characters_ = {};
  std::array<std::size_t, kMost> lengths_ = {};
};

/// "&amp;#38;" reads as '&' at once, and once more.
enum class Reading { kShortest, kLongest };

/// How many bytes at the beginning of the text read as the character; 0 if they do not. What quotes
/// an escaped text may escape it again: JSON in a string of JSON, an address in an address.
std::size_t LengthOf(char wanted, std::string_view text, Reading reading) {
  constexpr int kDeepest = 4;
  if (text.empty()) return 0;
  std::size_t length = text.front() == wanted ? 1 : 0;
  if (kEscapes.find(text.front()) == std::string_view::npos) return length;
  Beginning beginning(text);
  for (int level = 0; level < kDeepest && beginning.BeginsEscape(); ++level) {
    beginning.Undo();
    if (beginning.first().character != wanted) continue;
    length = beginning.first().length;
    if (reading == Reading::kShortest) break;
  }
  return length;
}

std::size_t LengthOf(std::string_view secret, std::string_view text, Reading reading) {
  std::size_t at = 0;
  for (const char wanted : secret) {
    const std::size_t length = LengthOf(wanted, text.substr(at), reading);
    if (length == 0) return 0;
    at += length;
  }
  return at;
}

/// How many bytes at the beginning of the text read as the secret; 0 if they do not.
std::size_t LengthOf(std::string_view secret, std::string_view text) {
  return std::max(LengthOf(secret, text, Reading::kShortest),
                  LengthOf(secret, text, Reading::kLongest));
}

bool HasEscapes(std::string_view text) {
  return std::any_of(kEscapes.begin(), kEscapes.end(),
                     [text](char begins) { return text.find(begins) != std::string_view::npos; });
}

}  // namespace

std::string WithoutEscaped(std::string text, std::string_view secret) {
  if (secret.empty()) return text;
  if (!HasEscapes(text)) return base::ReplaceAll(std::move(text), secret, kRedacted);
  const std::string begins = std::string(kEscapes) + secret.front();
  const std::string_view all = text;
  std::string kept;
  std::size_t copied = 0;
  for (std::size_t at = all.find_first_of(begins); at != std::string_view::npos;) {
    const std::size_t length = LengthOf(secret, all.substr(at));
    if (length > 0) {
      kept.append(all.substr(copied, at - copied)).append(kRedacted);
      copied = at + length;
    }
    at = all.find_first_of(begins, at + std::max<std::size_t>(length, 1));
  }
  if (copied == 0) return text;
  kept.append(all.substr(copied));
  return kept;
}

}  // namespace jobman::http
