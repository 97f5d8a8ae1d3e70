#include "cli/views/folded_logs.hpp"

namespace jobman::cli::views {

std::string RenderText(const FoldedLogs& view, const ui::Style& /*style*/) {
  return view.folding.Render();
}

std::string RenderQuiet(const FoldedLogs& view) {
  return view.folding.Render();
}

base::OrderedJson ToJson(const FoldedLogs& view) {
  base::OrderedJson groups = base::OrderedJson::array();
  for (const ui::Folding::Group& group : view.folding.Groups())
    groups.push_back({{"hosts", group.hosts}, {"text", group.text}});
  return {{"job", view.job.value},
          {"attempt", view.attempt},
          {"stage", view.stage},
          {"groups", std::move(groups)}};
}

}  // namespace jobman::cli::views
