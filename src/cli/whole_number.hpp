#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "jobman/base/strings.hpp"

namespace jobman::cli {

/// For options that are numbers, with transform(): the error says which ones they take.
inline CLI::Validator WholeNumber(std::int64_t least, std::optional<std::int64_t> most = {}) {
  const auto read = [least, most](std::string& text) -> std::string {
    const auto number = base::ParseNumber(text);
    const bool fits = number && *number >= least && (!most || *number <= *most);
    const std::string not_one = fmt::format("\"{}\" is not a whole number ", text);
    if (!fits && most) return fmt::format("{}from {} to {}", not_one, least, *most);
    if (!fits) return fmt::format("{}of {} or more", not_one, least);
    text = std::to_string(*number);  // 010 would be read as 8
    return {};
  };
  return CLI::Validator(read, "");
}

}  // namespace jobman::cli
