#include "sim/report.hpp"

#include <fmt/format.h>

#include "jobman/base/strings.hpp"

namespace jobman::sim {

namespace {

std::string NodeLine(const Json& node) {
  int running = 0;
  const Json& hosts = Member(node, "hosts");
  for (const Json& host : hosts) running += Flag(host, "running") ? 1 : 0;
  return fmt::format("  {:<28} {:<16} {:<12} {:<10} {}/{} hosts up\n", Text(node, "id"),
                     Text(node, "zone"), Text(node, "type"), Text(node, "state"), running,
                     hosts.size());
}

std::string QueuedLine(const Json& queued) {
  return fmt::format("  {:<28} {:<16} {:<12} {}\n", Text(queued, "id"), Text(queued, "zone"),
                     Text(queued, "type"), Text(queued, "state"));
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
  std::string text = Lists(report);
  for (const Json& process : Member(report, "processes")) {
    text += "  still running: " + process.get<std::string>() + "\n";
  }
  return text.empty() ? "nothing was left: no node, no queued resource, no process\n"
                      : "left behind when the simulator went down:\n" + text;
}

std::string StatusText(const Json& status) {
  std::string text =
      fmt::format("{} (process {}, hosts on port {}, sandbox {}, since {})\n",
                  Text(status, "endpoint"), Number(status, "pid"), Number(status, "ssh_port"),
                  Text(status, "sandbox"), Text(status, "started"));
  const std::string lists = Lists(status);
  return text + (lists.empty() ? "no nodes, no queued resources\n" : lists);
}

}  // namespace jobman::sim
