#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <string>

#include "jobman/base/time.hpp"

namespace jobman::cli {

/// For options that count seconds, with transform(): they take durations ("90s", "5m") as well.
inline CLI::Validator Seconds(int least, int most) {
  const auto read = [least, most](std::string& text) -> std::string {
    using std::chrono::seconds;
    const auto duration = base::ParseDuration(text);
    if (!duration.ok()) return duration.error().message + "; " + duration.error().hint;
    if (*duration < seconds{least} || *duration > seconds{most}) {
      return fmt::format("\"{}\" is not a time from {} to {}", text,
                         base::FormatExactDuration(seconds{least}),
                         base::FormatExactDuration(seconds{most}));
    }
    text = std::to_string(std::chrono::duration_cast<seconds>(*duration).count());
    return {};
  };
  return CLI::Validator(read, "");
}

}  // namespace jobman::cli
