#include <fmt/format.h>

#include "jobman/base/strings.hpp"
#include "sim/orders.hpp"

// What happens to nodes and queued resources.

namespace jobman::sim {

using base::InvalidArgument;
using base::Status;

namespace {

constexpr Duration kVia = std::chrono::seconds(2);
constexpr Duration kOutage = std::chrono::seconds(5);

Status MustBe(const Node& node, NodeState state) {
  if (node.state == state) return base::Ok();
  return InvalidArgument(fmt::format("node {} is {} and not {}", node.key.id,
                                     NodeStateName(node.state), NodeStateName(state)));
}

Status Preemptible(const Node& node, bool force) {
  if (!node.spot && !force) {
    return InvalidArgument("node " + node.key.id + " is on demand, which is never preempted",
                           "--force does it all the same");
  }
  if (HoldsChips(node.state) && node.state != NodeState::kDeleting) return base::Ok();
  return InvalidArgument(
      fmt::format("node {} is {} already", node.key.id, NodeStateName(node.state)));
}

/// `upcomingMaintenance` of a node, an hour long.
Json Upcoming(TimePoint start) {
  return {{"type", "SCHEDULED"},
          {"maintenanceStatus", "PENDING"},
          {"windowStartTime", Timestamp(start)},
          {"windowEndTime", Timestamp(start + std::chrono::hours(1))},
          {"latestWindowStartTime", Timestamp(start)},
          {"canReschedule", false}};
}

}  // namespace

base::Result<Orders::Preemption> Orders::PreemptionOf(const Json& body) {
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
    return InvalidArgument("\"" + as + "\" is no way to be preempted",
                           "known: preempted, stopping, repairing, silent, gone");
  }
  return how;
}

void Orders::TakeAway(Node& node, const Preemption& how, TimePoint now) {
  if (how.silent) return parts_.nodes.PreemptSilently(node, how.time, now);
  if (how.via) return parts_.nodes.End(node, *how.via, how.time, NodeState::kPreempted, now);
  if (!how.gone) return parts_.nodes.Preempt(node, now);
  const ResourceKey key = node.key;
  if (QueuedResource* queued = node.queued ? parts_.queued.Find(*node.queued) : nullptr) {
    parts_.queued.Preempt(*queued, now);
  }
  parts_.nodes.Erase(key, now);
}

Reply Orders::Preempt(const Json& body, TimePoint now) {
  const auto how = PreemptionOf(body);
  if (!how.ok()) return Refused(how.error());
  const std::string name = Text(body, "node");
  if (NodesNamed(name).empty() && QueuedNamed(name) != nullptr) {
    return PreemptQueued(name, *how, now);
  }
  const bool force = Flag(body, "force");
  return EachNode(body, [&](Node& node) -> Status {
    JM_TRY(Preemptible(node, force));
    if (how->notice == Duration{0}) return TakeAway(node, *how, now), base::Ok();
    parts_.nodes.Announce(node, {.preempted = true});
    At(now + how->notice, node, [this, how = *how, force](Node& noticed, TimePoint due) {
      if (Preemptible(noticed, force).ok()) TakeAway(noticed, how, due);
    });
    return base::Ok();
  });
}

Reply Orders::PreemptQueued(const std::string& name, const Preemption& how, TimePoint now) {
  QueuedResource* queued = QueuedNamed(name);
  const std::string full = ResourceName(queued->key, "queuedResources");
  if (queued->state != QueuedState::kActive && queued->state != QueuedState::kProvisioning) {
    return Refused(InvalidArgument("queued resource " + name + " holds no nodes to take away"));
  }
  for (const NodePlan& plan : queued->nodes) {
    Node* node = how.notice == Duration{0} ? nullptr : parts_.nodes.Find(plan.key);
    if (node != nullptr) parts_.nodes.Announce(*node, {.preempted = true});
  }
  parts_.timeline.At(now + how.notice, [this, full, order = queued->order, calms = calms_,
                                        gone = how.gone](TimePoint due) {
    QueuedResource* found = QueuedNamed(full);
    if (found == nullptr || found->order != order || calms != calms_) return;
    parts_.queued.Preempt(*found, due);
    for (const NodePlan& plan : found->nodes) {
      if (gone) parts_.nodes.Erase(plan.key, due);
    }
  });
  return {.body = {{"preempted", full}}};
}

