#include "jobman/config/schema.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "config/schema/rows.hpp"
#include "config/value.hpp"

namespace jobman::config {
namespace {

std::vector<KeyRow> AllRows() {
  std::vector<KeyRow> all;
  for (const auto rows : {schema::JobRows(), schema::SliceRows(), schema::HostRows(),
                          schema::SetupRows(), schema::RunRows(), schema::HookRows()}) {
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return all;
}

/// The parts of a path without list indices.
std::vector<std::string> NamesOf(std::string_view path) {
  std::vector<std::string> names;
  for (std::string& part : SplitPath(path)) {
    if (part.find_first_not_of("0123456789") != std::string::npos) names.push_back(std::move(part));
  }
  return names;
}

bool Matches(const std::vector<std::string>& names, const KeyRow& row) {
  const std::vector<std::string> row_names = NamesOf(row.path);
  return std::equal(names.begin(), names.end(), row_names.begin(), row_names.end(),
                    [](const std::string& name, const std::string& row_name) {
                      return name == row_name || row_name == "*";
                    });
}

std::string_view TypeName(Type type) {
  switch (type) {
    case Type::kText:
      return "text";
    case Type::kPath:
      return "a path";
    case Type::kWord:
      return "a word";
    case Type::kBool:
      return "true or false";
    case Type::kNumber:
      return "a number";
    case Type::kSize:
      return "a size";
    case Type::kCount:
      return "a number or \"unlimited\"";
    case Type::kDuration:
    case Type::kLimit:
      return "a duration";
    case Type::kDeadline:
      return "a duration or a time";
    case Type::kHosts:
      return "hosts";
    case Type::kTextList:
      return "a list of texts";
    case Type::kTextMap:
      return "a map of texts";
    case Type::kSource:
      return "{env: NAME} or {file: PATH}";
    case Type::kTextOrSource:
      return "text, {env: NAME} or {file: PATH}";
    case Type::kMap:
      return "a map";
    case Type::kMaps:
      return "a list of maps";
    case Type::kNamed:
      return "a map of maps";
    case Type::kAny:
      return "anything";
  }
  return {};
}

}  // namespace

std::span<const KeyRow> Schema() {
  static const std::vector<KeyRow> rows = AllRows();
  return rows;
}

const KeyRow* FindKey(std::string_view path) {
  const std::vector<std::string> names = NamesOf(path);
  for (const KeyRow& row : Schema()) {
    if (Matches(names, row)) return &row;
  }
  return nullptr;
}

std::string ChildPrefix(const KeyRow& row) {
  if (row.type == Type::kMap) return std::string(row.path) + ".";
  if (row.type == Type::kNamed) return std::string(row.path) + ".*.";
  return row.path.starts_with("on.") ? "on.*[]." : std::string(row.path) + "[].";
}

std::string ItemText(const KeyRow& row) {
  if (row.short_for.empty()) return "a map";
  const KeyRow* value = FindKey(ChildPrefix(row) + std::string(row.short_for));
  return (value == nullptr ? "text" : TypeText(*value)) + " or a map";
}

std::string TypeText(const KeyRow& row) {
  if (row.type == Type::kMap) return ItemText(row);
  if (row.type == Type::kMaps && !row.short_for.empty()) {
    return row.or_one ? ItemText(row) + ", or a list of these" : "a list of texts or maps";
  }
  return (row.or_one ? "text, or " : "") + std::string(TypeName(row.type));
}

}  // namespace jobman::config
