#include "cli/views/job_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/slice_price.hpp"
#include "cli/wrapping.hpp"
#include "jobman/core/spec_json.hpp"

namespace jobman::cli::views {
namespace {

base::OrderedJson ToJson(const config::Problem& problem) {
  return {{"file", problem.file},     {"line", problem.line},
          {"column", problem.column}, {"message", problem.message},
          {"hint", problem.hint},     {"reason", base::ReasonName(problem.reason)}};
}

base::OrderedJson ToJson(const std::vector<config::Problem>& problems) {
  base::OrderedJson json = base::OrderedJson::array();
  for (const config::Problem& problem : problems) json.push_back(ToJson(problem));
  return json;
}

std::string ValidLine(const CheckedFiles::File& file, const ui::Style& style) {
  const std::string name = ui::Clean(file.name, style.utf8);
  const std::string valid = ui::Paint(ui::Tone::kGood, "valid", style);
  if (file.jobs.size() == 1)
    return fmt::format("{}: job {} is {}{}\n", name, file.jobs.front(), valid,
                       PriceSuffix(file.per_hour));
  return fmt::format("{}: {} jobs are {}: {} {} {}{}\n", name, file.jobs.size(), valid,
                     file.jobs.front(), file.jobs.size() == 2 ? "and" : "to", file.jobs.back(),
                     PriceSuffix(file.per_hour));
}

}  // namespace

bool CheckedFiles::AllGood() const {
  return std::all_of(files.begin(), files.end(),
                     [](const File& file) { return file.problems.empty(); });
}

std::string RenderText(const CheckedFiles& view, const ui::Style& style) {
  std::string text;
  for (const CheckedFiles::File& file : view.files) {
    for (const config::Problem& problem : file.problems)
      text += WrapMessage(ui::CleanLines(config::RenderProblem(problem)), style.width);
    for (const config::Problem& warning : file.warnings)
      text += WrapMessage(ui::CleanLines(config::RenderWarning(warning)), style.width);
    if (file.problems.empty()) text += ValidLine(file, style);
  }
  return text;
}

std::string RenderQuiet(const CheckedFiles& view) {
  std::string text;
  for (const CheckedFiles::File& file : view.files)
    if (!file.problems.empty()) text += file.name + "\n";
  return text;
}

base::OrderedJson ToJson(const CheckedFiles& view) {
  base::OrderedJson files = base::OrderedJson::array();
  for (const CheckedFiles::File& file : view.files) {
    files.push_back(
        {{"file", file.name},
         {"valid", file.problems.empty()},
         {"job", file.jobs.empty() ? "" : file.jobs.front()},
         {"jobs", file.jobs},
         {"usd_per_hour", file.per_hour ? base::OrderedJson(*file.per_hour) : base::OrderedJson()},
         {"problems", ToJson(file.problems)},
         {"warnings", ToJson(file.warnings)}});
  }
  return {{"files", std::move(files)}};
}

std::string RenderText(const ResolvedFile& view, const ui::Style& /*style*/) {
  return config::ResolvedYaml(view.loaded, view.origins);
}

std::string RenderQuiet(const ResolvedFile& view) {
  return config::ResolvedYaml(view.loaded, false);
}

base::OrderedJson ToJson(const ResolvedFile& view) {
  base::OrderedJson json = {{"resolved", core::SpecToJson(view.loaded.spec)}};
  if (!view.origins) return json;
  base::OrderedJson origins = base::OrderedJson::object();
  for (const config::Origin& origin : view.loaded.origins) origins[origin.path] = origin.where;
  json["origins"] = std::move(origins);
  return json;
}

}  // namespace jobman::cli::views
