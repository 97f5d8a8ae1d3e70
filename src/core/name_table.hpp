#pragma once

#include <optional>
#include <string_view>

namespace jobman::core {

// The words of an enum, as an array of pairs.

template <class Table, class Key>
constexpr std::string_view NameIn(const Table& table, Key key, std::string_view otherwise = {}) {
  for (const auto& [value, name] : table) {
    if (value == key) return name;
  }
  return otherwise;
}

template <class Key, class Table>
constexpr std::optional<Key> ValueIn(const Table& table, std::string_view text) {
  for (const auto& [value, name] : table) {
    if (name == text) return value;
  }
  return std::nullopt;
}

}  // namespace jobman::core
