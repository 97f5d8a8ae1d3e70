#include "cli/views/forward_list.hpp"

#include <fmt/format.h>

#include "cli/views/forwarded.hpp"
#include "cli/views/words.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/controller/controller.hpp"
#include "jobman/ui/table.hpp"

namespace jobman::cli::views {
namespace {

using client::BackgroundForward;

Forwards PortsOf(const BackgroundForward& forward) {
  return {.job = forward.request.job, .host = forward.request.host, .ports = forward.request.ports};
}

/// "4711", or where else it runs.
std::string ProcessText(const BackgroundForward& forward) {
  if (forward.here) return std::to_string(client::PidOf(forward));
  return controller::HolderText(forward.process);
}

base::OrderedJson ForwardJson(const BackgroundForward& forward) {
  base::OrderedJson json = {{"job", forward.request.job.value}, {"name", forward.job_name}};
  json["host"] = forward.request.host;
  json["forwards"] = ToJson(PortsOf(forward))["forwards"];
  json["process"] = client::PidOf(forward);
  json["here"] = forward.here;
  json["since"] = TimeJson(forward.since);
  return json;
}

}  // namespace

std::string ForwardText(const BackgroundForward& forward) {
  std::vector<std::string> addresses;
  for (const client::ForwardedPort& port : forward.request.ports)
    addresses.push_back(LocalAddress(port));
  return fmt::format("{} (job {})", base::Join(addresses, ", "),
                     core::FormatJobId(forward.request.job));
}

std::string RenderText(const ForwardList& view, const ui::Style& style) {
  ui::Table table({{.header = "ADDRESS"},
                   {.header = "JOB"},
                   {.header = "NAME", .flexible = 1},
                   {.header = "HOST", .right = true},
                   {.header = "PORT", .right = true},
                   {.header = "FOR", .right = true},
                   {.header = "PROCESS", .flexible = 2}});
  for (const BackgroundForward& one : view.seen.running) {
    for (const client::ForwardedPort& port : one.request.ports) {
      table.AddRow({LocalAddress(port), core::FormatJobId(one.request.job), OrDash(one.job_name),
                    std::to_string(one.request.host), std::to_string(port.remote),
                    Ago(one.since, view.now), ProcessText(one)});
    }
  }
  return table.empty() ? std::string{} : table.Render(style);
}

std::string RenderQuiet(const ForwardList& view) {
  std::string text;
  for (const BackgroundForward& one : view.seen.running) text += RenderQuiet(PortsOf(one));
  return text;
}

base::OrderedJson ToJson(const ForwardList& view) {
  base::OrderedJson running = base::OrderedJson::array();
  for (const BackgroundForward& one : view.seen.running) {
    running.push_back(ForwardJson(one));
    running.back()["log"] = client::LogOf(view.paths, one).string();
  }
  base::OrderedJson ended = base::OrderedJson::array();
  for (const client::EndedForward& one : view.seen.ended) {
    ended.push_back(ForwardJson(one.forward));
    ended.back()["why"] = one.why;
  }
  return {{"forwards", std::move(running)}, {"ended", std::move(ended)}};
}

std::string RenderText(const ForwardsStopped& view, const ui::Style& style) {
  std::string text;
  for (const BackgroundForward& one : view.rows) {
    for (const std::string& line : base::Split(RenderText(PortsOf(one), style), '\n'))
      text += line.empty() ? "" : "stopped: " + line + "\n";
  }
  return text;
}

std::string RenderQuiet(const ForwardsStopped& view) {
  std::string text;
  for (const BackgroundForward& one : view.rows) text += RenderQuiet(PortsOf(one));
  return text;
}

base::OrderedJson ToJson(const ForwardsStopped& view) {
  base::OrderedJson stopped = base::OrderedJson::array();
  for (const BackgroundForward& one : view.rows) stopped.push_back(ForwardJson(one));
  return {{"stopped", std::move(stopped)}};
}

}  // namespace jobman::cli::views