Reply Orders::Maintain(const Json& body, TimePoint now) {
  const auto time = DurationIn(body, "for", kOutage);
  const auto notice = DurationIn(body, "notice", Duration{0});
  if (!time.ok() || !notice.ok()) return Refused(time.ok() ? notice.error() : time.error());
  return EachNode(body, [&](Node& node) -> Status {
    JM_TRY(MustBe(node, NodeState::kReady));
    parts_.nodes.Announce(node, {.maintenance = true, .upcoming = Upcoming(now + *notice)});
    const auto begin = [this, time = *time](Node& noticed, TimePoint due) {
      if (noticed.state == NodeState::kReady) parts_.nodes.Maintain(noticed, time, due);
    };
    if (*notice == Duration{0}) return begin(node, now), base::Ok();
    At(now + *notice, node, begin);
    return base::Ok();
  });
}

Reply Orders::Repair(const Json& body, TimePoint now) {
  const auto time = DurationIn(body, "for", kOutage);
  if (!time.ok()) return Refused(time.error());
  return EachNode(body, [&](Node& node) -> Status {
    JM_TRY(MustBe(node, NodeState::kReady));
    parts_.nodes.Repair(node, *time, now);
    return base::Ok();
  });
}

Reply Orders::Terminate(const Json& body, TimePoint now) {
  return EachNode(body, [&](Node& node) -> Status {
    JM_TRY(MustBe(node, NodeState::kReady));
    parts_.nodes.End(node, NodeState::kTerminated, now);
    return base::Ok();
  });
}

Reply Orders::Stop(const Json& body, TimePoint now) {
  return EachNode(body, [&](Node& node) -> Status {
    JM_TRY(MustBe(node, NodeState::kReady));
    parts_.nodes.End(node, NodeState::kStopping, parts_.settings.delays.stop, NodeState::kStopped,
                     now);
    return base::Ok();
  });
}

Reply Orders::Start(const Json& body, TimePoint now) {
  return EachNode(body, [&](Node& node) -> Status {
    JM_TRY(MustBe(node, NodeState::kStopped));
    parts_.nodes.Start(node, now);
    return base::Ok();
  });
}

Reply Orders::Delete(const Json& body, TimePoint now) {
  const std::string name = Text(body, "node");
  QueuedResource* queued = NodesNamed(name).empty() ? QueuedNamed(name) : nullptr;
  if (queued != nullptr) return parts_.queued.Delete(*queued, true, "v2", now);
  return EachNode(body, [&](Node& node) -> Status {
    parts_.nodes.Remove(node, now);
    return base::Ok();
  });
}

Reply Orders::Fail(const Json& body, TimePoint now) {
  const std::string name = Text(body, "queuedResource");
  QueuedResource* queued = QueuedNamed(name);
  if (queued == nullptr) return NoSuch("queued resource", name);
  if (Flag(body, "expired")) {
    parts_.queued.Expire(*queued, now);
    return {.body = parts_.queued.Render(*queued)};
  }
  ApiError error = OpaqueError();
  if (const auto code = Number(body, "code"); code >= 1 && code <= 16) {
    error.code = static_cast<base::Code>(code);
  }
  if (const std::string message = Text(body, "message"); !message.empty()) error.message = message;
  parts_.queued.Fail(*queued, error, now);
  return {.body = parts_.queued.Render(*queued)};
}

Reply Orders::ShowNode(const Json& body, TimePoint now) {
  // The fields in `set` are shown over the real ones; null takes one back.
  Json shown;
  Reply reply = EachNode(body, [&](Node& node) -> Status {
    for (const auto& [field, value] : Member(body, "set").items()) {
      if (value.is_null()) {
        node.overlay.erase(field);
      } else {
        node.overlay[field] = value;
      }
    }
    if (Flag(body, "reboot")) parts_.nodes.Restart(node, now);
    shown = RenderNode(node);
    return base::Ok();
  });
  if (reply.status == 200) reply.body = std::move(shown);
  return reply;
}

}  // namespace jobman::sim
