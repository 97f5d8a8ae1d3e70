#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace jobman::config::convert {

/// --time: "minutes", "minutes:seconds", "hours:minutes:seconds", "days-hours",
/// "days-hours:minutes", "days-hours:minutes:seconds". Nothing if it is none of these.
std::optional<std::chrono::seconds> ReadSlurmTime(std::string_view text);

/// --array: "0-15%4", "1,3,7-9", "0-15:4".
struct SlurmArray {
  std::string values = {};                 ///< as in `array` of a job file; steps are written out
  std::optional<std::int64_t> limit = {};  ///< how many run at a time
  std::int64_t least = 0;
  std::int64_t greatest = 0;
};
std::optional<SlurmArray> ReadSlurmArray(std::string_view text);

}  // namespace jobman::config::convert
