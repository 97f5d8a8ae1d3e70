#pragma once

#include <functional>
#include <string>

#include "jobman/base/json.hpp"
#include "jobman/config/schema.hpp"

namespace jobman::config::testing {

/// The row with exactly this path.
inline const KeyRow* RowAt(const std::string& path) {
  for (const KeyRow& row : Schema()) {
    if (row.path == path) return &row;
  }
  return nullptr;
}

/// Visits each value of a resolved job with its row; nullptr for a key without a row.
inline void ForEachKey(const base::Json& map, const std::string& prefix,
                       const std::function<void(const KeyRow*, const base::Json&)>& visit) {
  for (const auto& [key, value] : map.items()) {
    const KeyRow* row = RowAt(prefix + key);
    visit(row, value);
    if (row == nullptr) continue;
    if (row->type == Type::kMap) ForEachKey(value, ChildPrefix(*row), visit);
    if (row->type != Type::kMaps) continue;
    for (const base::Json& item : value) ForEachKey(item, ChildPrefix(*row), visit);
  }
}

}  // namespace jobman::config::testing
