#include <fmt/format.h>

#include <algorithm>

#include "config/check.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/config/schema.hpp"

namespace jobman::config {
namespace {

std::string Line(std::string_view label, std::string_view value) {
  return value.empty() ? "" : fmt::format("  {:<9}{}\n", label, value);
}

/// The keys below `prefix`, a line each.
std::string KeyLines(std::string_view prefix, std::string_view indent) {
  std::vector<std::pair<std::string_view, const KeyRow*>> keys;
  std::size_t width = 0;
  for (const KeyRow& row : Schema()) {
    if (!row.path.starts_with(prefix)) continue;
    keys.emplace_back(row.path.substr(prefix.size()), &row);
    width = std::max(width, keys.back().first.size());
  }
  std::string text;
  for (const auto& [key, row] : keys) {
    const bool works = row->status != KeyStatus::kNotYet;
    text +=
        fmt::format("{}{:<{}}  {}{}\n", indent, key, width, works ? "" : "(not yet) ", row->about);
  }
  return text;
}

std::string_view StatusText(KeyStatus status) {
  switch (status) {
    case KeyStatus::kWorks:
    case KeyStatus::kTranslated:
      return "works";
    case KeyStatus::kIgnored:
      return "ignored";
    case KeyStatus::kNotYet:
      return "not supported yet";
  }
  return {};
}

std::string Children(const KeyRow& parent) {
  if (parent.type != Type::kMap && parent.type != Type::kMaps) return "";
  const std::string text = KeyLines(ChildPrefix(parent), "  ");
  return text.empty() ? "" : "\nKeys:\n" + text;
}

}  // namespace

std::string ValueText(const KeyRow& row) {
  if (row.type == Type::kWord) return base::Join(base::Split(row.allowed, '|'), ", ");
  const bool said = row.type != Type::kSize && !row.allowed.empty();
  return said ? std::string(row.allowed) : TypeText(row);
}

base::Result<std::string> ExplainKey(std::string_view path) {
  if (path.empty()) return KeyLines("", "");
  const KeyRow* row = FindKey(path);
  if (row == nullptr) {
    const std::size_t dot = path.rfind('.');
    const std::string_view parent = dot == std::string_view::npos ? "" : path.substr(0, dot);
    const KeyRow* around = FindKey(parent);
    return base::NotFound(fmt::format("no key \"{}\" in job files", path),
                          NearestKeyHint(around == nullptr ? "" : ChildPrefix(*around), parent,
                                         path.substr(dot + 1)));
  }
  const bool works = row->status != KeyStatus::kNotYet;
  return fmt::format("{}: {}\n", row->path, row->about) + Line("value", ValueText(*row)) +
         Line("default", row->fallback) + Line("status", StatusText(row->status)) +
         Line("since", works ? row->since : "") + Children(*row);
}

}  // namespace jobman::config
