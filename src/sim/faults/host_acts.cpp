#include <fmt/format.h>

#include <algorithm>

#include "jobman/base/strings.hpp"
#include "sim/faults/acts.hpp"
#include "sim/faults/host_choice.hpp"

// The verb that acts on hosts.

namespace jobman::sim::acts {

using base::InvalidArgument;
using base::Status;

namespace {

Status CheckAction(const NodeRegistry& nodes, const std::string& action) {
  const std::vector<std::string>& known = HostActions();
  if (std::find(known.begin(), known.end(), action) == known.end())
    return InvalidArgument("unknown action \"" + action + "\"",
                           "known: " + base::Join(known, ", "));
  return nodes.MayFail(HostFaultNamed(action).value_or(HostFaultKind::kNone));
}

/// How much later packets are, for `slow` alone.
base::Result<HostFault> FaultOf(const Json& body, const std::string& action) {
  HostFault fault{.kind = HostFaultNamed(action).value_or(HostFaultKind::kNone)};
  if (fault.kind != HostFaultKind::kSlow && body.contains("by"))
    return InvalidArgument("--by goes with slow");
  JM_ASSIGN_OR_RETURN(fault.late, DurationIn(body, "by", fault.late));
  return fault;
}

base::Result<HostChoice> ChoiceOf(const Json& index) {
  return ParseHostChoice(index.is_string() ? index.get<std::string>() : index.dump());
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
  return action == "boot" || action == "mend" || action == "hangup" ? "" : "mend";
}

void ActOnHost(NodeRegistry& nodes, Node& node, std::size_t index, const std::string& action,
               const HostFault& fault = {}) {
  if (fault.kind != HostFaultKind::kNone) return nodes.SetHostFault(node, index, fault);
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
  static const std::vector<std::string> kActions = [] {
    std::vector<std::string> actions = {"kill", "boot", "cut", "hang", "trickle", "mend", "hangup"};
    for (std::string& fault : HostFaultNames()) actions.push_back(std::move(fault));
    return actions;
  }();
  return kActions;
}

base::Result<Json> Host(Targets& targets, const Json& body, TimePoint now) {
  const std::string action = Text(body, "action");
  JM_ASSIGN_OR_RETURN(const Duration time, DurationIn(body, "for", Duration{0}));
  JM_TRY(CheckAction(targets.nodes, action));
  JM_ASSIGN_OR_RETURN(const HostFault fault, FaultOf(body, action));
  JM_ASSIGN_OR_RETURN(const HostChoice choice, ChoiceOf(Member(body, "index")));
  const auto seed = static_cast<std::uint64_t>(Number(body, "seed"));
  const std::string remedy = Remedy(action);
  if (time > Duration{0} && remedy.empty())
    return InvalidArgument("--for goes with what `mend` or `boot` ends, not with " + action);
  Json chosen = Json::object();
  const auto act = [&](Node& node) -> Status {
    JM_ASSIGN_OR_RETURN(const std::vector<std::size_t> hosts, HostsOf(node, choice, seed));
    for (const std::size_t index : hosts) JM_TRY(CheckHost(node, index, action));
    for (const std::size_t index : hosts) {
      ActOnHost(targets.nodes, node, index, action, fault);
      if (time == Duration{0}) continue;
      targets.At(now + time, node, [&targets, index, remedy](Node& later, TimePoint) {
        ActOnHost(targets.nodes, later, index, remedy);
      });
    }
    chosen[ResourceName(node.key, "nodes")] =
        base::FormatRanges(std::vector<int>(hosts.begin(), hosts.end()));
    return base::Ok();
  };
  JM_ASSIGN_OR_RETURN(Json done, targets.EachNode(body, act));
  done["hosts"] = std::move(chosen);
  return done;
}

}  // namespace jobman::sim::acts
