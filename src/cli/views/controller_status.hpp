#pragma once

#include <optional>
#include <string>

#include "jobman/base/json.hpp"
#include "jobman/base/result.hpp"
#include "jobman/ui/text.hpp"

namespace jobman::cli::views {

/// Whether a controller runs.
struct ControllerStatus {
  std::optional<std::string> holder = {};
  std::string log = {};
  std::optional<base::Error> trouble = {};  ///< why none can run
};

std::string RenderText(const ControllerStatus& view, const ui::Style& style);
std::string RenderQuiet(const ControllerStatus& view);
/// {"running": true, "holder": TEXT of controller::LeaseHolder(), "pid": NUMBER, "log": PATH};
/// without a controller no "holder", and without a known one no "pid". "error": why none can run.
base::OrderedJson ToJson(const ControllerStatus& view);

}  // namespace jobman::cli::views
