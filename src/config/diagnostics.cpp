#include "config/diagnostics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "config/utf8.hpp"
#include "jobman/base/clean.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::config {
namespace {

/// Shown at once.
constexpr std::size_t kMostProblems = 50;
/// Collected before sorting: the first in the file may be found last.
constexpr std::size_t kMostFound = 1000;
/// Longer source lines are cut around the caret.
constexpr std::size_t kWidest = 120;
constexpr std::size_t kLongestMessage = 2000;
/// Lines that Locate() searches; block scalars are seldom longer.
constexpr std::size_t kFarthest = 500;

bool IsContinuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

int Characters(std::string_view bytes) {
  return static_cast<int>(
      std::count_if(bytes.begin(), bytes.end(), [](char c) { return !IsContinuation(c); }));
}

/// Text that is safe for a terminal: line breaks stay, a tab becomes a space, other control bytes
/// and invalid UTF-8 become "?".
std::string Printable(std::string_view line) {
  std::string text(line);
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const std::size_t length = Utf8Length(std::string_view(text).substr(at));
    if (text[at] == '\t') {
      text[at] = ' ';
    } else if (text[at] != '\n' && (byte < 0x20 || byte == 0x7F || length == 0)) {
      text[at] = '?';
    }
    at += std::max<std::size_t>(length, 1);
  }
  return text;
}

struct Excerpt {
  std::string line = {};
  int caret = 0;  ///< characters before the caret
};

/// The part of the line around the byte, at most kWidest bytes.
Excerpt CutAround(const std::string& line, std::size_t at) {
  if (line.size() <= kWidest) return {line, Characters(std::string_view(line).substr(0, at))};
  std::size_t first = at > kWidest / 2 ? at - kWidest / 2 : 0;
  while (first > 0 && IsContinuation(line[first])) --first;
  std::size_t last = std::min(first + kWidest, line.size());
  while (last < line.size() && IsContinuation(line[last])) ++last;
  const std::string_view before = first > 0 ? "..." : "";
  const std::string_view after = last < line.size() ? "..." : "";
  const std::string_view head = std::string_view(line).substr(first, at - first);
  return {fmt::format("{}{}{}", before, line.substr(first, last - first), after),
          static_cast<int>(before.size()) + Characters(head)};
}

/// The byte of the line at the position: the first one of a character, or the end.
std::size_t ByteAt(std::string_view line, Position at) {
  std::size_t byte = std::min(static_cast<std::size_t>(std::max(at.column - 1, 0)), line.size());
  while (byte < line.size() && IsContinuation(line[byte])) ++byte;
  return byte;
}

}  // namespace

int Diagnostics::AddSource(Source source, std::string_view text) {
  // The parser does not count it.
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  for (std::string& line : base::Split(text, '\n')) {
    if (line.ends_with('\r')) line.pop_back();
    source.lines.push_back(std::move(line));
  }
  sources_.push_back(std::move(source));
  return static_cast<int>(sources_.size()) - 1;
}

void Diagnostics::Report(Position at, std::string message, std::string hint, base::Reason reason) {
  if (found_.size() < kMostFound)
    found_.push_back({at, std::move(message), std::move(hint), reason});
}

void Diagnostics::Warn(Position at, std::string message, std::string hint) {
  if (warnings_.size() < kMostFound) warnings_.push_back({at, std::move(message), std::move(hint)});
}

Position Diagnostics::Locate(Position from, std::string_view part) const {
  if (from.source < 0 || from.line < 1) return from;
  const auto& lines = source(from.source).lines;
  auto column = static_cast<std::size_t>(std::max(from.column - 1, 0));
  const auto first = static_cast<std::size_t>(from.line - 1);
  for (std::size_t i = first; i < std::min(lines.size(), first + kFarthest); ++i) {
    const std::size_t at = lines[i].find(part, column);
    if (at != std::string::npos) {
      return {from.source, static_cast<int>(i) + 1, static_cast<int>(at) + 1};
    }
    column = 0;
  }
  return from;
}

std::string Diagnostics::Where(Position at) const {
  if (at.source < 0) return "default";
  const Source& from = source(at.source);
  return from.is_flag || at.line < 1 ? from.name : fmt::format("{}:{}", from.name, at.line);
}

Problem Diagnostics::Describe(Position at) const {
  Problem problem;
  if (at.source < 0) return problem;
  const Source& from = source(at.source);
  problem.file = from.name;
  const auto index = static_cast<std::size_t>(at.line - 1);
  if (at.line < 1 || index >= from.lines.size()) return problem;
  // Never the whole line: a file may be one line, and have thousands of problems.
  const std::string& line = from.lines[index];
  const std::size_t byte = ByteAt(line, at);
  const Excerpt part = CutAround(line, byte);
  problem.excerpt = Printable(part.line);
  problem.caret = part.caret;
  problem.column = Characters(std::string_view(line).substr(0, byte)) + 1;
  problem.line = from.is_flag ? 0 : at.line;
  return problem;
}

std::vector<Problem> Diagnostics::Take() {
  return InOrder(std::move(found_));
}

std::vector<Problem> Diagnostics::TakeWarnings() {
  return InOrder(std::move(warnings_));
}

std::vector<Problem> Diagnostics::InOrder(std::vector<Found> found) const {
  // What a file lacks as a whole comes last: a misspelt key may be the reason.
  const auto place = [](const Found& f) {
    return std::tuple(f.at.source, f.at.line == 0, f.at.line, f.at.column);
  };
  std::stable_sort(found.begin(), found.end(),
                   [&](const Found& a, const Found& b) { return place(a) < place(b); });
  std::vector<Problem> problems;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const bool again =
        i > 0 && place(found[i]) == place(found[i - 1]) && found[i].message == found[i - 1].message;
    if (again || problems.size() >= kMostProblems) continue;
    Problem problem = Describe(found[i].at);
    problem.message = found[i].message;
    problem.hint = found[i].hint;
    problem.reason = found[i].reason;
    problems.push_back(std::move(problem));
  }
  return problems;
}

std::string RenderProblem(const Problem& problem) {
  std::string text;
  if (!problem.file.empty()) text = base::CleanLine(problem.file) + ":";
  if (problem.line > 0) text += fmt::format("{}:{}:", problem.line, problem.column);
  text += (text.empty() ? "" : " ") + problem.message;
  // It may contain a long key or value of the file.
  text = Printable(base::Shorten(text, kLongestMessage)) + "\n";
  if (problem.column > 0) {
    const std::string number = problem.line > 0 ? fmt::format("{}", problem.line) : "";
    text += fmt::format("  {} | {}\n", number, problem.excerpt);
    text += fmt::format("  {:{}} | {:{}}^\n", "", number.size(), "", problem.caret);
  }
  if (!problem.hint.empty())
    text += "  " + Printable(base::Shorten(problem.hint, kLongestMessage)) + "\n";
  return text;
}

std::string RenderWarning(Problem warning) {
  warning.message.insert(0, "warning: ");
  return RenderProblem(warning);
}

base::Error ToError(const std::vector<Problem>& problems) {
  std::string message;
  bool all_not_supported = !problems.empty();
  for (const Problem& problem : problems) {
    message += RenderProblem(problem);
    all_not_supported = all_not_supported && problem.reason == base::Reason::kNotSupported;
  }
  base::Error error = base::InvalidArgument(std::string(base::Trim(message)));
  if (all_not_supported) error.reason = base::Reason::kNotSupported;
  return error;
}

}  // namespace jobman::config
