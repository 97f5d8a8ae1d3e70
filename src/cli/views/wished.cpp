#include "cli/views/wished.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/views/error.hpp"
#include "cli/wrapping.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::cli::views {
namespace {

/// Each of so many jobs has a line of its own.
constexpr std::ptrdiff_t kMostLines = 3;

bool IsUnderWay(const Wished::Row& row) {
  return !row.settled && !row.runs_already && !row.at_next_attempt && row.ends_first.empty();
}

/// "deleting 30 jobs, 12-41; progress: jobman list 'sweep-*'"
std::string UnderWayText(const Wished& view) {
  std::vector<int> numbers;
  for (const Wished::Row& row : view.rows) {
    if (IsUnderWay(row)) numbers.push_back(static_cast<int>(row.id.value));
  }
  std::sort(numbers.begin(), numbers.end());
  return fmt::format("{} {} jobs, {}; progress: jobman list{}\n", view.said, numbers.size(),
                     base::FormatRanges(numbers),
                     view.under_way.empty() ? "" : " " + view.under_way);
}

}  // namespace

std::string RenderText(const Wished& view, const ui::Style& style) {
  const bool together = std::count_if(view.rows.begin(), view.rows.end(), IsUnderWay) > kMostLines;
  std::string text;
  for (const Wished::Row& row : view.rows) {
    if (together && IsUnderWay(row)) continue;
    const std::string id = core::FormatJobId(row.id);
    if (row.runs_already) {
      text += fmt::format("job {} ({}) is already {}; nothing to do\n", id, row.name, row.status);
    } else if (row.at_next_attempt) {
      text += fmt::format(
          "job {} ({}) goes on; its next attempt uses the change. To begin it now: jobman reboot "
          "{}\n",
          id, row.name, id);
    } else if (!row.ends_first.empty()) {
      text += fmt::format(
          "job {} ({}) ends task {} first, and takes no other; to stop that, too: jobman cancel "
          "{}\n",
          id, row.name, row.ends_first, id);
    } else if (row.settled) {
      text += fmt::format("job {} ({}) is {}: {}\n", id, row.name, row.status, row.why);
    } else {
      text += fmt::format("{} job {} ({}); progress: jobman why {}\n", view.said, id, row.name, id);
    }
  }
  if (together) text += UnderWayText(view);
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
