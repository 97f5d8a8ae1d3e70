#include <fmt/format.h>

#include "jobman/base/strings.hpp"
#include "sim/faults/acts.hpp"

// Verbs that act on nodes and queued resources.

namespace jobman::sim::acts {

using base::InvalidArgument;
using base::Result;
using base::Status;

namespace {

constexpr Duration kVia = std::chrono::seconds(2);
constexpr Duration kOutage = std::chrono::seconds(5);

Status MustBe(const Node& node, NodeState state) {
  if (node.state == state) return base::Ok();
  return InvalidArgument(fmt::format("node {} is {} and not {}", node.key.id,
                                     NodeStateName(node.state), NodeStateName(state)));
}

Result<Json> EachThatIs(NodeState state, Targets& targets, const Json& body,
                        const std::function<void(Node&)>& act) {
  return targets.EachNode(body, [&](Node& node) -> Status {
    JM_TRY(MustBe(node, state));
    return act(node), base::Ok();
  });
}

Status MustBePreemptible(const Node& node, bool force) {
  if (!node.spot && !force) {
    return InvalidArgument("node " + node.key.id + " is on demand, which is never preempted",
                           "--force preempts it anyway");
  }
  if (HoldsChips(node.state) && node.state != NodeState::kDeleting) return base::Ok();
  return InvalidArgument(
      fmt::format("node {} is {} already", node.key.id, NodeStateName(node.state)));
}

struct Preemption {
  std::optional<NodeState> via = {};  ///< state shown first
  Duration time{0};                   ///< for how long
  bool gone = false;                  ///< no record remains
  bool silent = false;                ///< no connection ends, for `time`
  Duration notice{0};                 ///< how long before the hosts are told
};

Result<Preemption> PreemptionOf(const Json& body) {
  Preemption how;
  JM_ASSIGN_OR_RETURN(how.time, DurationIn(body, "for", kVia));
  JM_ASSIGN_OR_RETURN(how.notice, DurationIn(body, "notice", Duration{0}));
  const std::string as = Text(body, "as");
  if (as == "stopping") {
    how.via = NodeState::kStopping;
  } else if (as == "repairing") {
    how.via = NodeState::kRepairing;
  } else if (as == "gone") {
    how.gone = true;
  } else if (as == "silent") {
    how.silent = true;
  } else if (!as.empty() && as != "preempted") {
    return InvalidArgument("a node cannot be preempted as \"" + as + "\"",
                           "known: " + base::Join(Ways(), ", "));
  }
  return how;
}

void TakeAway(Targets& targets, Node& node, const Preemption& how, TimePoint now) {
  if (how.silent) return targets.nodes.PreemptSilently(node, how.time, now);
  if (how.via) return targets.nodes.End(node, *how.via, how.time, NodeState::kPreempted, now);
  if (!how.gone) return targets.nodes.Preempt(node, now);
  const ResourceKey key = node.key;
  if (QueuedResource* queued = node.queued ? targets.queued.Find(*node.queued) : nullptr) {
    targets.queued.Preempt(*queued, now);
  }
  targets.nodes.Erase(key, now);
}

Result<Json> PreemptQueued(Targets& targets, const QueuedResource& queued, const Preemption& how,
                           TimePoint now) {
  if (queued.state != QueuedState::kActive && queued.state != QueuedState::kProvisioning) {
    return InvalidArgument("queued resource " + queued.key.id + " holds no nodes to take away");
  }
  for (const NodePlan& plan : queued.nodes) {
    Node* node = how.notice == Duration{0} ? nullptr : targets.nodes.Find(plan.key);
    if (node != nullptr) targets.nodes.Announce(*node, {.preemption = true});
  }
  targets.timeline.At(now + how.notice, [&targets, key = queued.key, order = queued.order,
                                         calms = targets.calms, gone = how.gone](TimePoint due) {
    QueuedResource* found = targets.queued.Find(key);
    if (found == nullptr || found->order != order || calms != targets.calms) return;
    targets.queued.Preempt(*found, due);
    for (const NodePlan& plan : found->nodes) {
      if (gone) targets.nodes.Erase(plan.key, due);
    }
  });
  return Json{{"preempted", ResourceName(queued.key, "queuedResources")}};
}

}  // namespace

const std::vector<std::string>& Ways() {
  static const std::vector<std::string> kWays = {"preempted", "stopping", "repairing", "silent",
                                                 "gone"};
  return kWays;
}

Result<Json> Preempt(Targets& targets, const Json& body, TimePoint now) {
  JM_ASSIGN_OR_RETURN(const Preemption how, PreemptionOf(body));
  const std::string name = Text(body, "node");
  const QueuedResource* queued = targets.QueuedNamed(name);
  if (queued != nullptr && targets.NodesNamed(name).empty()) {
    return PreemptQueued(targets, *queued, how, now);
  }
  const bool force = Flag(body, "force");
  return targets.EachNode(body, [&](Node& node) -> Status {
    JM_TRY(MustBePreemptible(node, force));
    if (how.notice == Duration{0}) return TakeAway(targets, node, how, now), base::Ok();
    targets.nodes.Announce(node, {.preemption = true});
    targets.At(now + how.notice, node, [&targets, how, force](Node& told, TimePoint due) {
      if (MustBePreemptible(told, force).ok()) TakeAway(targets, told, how, due);
    });
    return base::Ok();
  });
}

Result<Json> Maintain(Targets& targets, const Json& body, TimePoint now) {
  JM_ASSIGN_OR_RETURN(const Duration time, DurationIn(body, "for", kOutage));
  JM_ASSIGN_OR_RETURN(const Duration notice, DurationIn(body, "notice", Duration{0}));
  return targets.EachNode(body, [&](Node& node) -> Status {
    JM_TRY(MustBe(node, NodeState::kReady));
    targets.nodes.Announce(node, {.maintenance = UpcomingMaintenance(node, now + notice)});
    const auto begin = [&targets, time](Node& told, TimePoint due) {
      if (told.state == NodeState::kReady) targets.nodes.Maintain(told, time, due);
    };
    if (notice == Duration{0}) return begin(node, now), base::Ok();
    targets.At(now + notice, node, begin);
    return base::Ok();
  });
}

Result<Json> Repair(Targets& targets, const Json& body, TimePoint now) {
  JM_ASSIGN_OR_RETURN(const Duration time, DurationIn(body, "for", kOutage));
  return EachThatIs(NodeState::kReady, targets, body,
                    [&](Node& node) { targets.nodes.Repair(node, time, now); });
}

Result<Json> Reboot(Targets& targets, const Json& body, TimePoint now) {
  return targets.EachNode(
      body, [&](Node& node) -> Status { return targets.nodes.Restart(node, now), base::Ok(); });
}

Result<Json> Terminate(Targets& targets, const Json& body, TimePoint now) {
  return EachThatIs(NodeState::kReady, targets, body,
                    [&](Node& node) { targets.nodes.End(node, NodeState::kTerminated, now); });
}

Result<Json> Stop(Targets& targets, const Json& body, TimePoint now) {
  return EachThatIs(NodeState::kReady, targets, body, [&](Node& node) {
    targets.nodes.End(node, NodeState::kStopping, targets.settings.delays.stop, NodeState::kStopped,
                      now);
  });
}

Result<Json> Start(Targets& targets, const Json& body, TimePoint now) {
  return EachThatIs(NodeState::kStopped, targets, body,
                    [&](Node& node) { targets.nodes.Start(node, now); });
}

Result<Json> Delete(Targets& targets, const Json& body, TimePoint now) {
  const std::string name = Text(body, "node");
  QueuedResource* queued = targets.QueuedNamed(name);
  if (queued != nullptr && targets.NodesNamed(name).empty()) {
    return targets.queued.Delete(*queued, true, "v2", now).body;
  }
  return targets.EachNode(
      body, [&](Node& node) -> Status { return targets.nodes.Remove(node, now), base::Ok(); });
}

Result<Json> Fail(Targets& targets, const Json& body, TimePoint now) {
  const std::string name = Text(body, "queuedResource");
  QueuedResource* queued = targets.QueuedNamed(name);
  if (queued == nullptr) return NoSuch("queued resource", name);
  if (Flag(body, "expired")) {
    targets.queued.Expire(*queued, now);
    return targets.queued.Render(*queued);
  }
  ApiError error = OpaqueError();
  if (const auto code = Number(body, "code"); code >= 1 && code <= 16) {
    error.code = static_cast<base::Code>(code);
  }
  if (const std::string message = Text(body, "message"); !message.empty()) error.message = message;
  targets.queued.Fail(*queued, error, now);
  return targets.queued.Render(*queued);
}

Result<Json> Show(Targets& targets, const Json& body, TimePoint) {
  return targets.EachNode(body, [&](Node& node) -> Status {
    for (const auto& [field, value] : Member(body, "set").items()) {
      if (value.is_null()) {
        node.overlay.erase(field);
      } else {
        node.overlay[field] = value;
      }
    }
    return base::Ok();
  });
}

}  // namespace jobman::sim::acts
