#pragma once

#include <string>

#include "jobman/base/json.hpp"
#include "jobman/ui/text.hpp"

namespace jobman::cli::views {

/// `jobman version`.
struct Version {
  std::string number = JOBMAN_VERSION;  ///< from CMake's project()
  std::string compiler = __VERSION__;
};
std::string RenderText(const Version& view, const ui::Style& style);
/// Only the number.
std::string RenderQuiet(const Version& view);
base::OrderedJson ToJson(const Version& view);

}  // namespace jobman::cli::views
