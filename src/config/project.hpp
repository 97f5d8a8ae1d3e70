#pragma once

#include <optional>
#include <string>

#include "jobman/config/load.hpp"

namespace jobman::config {

/// A value, and in words where it was found.
struct FoundText {
  std::string text = {};
  std::string where = {};
};

/// The project when a job file names none: GOOGLE_CLOUD_PROJECT, GCLOUD_PROJECT, the project_id of
/// the key in `credentials_file`, then of the key that GOOGLE_APPLICATION_CREDENTIALS names, then
/// gcloud's own: CLOUDSDK_CORE_PROJECT, core/project of its active configuration (under
/// CLOUDSDK_CONFIG or ~/.config/gcloud); then that of a machine of Google's, as google-auth has it.
/// `credentials_file`: the job file's own; empty if it names none.
std::optional<FoundText> DefaultProject(const Defaults& defaults,
                                        const std::string& credentials_file = {});

/// The value of `key` in `section` of an INI file as gcloud writes it ("[core]", "project = x").
std::optional<std::string> IniValue(std::string_view text, std::string_view section,
                                    std::string_view key);

}  // namespace jobman::config
