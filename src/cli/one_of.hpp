#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "jobman/base/strings.hpp"

namespace jobman::cli {

/// For options that take one of these words, with check(): help and completion name them, and so
/// does the error. CLI::IsMember, but the error quotes what was written.
inline CLI::Validator OneOf(std::vector<std::string> words) {
  std::string shown = "{" + base::Join(words, ",") + "}";
  const auto check = [words = std::move(words)](const std::string& text) -> std::string {
    if (std::find(words.begin(), words.end(), text) != words.end()) return {};
    return fmt::format("\"{}\" is not one of {}", text, base::Join(words, ", "));
  };
  return CLI::Validator(check, std::move(shown));
}

}  // namespace jobman::cli
