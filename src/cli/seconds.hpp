#pragma once

#include <CLI/CLI.hpp>
#include <chrono>
#include <string>

#include "jobman/base/time.hpp"

namespace jobman::cli {

/// For options that count seconds, with transform(): they take durations ("90s", "5m") as well.
inline CLI::Validator Seconds() {
  const auto read = [](std::string& text) -> std::string {
    const auto duration = base::ParseDuration(text);
    if (!duration.ok()) return duration.error().message;
    text = std::to_string(std::chrono::duration_cast<std::chrono::seconds>(*duration).count());
    return {};
  };
  return CLI::Validator(read, "");
}

}  // namespace jobman::cli
