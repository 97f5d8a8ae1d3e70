#include "cli/views/created.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/slice_price.hpp"
#include "cli/views/words.hpp"
#include "cli/wrapping.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::cli::views {

namespace {

/// What becomes of the slice in the end, or of those of several jobs; `jobs` names them.
std::string EndText(const Created::Row& row, const std::string& jobs, bool several) {
  const std::string end = several ? "their end" : "its end";
  const std::string slice = several ? "their slices are " : "its slice is ";
  if (row.existing) {
    return fmt::format("on node {}, which stays when {} over", row.slice,
                       several ? "the jobs are" : "the job is");
  }
  if (row.idle) {
    return fmt::format(
        "{}given back after {} without a task; to give {} back now: jobman delete {}", slice,
        base::FormatDuration(*row.idle), several ? "them" : "it", jobs);
  }
  if (row.holds) {
    return fmt::format("{}held until {} cancelled; to give {} back: jobman delete {}", slice,
                       several ? "the jobs are" : "the job is", several ? "them" : "it", jobs);
  }
  const core::WhenDoneSpec& when = row.when_done;
  if (when.keep) {
    return fmt::format("{}kept for {} after {}", slice, base::FormatDuration(*when.keep), end);
  }
  if (when.action == core::SliceUse::kDelete) return slice + "deleted at " + end;
  return fmt::format("{}kept after {}; to give {} back: jobman delete {}", slice, end,
                     several ? "them" : "it", jobs);
}

std::string Notes(const Created::Row& row, const std::string& jobs, bool several) {
  std::string text;
  if (!row.code.empty()) text += "  code: " + CodeText(row.code) + "\n";
  if (!row.serves.empty()) text += "  runs " + row.serves + "\n";
  text += "  " + EndText(row, jobs, several) + "\n";
  if (!row.endless) return text;
  return text + "  tried again without limit until " + (several ? "they succeed" : "it succeeds") +
         "\n";
}

/// The notes on several jobs; empty if each needs its own.
std::string CommonNotes(const Created& view) {
  if (view.rows.size() < 2) return {};
  std::string notes = Notes(view.rows.front(), view.all, true);
  const bool same = std::all_of(view.rows.begin(), view.rows.end(), [&](const auto& row) {
    return Notes(row, view.all, true) == notes;
  });
  return same ? notes : std::string{};
}

/// What to type next. Jobs without a command print nothing that could be followed.
std::string NextText(const Created& view) {
  const bool workers = std::all_of(view.rows.begin(), view.rows.end(),
                                   [](const Created::Row& row) { return !row.serves.empty(); });
  if (workers) return "to see what becomes of it: jobman worker list " + view.all;
  const bool only_hold = std::all_of(view.rows.begin(), view.rows.end(),
                                     [](const Created::Row& row) { return row.holds; });
  if (only_hold)
    return "to wait until the hosts are ready: jobman wait " + view.all + " --for running";
  return fmt::format("to follow {}: jobman logs -f {}", view.rows.size() == 1 ? "it" : "them",
                     view.all);
}

}  // namespace

std::string RenderText(const Created& view, const ui::Style& style) {
  const std::string common = CommonNotes(view);
  std::string text;
  for (const Created::Row& row : view.rows) {
    const std::string hosts = row.hosts > 0 ? ", " + base::Plural(row.hosts, "host") : "";
    const std::string element = row.element.empty() ? "" : "; " + row.element;
    text +=
        fmt::format("Created job {} ({}): {}{}, in {}{}{}\n", core::FormatJobId(row.id), row.name,
                    row.accelerator, hosts, row.zone, PriceSuffix(row.per_hour), element);
    if (common.empty()) text += Notes(row, core::FormatJobId(row.id), false);
  }
  text += common + "  " + NextText(view) + "\n";
  return WrapMessage(text, style.width);
}

std::string RenderQuiet(const Created& view) {
  std::string text;
  for (const Created::Row& row : view.rows) text += core::FormatJobId(row.id) + "\n";
  return text;
}

base::OrderedJson ToJson(const Created& view) {
  base::OrderedJson jobs = base::OrderedJson::array();
  for (const Created::Row& row : view.rows) {
    jobs.push_back(
        {{"id", row.id.value},
         {"name", row.name},
         {"accelerator", row.accelerator},
         {"zone", row.zone},
         {"usd_per_hour", row.per_hour ? base::OrderedJson(*row.per_hour) : base::OrderedJson()},
         {"slice", row.slice}});
    if (!row.code.empty()) jobs.back()["code"] = CodeJson(row.code);
  }
  return {{"jobs", jobs}};
}

std::string RenderText(const DryRun& view, const ui::Style&) {
  std::string text;
  for (const DryRun::Request& request : view.requests) {
    text += fmt::format("# {}: a dry run; nothing was sent\n", request.file);
    if (!request.code.empty()) text += "# code: " + CodeText(request.code) + "\n";
    text += fmt::format("{} {}\n", request.method, request.url);
    if (!request.body.is_null()) text += request.body.dump(2) + "\n";
  }
  return text;
}

std::string RenderQuiet(const DryRun&) {
  return {};
}

base::OrderedJson ToJson(const DryRun& view) {
  base::OrderedJson requests = base::OrderedJson::array();
  for (const DryRun::Request& request : view.requests) {
    requests.push_back({{"file", request.file},
                        {"method", request.method},
                        {"url", request.url},
                        {"body", base::OrderedJson::parse(request.body.dump())}});
    if (!request.code.empty()) requests.back()["code"] = CodeJson(request.code);
  }
  return {{"requests", requests}};
}

}  // namespace jobman::cli::views
