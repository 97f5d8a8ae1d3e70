#include "cli/views/folded_logs.hpp"

namespace jobman::cli::views {

base::OrderedJson ToJson(const FoldedLogs& view, LargeJson& texts) {
  base::OrderedJson groups = base::OrderedJson::array();
  for (const ui::Folding::Group& group : view.folding.Groups())
    groups.push_back({{"hosts", group.hosts}, {"text", texts.Place(group.text.read)}});
  return {{"job", view.job.value},
          {"attempt", view.attempt},
          {"stage", view.stage},
          {"groups", std::move(groups)}};
}

}  // namespace jobman::cli::views
