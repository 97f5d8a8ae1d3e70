#include "jobman/base/strings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "jobman/base/hash.hpp"

namespace jobman::base {

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string Join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string joined;
  for (const std::string& part : parts) {
    if (&part != parts.data()) joined.append(separator);
    joined.append(part);
  }
  return joined;
}

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n\f\v";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string ToLower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string ReplaceAll(std::string text, std::string_view from, std::string_view to) {
  std::size_t found = from.empty() ? std::string::npos : text.find(from);
  if (found == std::string::npos) return text;
  std::string replaced;
  std::size_t done = 0;
  for (; found != std::string::npos; found = text.find(from, done)) {
    replaced.append(text, done, found - done).append(to);
    done = found + from.size();
  }
  return replaced.append(text, done);
}

std::optional<std::int64_t> ParseNumber(std::string_view text) {
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, number);
  if (problem != std::errc() || stop != end) return std::nullopt;
  return number;
}

namespace {

/// Edit distance in which swapping two adjacent characters, the most common typo, is one step.
std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(before, last);
    std::swap(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({change, last[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

std::optional<std::string> Nearest(std::string_view word,
                                   const std::vector<std::string>& candidates) {
  const std::string lower = ToLower(word);
  // A third of the word may be wrong, and at most three letters.
  std::size_t limit = std::clamp<std::size_t>(word.size() / 3, 1, 3);
  std::optional<std::string> nearest;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = EditDistance(lower, ToLower(candidate));
    const bool all_wrong = distance >= std::max(word.size(), candidate.size());
    if (all_wrong || distance > limit || (nearest && distance == limit)) continue;
    nearest = candidate;
    limit = distance;
  }
  return nearest;
}

bool GlobMatch(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      // Let the last star match one character more and try again behind it.
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  return pattern.substr(p).find_first_not_of('*') == std::string_view::npos;
}

std::string FormatRanges(const std::vector<int>& sorted_numbers) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < sorted_numbers.size();) {
    std::size_t end = i + 1;
    while (end < sorted_numbers.size() && sorted_numbers[end] == sorted_numbers[end - 1] + 1) ++end;
    const int first = sorted_numbers[i];
    const int last = sorted_numbers[end - 1];
    parts.push_back(first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last));
    i = end;
  }
  return Join(parts, ",");
}

std::string ShortRanges(const std::vector<int>& sorted_numbers, std::size_t most) {
  std::string all = FormatRanges(sorted_numbers);
  if (all.size() <= most) return all;
  const std::string rest = fmt::format(",... ({})", sorted_numbers.size());
  const std::size_t end = all.rfind(',', most > rest.size() ? most - rest.size() : 0);
  return (end == std::string::npos ? all.substr(0, all.find(',')) : all.substr(0, end)) + rest;
}

std::string Shorten(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U) --most;
  return std::string(text.substr(0, most)) + "...";
}

std::string SafeFileName(std::string_view text) {
  constexpr std::size_t kLongest = 120, kDigits = 16;
  constexpr std::string_view kPlain = "._-+=@";
  std::string name;
  for (const char c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    const bool first = name.empty() && (c == '.' || c == '-');
    const bool plain = letter || (!first && kPlain.find(c) != std::string_view::npos);
    name += plain ? std::string(1, c) : fmt::format("%{:02x}", static_cast<unsigned char>(c));
  }
  if (name.empty()) return "%";  // no other text's
  if (name.size() <= kLongest) return name;
  return name.substr(0, kLongest - kDigits - 2) + "%-" + Sha256Hex(text).substr(0, kDigits);
}

std::string FormatBytes(std::int64_t bytes) {
  constexpr double kNext = 1024;
  if (bytes < 1024) return Plural(bytes, "byte");
  double size = static_cast<double>(bytes) / kNext;
  std::string_view units = "KMGT";
  while (size >= kNext - 0.05 && units.size() > 1) {
    size /= kNext;
    units.remove_prefix(1);
  }
  return fmt::format("{:.1f} {}B", size, units.front());
}

std::string Plural(std::int64_t count, std::string_view singular) {
  return fmt::format("{} {}{}", count, singular, count == 1 ? "" : "s");
}

}  // namespace jobman::base
