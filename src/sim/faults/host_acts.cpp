#include <fmt/format.h>

#include <algorithm>

#include "jobman/base/strings.hpp"
#include "sim/faults/acts.hpp"

// The verb that acts on one host.

namespace jobman::sim::acts {

using base::InvalidArgument;
using base::Status;

namespace {

Status CheckAction(const std::string& action) {
  const std::vector<std::string>& known = HostActions();
  if (std::find(known.begin(), known.end(), action) != known.end()) return base::Ok();
  if (action == "full") {
    return InvalidArgument("a full disk cannot be simulated: no sandbox here bounds a host's disk",
                           "with --dir or --share on a small file system, hosts have one to fill");
  }
  return InvalidArgument("unknown action \"" + action + "\"", "known: " + base::Join(known, ", "));
}

/// The hosts meant by "3" or "*".
base::Result<std::vector<std::size_t>> HostsOf(const Node& node, const Json& index) {
  std::vector<std::size_t> hosts;
  if (index == "*") {
    for (std::size_t i = 0; i < node.hosts.size(); ++i) hosts.push_back(i);
    return hosts;
  }
  const std::string text = index.is_string() ? index.get<std::string>() : index.dump();
  const auto number = base::ParseNumber(text);
  if (!number || *number >= static_cast<std::int64_t>(node.hosts.size())) {
    return InvalidArgument(
        fmt::format("node {} has {}, numbered from 0", node.key.id,
                    base::Plural(static_cast<std::int64_t>(node.hosts.size()), "host")));
  }
  hosts.push_back(static_cast<std::size_t>(*number));
  return hosts;
}

Status CheckHost(const Node& node, std::size_t index, const std::string& action) {
  if (action == "kill") return base::Ok();
  if (action != "boot" && !node.hosts[index].running) {
    return InvalidArgument(fmt::format("host {}/{} is off", node.key.id, index),
                           "`boot` switches a killed one on again");
  }
  if (action != "boot" || node.state == NodeState::kReady) return base::Ok();
  return InvalidArgument(fmt::format("node {} is {}", node.key.id, NodeStateName(node.state)),
                         "one host boots alone only while its node is READY");
}

/// The action that undoes `action`.
std::string Remedy(const std::string& action) {
  if (action == "kill") return "boot";
  return action == "cut" || action == "hang" || action == "trickle" ? "mend" : "";
}

void ActOnHost(NodeRegistry& nodes, Node& node, std::size_t index, const std::string& action) {
  if (action == "kill") nodes.KillHost(node, index);
  if (action == "boot" && node.state == NodeState::kReady) nodes.BootHost(node, index);
  if (action == "cut") nodes.SetHostLink(node, index, Link::kCut);
  if (action == "hang") nodes.SetHostLink(node, index, Link::kHung);
  if (action == "trickle") nodes.SetHostLink(node, index, Link::kTrickling);
  if (action == "mend") nodes.SetHostLink(node, index, Link::kMended);
  if (action == "hangup") nodes.SetHostLink(node, index, Link::kBroken);
}

}  // namespace

const std::vector<std::string>& HostActions() {
  static const std::vector<std::string> kActions = {"kill",    "boot", "cut",   "hang",
                                                    "trickle", "mend", "hangup"};
  return kActions;
}

base::Result<Json> Host(Targets& targets, const Json& body, TimePoint now) {
  const std::string action = Text(body, "action");
  JM_ASSIGN_OR_RETURN(const Duration time, DurationIn(body, "for", Duration{0}));
  JM_TRY(CheckAction(action));
  const std::string remedy = Remedy(action);
  if (time > Duration{0} && remedy.empty())
    return InvalidArgument("--for goes with kill, cut, hang and trickle");
  return targets.EachNode(body, [&](Node& node) -> Status {
    JM_ASSIGN_OR_RETURN(const std::vector<std::size_t> hosts, HostsOf(node, Member(body, "index")));
    for (const std::size_t index : hosts) {
      JM_TRY(CheckHost(node, index, action));
      ActOnHost(targets.nodes, node, index, action);
      if (time == Duration{0}) continue;
      targets.At(now + time, node, [&targets, index, remedy](Node& later, TimePoint) {
        ActOnHost(targets.nodes, later, index, remedy);
      });
    }
    return base::Ok();
  });
}

}  // namespace jobman::sim::acts
