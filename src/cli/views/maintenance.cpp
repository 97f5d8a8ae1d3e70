#include "cli/views/maintenance.hpp"

#include <fmt/format.h>

#include "cli/views/error.hpp"

namespace jobman::cli::views {

std::string RenderText(const Maintenance& view, const ui::Style& /*style*/) {
  std::string text;
  for (const client::MaintenanceAsked& one : view.nodes) {
    if (!one.refused) {
      text += fmt::format("maintenance of node {} begins; progress: jobman why {}\n", one.node,
                          core::FormatJobId(view.job));
      continue;
    }
    text += fmt::format("no maintenance of node {}: {}\n", one.node, one.refused->ToString());
    if (!one.refused->hint.empty()) text += "  " + one.refused->hint + "\n";
  }
  return text;
}

std::string RenderQuiet(const Maintenance& view) {
  std::string text;
  for (const client::MaintenanceAsked& one : view.nodes) {
    if (!one.refused) text += one.node + "\n";
  }
  return text;
}

base::OrderedJson ToJson(const Maintenance& view) {
  base::OrderedJson nodes = base::OrderedJson::array();
  for (const client::MaintenanceAsked& one : view.nodes) {
    base::OrderedJson node = {{"node", one.node}};
    node["error"] = one.refused ? ToJson(*one.refused) : base::OrderedJson();
    nodes.push_back(std::move(node));
  }
  return {{"job", view.job.value}, {"nodes", nodes}};
}

}  // namespace jobman::cli::views
