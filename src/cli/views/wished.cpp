#include "cli/views/wished.hpp"

#include <fmt/format.h>

#include "cli/views/error.hpp"
#include "cli/wrapping.hpp"

namespace jobman::cli::views {

std::string RenderText(const Wished& view, const ui::Style& style) {
  std::string text;
  for (const Wished::Row& row : view.rows) {
    const std::string id = core::FormatJobId(row.id);
    if (row.runs_already) {
      text += fmt::format("job {} ({}) is already {}; nothing to do\n", id, row.name, row.status);
    } else if (row.settled) {
      text += fmt::format("job {} ({}) is {}: {}\n", id, row.name, row.status, row.why);
    } else {
      text += fmt::format("{} job {} ({}); progress: jobman why {}\n", view.said, id, row.name, id);
    }
  }
  return WrapMessage(text, style.width);
}

std::string RenderQuiet(const Wished& view) {
  std::string text;
  for (const Wished::Row& row : view.rows) text += core::FormatJobId(row.id) + "\n";
  return text;
}

base::OrderedJson ToJson(const Wished& view) {
  base::OrderedJson jobs = base::OrderedJson::array();
  for (const Wished::Row& row : view.rows) {
    jobs.push_back({{"id", row.id.value},
                    {"name", row.name},
                    {"state", row.state},
                    {"status", row.status},
                    {"why", row.why}});
  }
  base::OrderedJson json = {{"jobs", jobs}};
  for (const Wished::Refused& one : view.refused)
    json["refused"].push_back({{"id", one.id.value}, {"error", ToJson(one.error)}});
  return json;
}

}  // namespace jobman::cli::views
