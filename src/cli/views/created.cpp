#include "cli/views/created.hpp"

#include <fmt/format.h>

#include "cli/views/words.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::cli::views {

namespace {

/// What becomes of the slice in the end.
std::string EndText(const Created::Row& row) {
  if (row.existing) return "on node " + row.slice + ", which stays when the job is over";
  const core::WhenDoneSpec& when = row.when_done;
  if (when.keep) {
    return fmt::format("its slice is kept for {} after its end", base::FormatDuration(*when.keep));
  }
  if (when.action == core::SliceUse::kDelete) return "its slice is deleted at its end";
  return "its slice is kept after its end; to give it back: jobman delete " +
         core::FormatJobId(row.id);
}

}  // namespace

std::string RenderText(const Created& view, const ui::Style&) {
  std::string text;
  for (const Created::Row& row : view.rows) {
    const std::string hosts = row.hosts > 0 ? ", " + base::Plural(row.hosts, "host") : "";
    const std::string element = row.element.empty() ? "" : "; " + row.element;
    text += fmt::format("Created job {} ({}): {}{}, in {}{}\n", core::FormatJobId(row.id), row.name,
                        row.accelerator, hosts, row.zone, element);
    if (!row.code.empty()) text += "  code: " + CodeText(row.code) + "\n";
    text += "  " + EndText(row) + "\n";
    if (row.endless) text += "  tried again without limit until it succeeds\n";
  }
  const bool one = view.rows.size() == 1;
  return text + fmt::format("  to follow {}: jobman logs -f {}\n", one ? "it" : "one",
                            one ? core::FormatJobId(view.rows[0].id) : "NUMBER");
}

std::string RenderQuiet(const Created& view) {
  std::string text;
  for (const Created::Row& row : view.rows) text += core::FormatJobId(row.id) + "\n";
  return text;
}

base::OrderedJson ToJson(const Created& view) {
  base::OrderedJson jobs = base::OrderedJson::array();
  for (const Created::Row& row : view.rows) {
    jobs.push_back({{"id", row.id.value},
                    {"name", row.name},
                    {"accelerator", row.accelerator},
                    {"zone", row.zone},
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
