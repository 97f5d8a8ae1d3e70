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

/// What the line is about: a state, a host, a slice, the user's command.
ui::Cell WhatOf(const ports::Event& event, bool details) {
  if (event.kind == "state") return {event.subject, ToneOfState(event.subject)};
  if (event.kind == "hook" && !details) return {"hook"};
  return {event.kind == "note" ? "" : event.subject};
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
  std::vector<ui::Column> columns = {
      {.header = "TIME (UTC)"}, {.header = "ATTEMPT", .right = true}, {.header = "WHAT"}};
  if (view.details) columns.insert(columns.end() - 1, {.header = "KIND"});
  if (name_job) columns.insert(columns.begin(), {.header = "JOB"});
  columns.push_back({.header = "TEXT", .wraps = true});
  ui::Table table(std::move(columns));
  for (const ports::Event& event : view.events) {
    std::vector<ui::Cell> row = {{base::FormatDateTime(event.at), ui::Tone::kDim},
                                 std::to_string(event.attempt),
                                 WhatOf(event, view.details),
                                 event.text};
    if (view.details) row.insert(row.end() - 2, event.kind);
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
