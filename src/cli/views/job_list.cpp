#include "cli/views/job_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>

#include "cli/job_order.hpp"
#include "cli/views/job_window.hpp"
#include "cli/views/words.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/base/time.hpp"
#include "jobman/ui/table.hpp"

namespace jobman::cli::views {
namespace {

using ports::JobSummary;

/// Jobs that are over and hold nothing are history.
ui::Tone AgeTone(const JobSummary& job) {
  return job.familiar == "DEAD" ? ui::Tone::kDim : ui::Tone::kPlain;
}

bool IsWaiting(const JobSummary& job) {
  return job.search && job.familiar == "QUEUEING";
}

/// Since when the job waits for a slice, over all its requests; otherwise since it is in its state.
core::TimePoint SinceOf(const JobSummary& job) {
  return IsWaiting(job) ? job.search->since : job.since;
}

/// The row has the job's name, which its slice has, too: "slice train-000042-a1 is being created"
/// is "being created".
std::string WithoutSlice(const std::string& why) {
  for (const std::string_view head : {"queued resource ", "slice "}) {
    if (!why.starts_with(head)) continue;
    constexpr std::string_view kIs = " is ";
    const std::size_t end = why.find(' ', head.size());
    const bool is = end != std::string::npos && why.compare(end, kIs.size(), kIs) == 0;
    return is ? why.substr(end + kIs.size()) : why;
  }
  return why;
}

/// What most jobs wait for, in words that fit into a row: the cloud's are long, and `why` has them.
std::string_view BriefText(base::Reason reason) {
  switch (reason) {
    case base::Reason::kStockout:
      return "no capacity";
    case base::Reason::kQuota:
      return "the quota is used up";
    case base::Reason::kRateLimit:
      return "too many requests";
    default:
      return {};
  }
}

/// The last decision; what it said of the wait when that began is counted as it is now.
std::string WhyOf(const JobSummary& job, core::TimePoint now) {
  std::string tries;
  if (IsWaiting(job) && job.search->tries > 1) tries = fmt::format("; {} tries", job.search->tries);
  if (!job.pause || job.pause->for_maintenance) {
    if (job.why.empty() && !tries.empty()) return tries.substr(2);
    return WithoutSlice(job.why) + tries;
  }
  const base::Error& error = job.pause->error;
  std::string_view what = BriefText(error.reason);
  if (what.empty()) {
    what = error.message;
    if (what.ends_with('.')) what.remove_suffix(1);
    if (!job.why.starts_with(what)) return job.why + tries;
  }
  const core::Duration left = job.pause->until - now;
  const bool later = left > core::Duration{0};
  const std::string when = later ? base::FormatDuration(left) : "now";
  constexpr std::string_view kNext = ": next try ";
  std::string why;
  why.reserve(what.size() + kNext.size() + 3 + when.size() + tries.size());
  why.append(what).append(kNext).append(later ? "in " : "").append(when).append(tries);
  return why;
}

// Member by member: a braced list would copy its values, and there are many rows.
base::OrderedJson RowToJson(const JobSummary& job) {
  base::OrderedJson row;
  row["id"] = job.id.value;
  row["name"] = job.name;
  row["user"] = job.user;
  row["accelerator"] = job.accelerator;
  row["zone"] = job.zone;
  row["host0"] = job.host0;
  row["state"] = job.state;
  row["status"] = job.status;
  row["familiar"] = job.familiar;
  row["attempt"] = job.attempt;
  row["since"] = base::FormatRfc3339(job.since);
  row["why"] = job.why;
  row["waits_since"] = TimeJson(IsWaiting(job) ? std::optional(job.search->since) : std::nullopt);
  row["tries"] = IsWaiting(job) ? job.search->tries : 0;
  row["labels"] = job.labels;
  return row;
}

/// A column, and where its text comes from.
struct Part {
  ui::Column column;
  std::function<ui::Cell(const JobSummary& job)> cell;
  /// Before the text in a heading, if all jobs have the same; nothing: always a column.
  std::optional<std::string> shared = {};
};

/// The text of its own that a row has with --details; nothing: no host wrote anything.
std::optional<ui::Cell> OutputOf(const JobList& view, const JobSummary& job) {
  if (!view.outputs || !view.outputs->contains(job.id)) return std::nullopt;
  return ui::Cell(view.outputs->at(job.id), HasEnded(job) ? ui::Tone::kDim : ui::Tone::kPlain);
}

std::vector<Part> PartsOf(const JobList& view, const ui::Style& style) {
  // The familiar word takes eleven columns, too many for a narrow terminal.
  const bool with_familiar = style.width == 0 || style.width >= 120;
  const auto text = [](std::string JobSummary::*member) {
    return [member](const JobSummary& job) { return ui::Cell(OrDash(job.*member)); };
  };
  std::vector<Part> parts = {
      {{.header = "ID"}, [](const JobSummary& job) { return ui::Cell(core::FormatJobId(job.id)); }},
      {{.header = "USER", .flexible = 2, .drop = 2}, text(&JobSummary::user), "user "},
      {{.header = "NAME", .flexible = 3, .enough = 32}, text(&JobSummary::name)},
      {{.header = "ACCELERATOR", .drop = 3}, text(&JobSummary::accelerator), ""},
      {{.header = "ZONE", .drop = 4}, text(&JobSummary::zone), ""},
      {{.header = "HOST0", .drop = 1}, text(&JobSummary::host0), "host 0 "},
      {{.header = "STATUS"},
       [with_familiar](const JobSummary& job) {
         const bool adds = with_familiar && job.status == job.state;
         return ui::Cell(StatusText(job.status, adds ? job.familiar : ""), ToneOfState(job.status));
       }},
      {{.header = "SINCE"},
       [&view](const JobSummary& job) {
         return ui::Cell(Ago(SinceOf(job), view.now), AgeTone(job));
       }},
      {{.header = "WHY", .flexible = 1, .enough = 50},
       [&view](const JobSummary& job) {
         return ui::Cell(OrDash(WhyOf(job, view.now)), AgeTone(job));
       }},
  };
  // Where the width is limited it is below the row: beside WHY little of it could be seen.
  if (view.outputs && style.width == 0) {
    parts.push_back({{.header = "LAST OUTPUT"},
                     [&view](const JobSummary& job) { return OutputOf(view, job).value_or("-"); }});
  }
  return parts;
}

bool IsShared(const Part& part, const std::vector<JobSummary>& jobs) {
  if (!part.shared || jobs.size() < 2) return false;
  const std::string first = part.cell(jobs.front()).text;
  return std::all_of(jobs.begin(), jobs.end(),
                     [&](const JobSummary& job) { return part.cell(job).text == first; });
}

/// What all jobs have in common is said once: "all 30 jobs: user ann, v4-32, us-central2-b".
std::string TakeShared(std::vector<Part>& parts, const std::vector<JobSummary>& jobs) {
  std::vector<std::string> said;
  std::erase_if(parts, [&](const Part& part) {
    if (!IsShared(part, jobs)) return false;
    const std::string text = part.cell(jobs.front()).text;
    if (text != "-") said.push_back(*part.shared + text);
    return true;
  });
  if (said.empty()) return {};
  return fmt::format("all {} jobs: {}\n", jobs.size(), base::Join(said, ", "));
}

std::string CutToWidth(const std::string& line, const ui::Style& style) {
  return style.width > 0 ? ui::Truncate(line, style.width, style.utf8) : line;
}

}  // namespace

std::string RenderText(const JobList& view, const ui::Style& style) {
  if (view.jobs.empty()) return {};
  ui::Style fit = style;
  if (view.wide) fit.width = 0;
  std::vector<Part> parts = PartsOf(view, fit);
  std::string text;
  if (fit.width > 0 && view.header) text = TakeShared(parts, view.jobs);
  if (!text.empty())
    text =
        ui::Paint(ui::Tone::kDim, ui::Clean(text.substr(0, text.size() - 1), style.utf8), style) +
        "\n";
  std::vector<ui::Column> columns;
  for (const Part& part : parts) columns.push_back(part.column);
  ui::Table table(std::move(columns));
  const int taken = (text.empty() ? 0 : 1) + (view.header ? 1 : 0) + 1;
  const int height = view.height > 0 ? view.height : std::numeric_limits<int>::max();
  const bool below = view.outputs && fit.width > 0;
  const JobWindow window = WindowOf(view.jobs, height - taken, below ? 2 : 1);
  for (const JobSummary* const job : window.rows) {
    std::vector<ui::Cell> cells;
    cells.reserve(parts.size());
    for (const Part& part : parts) cells.push_back(part.cell(*job));
    table.AddRow(std::move(cells));
    const auto output = below ? OutputOf(view, *job) : std::nullopt;
    if (output) table.AddNote(*output);
  }
  text = text.empty() ? table.Render(fit, view.header) : text + table.Render(fit, view.header);
  if (!window.rest.empty()) text += CutToWidth(window.rest, style) + "\n";
  return text;
}

std::string RenderQuiet(const JobList& view) {
  std::string text;
  for (const JobSummary& job : view.jobs) text += core::FormatJobId(job.id) + "\n";
  return text;
}

base::OrderedJson ToJson(const JobList& view) {
  base::OrderedJson jobs = base::OrderedJson::array();
  for (const JobSummary& job : view.jobs) jobs.push_back(RowToJson(job));
  return {{"jobs", std::move(jobs)}};
}

}  // namespace jobman::cli::views
