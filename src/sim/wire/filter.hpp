#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/wire/json.hpp"

namespace jobman::sim {

/// The part of Google's filter language (AIP-160) that lists of this API need: terms joined by AND
/// or a space, each "path = value", "path != value" or "path : value", perhaps after NOT or "-".
/// Values may be quoted; "*" stands for any text.
struct FilterTerm {
  bool negated = false;
  std::string path = {};  ///< "metadata.verb"
  bool contains = false;  ///< ":": the value is part of the field, or "*" for any
  std::string value = {};
};
using Filter = std::vector<FilterTerm>;

/// Nothing if the text is no such filter.
std::optional<Filter> ParseFilter(const std::string& text);
bool Matches(const Filter& filter, const Json& entry);

/// Of "name desc,type": fields to sort by. Nothing if the text is not of that form.
struct SortField {
  std::string path = {};
  bool descending = false;
};
std::optional<std::vector<SortField>> ParseOrder(const std::string& text);
/// Whether `a` comes before `b`.
bool ComesBefore(const std::vector<SortField>& order, const Json& a, const Json& b);

}  // namespace jobman::sim
