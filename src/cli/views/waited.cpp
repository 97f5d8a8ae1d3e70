#include "cli/views/waited.hpp"

#include <fmt/format.h>

#include "cli/views/words.hpp"

namespace jobman::cli::views {

std::string RenderText(const Waited& view, const ui::Style& style) {
  std::string text;
  for (const Waited::Row& row : view.rows) {
    text += StateLine(fmt::format("job {} ({}) is ", core::FormatJobId(row.id), row.name),
                      row.status, ToneOfState(row.status), row.why, style);
  }
  return text;
}

std::string RenderQuiet(const Waited& view) {
  std::string text;
  for (const Waited::Row& row : view.rows) text += core::FormatJobId(row.id) + "\n";
  return text;
}

base::OrderedJson ToJson(const Waited& view) {
  base::OrderedJson jobs = base::OrderedJson::array();
  for (const Waited::Row& row : view.rows) {
    jobs.push_back({{"id", row.id.value},
                    {"name", row.name},
                    {"state", row.state},
                    {"status", row.status},
                    {"reached", row.reached},
                    {"exit_code", row.exit_code},
                    {"why", row.why}});
  }
  return {{"jobs", jobs}};
}

}  // namespace jobman::cli::views
