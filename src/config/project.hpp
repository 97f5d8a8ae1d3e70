#pragma once

#include <optional>
#include <string>

#include "jobman/config/load.hpp"

namespace jobman::config {

/// A value and the place it was found in, in words.
struct FoundText {
  std::string text = {};
  std::string where = {};
};

/// The project when a job file names none: GOOGLE_CLOUD_PROJECT, CLOUDSDK_CORE_PROJECT, then
/// core/project of gcloud's active configuration (under CLOUDSDK_CONFIG or ~/.config/gcloud).
std::optional<FoundText> DefaultProject(const Defaults& defaults);

/// `key` of `section` in a file as gcloud writes them ("[core]", "project = x"); nothing when
/// there is none.
std::optional<std::string> IniValue(std::string_view text, std::string_view section,
                                    std::string_view key);

}  // namespace jobman::config
