#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "config/diagnostics.hpp"
#include "config/value.hpp"

namespace jobman::config {

constexpr std::size_t kLargestFile = std::size_t{1} << 20;  ///< bytes of one job file
constexpr int kDeepest = 32;                                ///< nesting of lists and maps
constexpr std::size_t kMostValues = 100'000;  ///< of a job file, after aliases are expanded
constexpr std::size_t kMostKeys = 2000;       ///< of one map; lookups are linear

/// How large a file may be.
struct Limits {
  std::size_t bytes = kLargestFile;
  std::size_t values = kMostValues;  ///< after aliases are expanded
  std::size_t keys = kMostKeys;      ///< of one map, with those that "<<" merges into it
  std::string_view text = "1 MiB, the limit for a job file";
  std::string_view one = "write one job per file";  ///< the cure for a second document
};

/// One YAML document (JSON is YAML) as a tree with positions. Aliases are expanded, merge keys
/// ("<<") applied; duplicate keys, several documents and what exceeds the limits above are
/// reported. `offset` is added to the columns of the first line. Nothing if a problem leaves no
/// usable tree.
std::optional<Value> ReadYaml(std::string_view text, int source, int offset, Diagnostics& out,
                              const Limits& limits = {});

/// Whether all bytes are text that a job file may contain; if not, reports the first other one.
bool CheckBytes(std::string_view text, int source, int offset, Diagnostics& out);

}  // namespace jobman::config
