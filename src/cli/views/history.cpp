#include "cli/views/history.hpp"

#include <algorithm>

#include "cli/views/words.hpp"
#include "jobman/base/time.hpp"
#include "jobman/ui/table.hpp"

namespace jobman::cli::views {
namespace {

bool OfSeveralJobs(const History& view) {
  return std::any_of(view.events.begin(), view.events.end(), [&](const ports::Event& event) {
    return event.job != view.events.front().job;
  });
}

base::OrderedJson ToJson(const ports::Event& event) {
  return {{"number", event.number}, {"at", base::FormatRfc3339(event.at)},
          {"job", event.job.value}, {"attempt", event.attempt},
          {"kind", event.kind},     {"subject", event.subject},
          {"text", event.text}};
}

}  // namespace

std::string RenderText(const History& view, const ui::Style& style) {
  const bool name_job = OfSeveralJobs(view);
  std::vector<ui::Column> columns = {{.header = "TIME (UTC)"},
                                     {.header = "ATTEMPT", .right = true},
                                     {.header = "KIND"},
                                     {.header = "SUBJECT", .flexible = 1},
                                     {.header = "TEXT", .flexible = 1}};
  if (name_job) columns.insert(columns.begin(), {.header = "JOB"});
  ui::Table table(std::move(columns));
  for (const ports::Event& event : view.events) {
    std::vector<ui::Cell> row = {
        base::FormatDateTime(event.at),
        std::to_string(event.attempt),
        event.kind,
        {event.subject, event.kind == "state" ? ToneOfState(event.subject) : ui::Tone::kPlain},
        event.text};
    if (name_job) row.insert(row.begin(), core::FormatJobId(event.job));
    table.AddRow(std::move(row));
  }
  return table.Render(style);
}

std::string RenderQuiet(const History& view) {
  std::string text;
  for (const ports::Event& event : view.events) text += ui::Clean(event.text, false) + "\n";
  return text;
}

base::OrderedJson ToJson(const History& view) {
  base::OrderedJson events = base::OrderedJson::array();
  for (const ports::Event& event : view.events) events.push_back(ToJson(event));
  return {{"events", std::move(events)}};
}

}  // namespace jobman::cli::views
