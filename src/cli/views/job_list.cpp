#include "cli/views/job_list.hpp"

#include "cli/views/words.hpp"
#include "jobman/base/time.hpp"
#include "jobman/ui/table.hpp"

namespace jobman::cli::views {
namespace {

// Member by member: a braced list would copy its values, and there are many rows.
base::OrderedJson ToJson(const ports::JobSummary& job) {
  base::OrderedJson row;
  row["id"] = job.id.value;
  row["name"] = job.name;
  row["user"] = job.user;
  row["accelerator"] = job.accelerator;
  row["zone"] = job.zone;
  row["host0"] = job.host0;
  row["state"] = job.state;
  row["familiar"] = job.familiar;
  row["attempt"] = job.attempt;
  row["since"] = base::FormatRfc3339(job.since);
  row["why"] = job.why;
  row["labels"] = job.labels;
  return row;
}

}  // namespace

std::string RenderText(const JobList& view, const ui::Style& style) {
  ui::Table table({{.header = "ID"},
                   {.header = "USER", .flexible = true, .drop = 1},
                   {.header = "NAME", .flexible = true},
                   {.header = "ACCELERATOR"},
                   {.header = "ZONE"},
                   {.header = "HOST0", .drop = 2},
                   {.header = "STATUS"},
                   {.header = "SINCE"},
                   {.header = "WHY", .flexible = true}});
  // The familiar word takes eleven columns, too many for a narrow terminal.
  const bool narrow = style.width > 0 && style.width < 120;
  for (const ports::JobSummary& job : view.jobs) {
    table.AddRow({core::FormatJobId(job.id),
                  OrDash(job.user),
                  job.name,
                  OrDash(job.accelerator),
                  OrDash(job.zone),
                  OrDash(job.host0),
                  {StatusText(job.state, narrow ? "" : job.familiar), ToneOfState(job.state)},
                  Ago(job.since, view.now),
                  job.why});
  }
  return table.Render(style);
}

std::string RenderQuiet(const JobList& view) {
  std::string text;
  for (const ports::JobSummary& job : view.jobs) text += core::FormatJobId(job.id) + "\n";
  return text;
}

base::OrderedJson ToJson(const JobList& view) {
  base::OrderedJson jobs = base::OrderedJson::array();
  for (const ports::JobSummary& job : view.jobs) jobs.push_back(ToJson(job));
  return {{"jobs", std::move(jobs)}};
}

}  // namespace jobman::cli::views
