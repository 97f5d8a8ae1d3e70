#include "sim/command/report.hpp"

#include <fmt/format.h>

#include <iostream>

#include "jobman/base/clean.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::sim {

namespace {

/// The member for people: names and errors may hold anything.
std::string Shown(const Json& object, std::string_view key) {
  return base::CleanLine(Text(object, key));
}

/// Of an error, which may have several lines.
std::string Lines(const std::string& text) {
  std::vector<std::string> lines = base::Split(text, '\n');
  for (std::string& line : lines) line = base::CleanLine(line);
  return base::Join(lines, "\n");
}

std::string NodeLine(const Json& node) {
  int running = 0;
  const Json& hosts = Member(node, "hosts");
  for (const Json& host : hosts) running += Flag(host, "running") ? 1 : 0;
  std::string more;
  if (!Shown(node, "health").empty()) more += ", " + Shown(node, "health");
  if (const std::string queued = Shown(node, "queued_resource"); !queued.empty()) {
    more += ", of " + queued;
  }
  if (Flag(node, "foreign")) more += ", somebody else's";
  return fmt::format("  {:<28} {:<16} {:<12} {:<10} {}/{} hosts up{}\n", Shown(node, "id"),
                     Shown(node, "zone"), Shown(node, "type"), Shown(node, "state"), running,
                     hosts.size(), more);
}

std::string QueuedLine(const Json& queued) {
  const auto nodes = Number(queued, "nodes");
  const std::string type =
      nodes > 1 ? fmt::format("{} x {}", nodes, Shown(queued, "type")) : Shown(queued, "type");
  return fmt::format("  {:<28} {:<16} {:<12} {}{}\n", Shown(queued, "id"), Shown(queued, "zone"),
                     type, Shown(queued, "state"),
                     Flag(queued, "foreign") ? ", somebody else's" : "");
}

/// Resources that the simulator made itself are not leaks.
Json WithoutForeign(Json status) {
  for (const char* list : {"nodes", "queued_resources"}) {
    Json ours = Json::array();
    for (const Json& entry : Member(status, list)) {
      if (!Flag(entry, "foreign")) ours.push_back(entry);
    }
    status[list] = std::move(ours);
  }
  return status;
}

std::string Ownerless(const Json& status) {
  std::string text;
  for (const Json& entry : Member(status, "ownerless")) text += "  " + Shown(entry, "name") + "\n";
  return text.empty() ? text : "created without jobman labels:\n" + text;
}

std::string Rates(const Json& status) {
  const Json& rates = Member(status, "requests");
  const Json& mean = Member(rates, "mean_per_minute");
  return fmt::format("requests: {}, {:.1f} a minute, {} in the busiest one\n",
                     Number(rates, "total"), mean.is_number() ? mean.get<double>() : 0.0,
                     Number(rates, "peak_per_minute"));
}

std::string Lists(const Json& status) {
  std::string text;
  const Json& nodes = Member(status, "nodes");
  const Json& queued = Member(status, "queued_resources");
  if (!nodes.empty()) text += "nodes:\n";
  for (const Json& node : nodes) text += NodeLine(node);
  if (!queued.empty()) text += "queued resources:\n";
  for (const Json& entry : queued) text += QueuedLine(entry);
  return text;
}

}  // namespace

std::string LeakReport(const Json& report) {
  std::string text = Lists(WithoutForeign(report));
  for (const Json& process : Member(report, "processes")) {
    text += "  still running: " + base::CleanLine(process.get<std::string>()) + "\n";
  }
  text = text.empty() ? "nothing was left: no node, no queued resource, no process\n"
                      : "left behind when the simulator went down:\n" + text;
  return text + Ownerless(report) + Rates(report);
}

void PrintError(const base::Error& error) {
  std::cerr << "jobman-sim: " << Lines(error.ToString()) << "\n";
  if (!error.hint.empty()) std::cerr << "  " << Lines(error.hint) << "\n";
}

int ExitWith(const base::Error& error) {
  PrintError(error);
  return error.code == base::Code::kNotFound ? 3 : 1;
}

std::string StatusText(const Json& status) {
  std::string text =
      fmt::format("{} (process {}, hosts on port {}, sandbox {}, since {})\n",
                  Shown(status, "endpoint"), Number(status, "pid"), Number(status, "ssh_port"),
                  Shown(status, "sandbox"), Shown(status, "started"));
  const std::string lists = Lists(status);
  text += lists.empty() ? "no nodes, no queued resources\n" : lists;
  for (const Json& fault : Member(status, "faults")) {
    text += fmt::format("the next {} of {}: {}\n", base::Plural(Number(fault, "times"), "call"),
                        Shown(fault, "method"), Shown(fault, "error"));
  }
  if (const auto lines = Number(status, "script_lines_to_come"); lines > 0) {
    text += fmt::format("script: {} to come\n", base::Plural(lines, "line"));
  }
  return text + Ownerless(status) + Rates(status);
}

}  // namespace jobman::sim
