#include "sim/wire/filter.hpp"

#include <regex>

#include "jobman/base/strings.hpp"

namespace jobman::sim {

namespace {

constexpr std::size_t kLongestFilter = 2000;

/// The value at a path as text; empty if there is none.
std::string TextAt(const Json& entry, const std::string& path) {
  const Json* at = &entry;
  for (const std::string& name : base::Split(path, '.')) at = &Member(*at, name);
  if (at->is_null()) return {};
  return at->is_string() ? at->get<std::string>() : at->dump();
}

bool Holds(const FilterTerm& term, const Json& entry) {
  std::string text = TextAt(entry, term.path);
  // proto3 JSON leaves out a flag that is false.
  if (text.empty() && term.value == "false") text = "false";
  if (!term.contains) return base::GlobMatch(term.value, text);
  return !text.empty() && base::GlobMatch("*" + term.value + "*", text);
}

}  // namespace

std::optional<Filter> ParseFilter(const std::string& text) {
  static const std::regex kTerm(
      R"(\s*(?:AND\s+)?(NOT\s+|-)?([A-Za-z_][\w.]*)\s*(!=|=|:)\s*("[^"]*"|[^\s"()=:<>,]+)(?=\s|$))");
  if (text.size() > kLongestFilter) return std::nullopt;
  Filter filter;
  std::string rest = text;
  while (!base::Trim(rest).empty()) {
    std::smatch match;
    if (!std::regex_search(rest, match, kTerm, std::regex_constants::match_continuous)) {
      return std::nullopt;
    }
    FilterTerm term{.negated = match[1].matched, .path = match[2], .value = match[4]};
    if (match[3] == "!=") term.negated = !term.negated;
    term.contains = match[3] == ":";
    if (term.value.starts_with('"')) term.value = term.value.substr(1, term.value.size() - 2);
    filter.push_back(std::move(term));
    rest = std::string(match.suffix());
  }
  return filter;
}

bool Matches(const Filter& filter, const Json& entry) {
  for (const FilterTerm& term : filter) {
    if (Holds(term, entry) == term.negated) return false;
  }
  return true;
}

std::optional<std::vector<SortField>> ParseOrder(const std::string& text) {
  static const std::regex kField(R"(\s*([A-Za-z_][\w.]*)(\s+desc|\s+asc)?\s*)");
  if (text.size() > kLongestFilter) return std::nullopt;
  std::vector<SortField> order;
  for (const std::string& part : base::Split(text, ',')) {
    std::smatch match;
    if (!std::regex_match(part, match, kField)) return std::nullopt;
    order.push_back({.path = match[1], .descending = base::Trim(match[2].str()) == "desc"});
  }
  return order;
}

bool ComesBefore(const std::vector<SortField>& order, const Json& a, const Json& b) {
  for (const SortField& field : order) {
    const std::string left = TextAt(a, field.path);
    const std::string right = TextAt(b, field.path);
    if (left != right) return (left < right) != field.descending;
  }
  return false;
}

}  // namespace jobman::sim
