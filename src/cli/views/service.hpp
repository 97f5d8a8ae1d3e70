#pragma once

#include <string>

#include "jobman/base/json.hpp"
#include "jobman/client/service.hpp"
#include "jobman/ui/text.hpp"

namespace jobman::cli::views {

/// What `controller install` writes, or would write.
struct Service {
  client::ServicePlan plan = {};
};
std::string RenderText(const Service& view, const ui::Style& style);
/// Only the path of the file.
std::string RenderQuiet(const Service& view);
base::OrderedJson ToJson(const Service& view);

/// "jobman.service, a unit of systemd", "cron".
std::string ServiceWords(const client::ServicePlan& plan);

}  // namespace jobman::cli::views
