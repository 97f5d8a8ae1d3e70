#pragma once

#include <string>
#include <vector>

#include "jobman/base/json.hpp"
#include "jobman/client/maintain.hpp"
#include "jobman/ui/text.hpp"

namespace jobman::cli::views {

/// What `maintain` began.
struct Maintenance {
  core::JobId job = {};
  std::vector<client::MaintenanceAsked> nodes = {};
};

/// "maintenance of node train-000042-a1 begins", or why not, a line for each node.
std::string RenderText(const Maintenance& view, const ui::Style& style);
/// The nodes whose maintenance begins, a line each.
std::string RenderQuiet(const Maintenance& view);
/// {"job": 42, "nodes": [{"node": "train-000042-a1", "error": null}]}
base::OrderedJson ToJson(const Maintenance& view);

}  // namespace jobman::cli::views
