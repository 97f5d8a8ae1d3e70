#include "sim/command/report.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <vector>

#include "jobman/base/clean.hpp"
#include "jobman/base/strings.hpp"
#include "sim/command/screen.hpp"

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

/// Name, zone, type, and the rest, which is the last cell.
using Row = std::array<std::string, 4>;

/// Columns as wide as they need to be.
std::string Table(const std::vector<Row>& rows) {
  std::array<std::size_t, 3> widths{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    text += fmt::format("  {:<{}}  {:<{}}  {:<{}}  {}\n", row[0], widths[0], row[1], widths[1],
                        row[2], widths[2], row[3]);
  }
  return text;
}

Row NodeRow(const Json& node) {
  int running = 0;
  const Json& hosts = Member(node, "hosts");
  for (const Json& host : hosts) running += Flag(host, "running") ? 1 : 0;
  std::string more;
  if (!Shown(node, "health").empty()) more += ", " + Shown(node, "health");
  if (const std::string queued = Shown(node, "queued_resource"); !queued.empty()) {
    more += ", of " + queued;
  }
  if (Flag(node, "foreign")) more += ", somebody else's";
  return {
      Shown(node, "id"), Shown(node, "zone"), Shown(node, "type"),
      fmt::format("{:<9}  {}/{} hosts up{}", Shown(node, "state"), running, hosts.size(), more)};
}

Row QueuedRow(const Json& queued) {
  const auto nodes = Number(queued, "nodes");
  const std::string type =
      nodes > 1 ? fmt::format("{} x {}", nodes, Shown(queued, "type")) : Shown(queued, "type");
  return {Shown(queued, "id"), Shown(queued, "zone"), type,
          Shown(queued, "state") + (Flag(queued, "foreign") ? ", somebody else's" : "")};
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

/// The entries of a list below its title; empty if there are none.
std::string ListOf(const std::string& title, const Json& entries, Row (*row_of)(const Json&)) {
  std::vector<Row> rows;
  for (const Json& entry : entries) rows.push_back(row_of(entry));
  return rows.empty() ? std::string() : title + ":\n" + Table(rows);
}

std::string Lists(const Json& status) {
  return ListOf("nodes", Member(status, "nodes"), NodeRow) +
         ListOf("queued resources", Member(status, "queued_resources"), QueuedRow);
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
  std::string text = "jobman-sim: " + Lines(error.ToString()) + "\n";
  if (!error.hint.empty()) text += "  " + Lines(error.hint) + "\n";
  std::cerr << FitLines(text, ColumnsOf(STDERR_FILENO));
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
