#include "cli/views/service.hpp"

#include "jobman/base/strings.hpp"

namespace jobman::cli::views {
namespace {

/// Whole lines, indented: the text may be copied, so none is folded.
std::string Indented(std::string_view text) {
  std::string indented;
  for (const std::string& line : base::Split(base::Trim(text), '\n'))
    indented += line.empty() ? "\n" : "  " + line + "\n";
  return indented;
}

}  // namespace

std::string ServiceWords(const client::ServicePlan& plan) {
  if (plan.kind == client::ServiceKind::kCron) return "cron";
  return plan.name + ", a unit of systemd";
}

std::string RenderText(const Service& view, const ui::Style&) {
  // As it is: nothing that controls a terminal is put into it (client::ServiceEnvironment()).
  std::string text = "file " + view.plan.file.string() + ":\n" + Indented(view.plan.text);
  if (!view.plan.lines.empty()) text += "added to the crontab:\n" + Indented(view.plan.lines);
  return text;
}

std::string RenderQuiet(const Service& view) {
  return view.plan.file.string() + "\n";
}

base::OrderedJson ToJson(const Service& view) {
  const bool cron = view.plan.kind == client::ServiceKind::kCron;
  base::OrderedJson json = {{"kind", cron ? "cron" : "systemd"},
                            {"file", view.plan.file.string()},
                            {"text", view.plan.text}};
  if (cron)
    json["crontab_lines"] = view.plan.lines;
  else
    json["unit"] = view.plan.name;
  json["was_installed"] = view.plan.installed;
  return json;
}

}  // namespace jobman::cli::views
