#include "tests/property/cloud_model.hpp"

#include <array>
#include <utility>

#include "tests/support/cloud_words.hpp"
#include "tests/support/reconciling.hpp"

namespace jobman::test {

using base::Code;
using base::Error;
using base::Reason;
using core::AllocationMode;
using core::NodeState;
using core::QueuedState;
using std::chrono::seconds;

namespace {

Error Refused(Code code, Reason reason) {
  return {.code = code, .message = "refused", .reason = reason};
}

bool IsQueued(const Resource& resource) {
  return resource.mode == AllocationMode::kQueuedResources;
}

const char* HealthOf(const Resource& resource) {
  if (resource.maintenance) return "UNHEALTHY_MAINTENANCE";
  return resource.broken ? "UNHEALTHY_TPU" : "HEALTHY";
}

}  // namespace

void CloudModel::Settle(TimePoint now) {
  if (!faultless_ && odds_.Occurs(random_, Risk::kSilence, 2)) reachable_ = !reachable_;
  for (auto& call : on_the_way_) {
    // Drops a delayed request if another request created the slice and it was deleted since: no
    // network is slower than that.
    if (call.at <= now && !deleted_.contains(call.name)) Arrive(call.name, call.mode, call.at);
  }
  std::erase_if(on_the_way_, [&](const OnTheWay& call) { return call.at <= now; });
  std::erase_if(resources_, [&](const auto& entry) {
    const bool gone = entry.second.leaves_at && *entry.second.leaves_at <= now;
    if (gone) deleted_.insert(entry.first);
    return gone;
  });
}

void CloudModel::Arrive(const std::string& name, AllocationMode mode, TimePoint now) {
  if (resources_.contains(name)) return;
  Resource resource{.mode = mode, .hosts = hosts_};
  if (mode == AllocationMode::kTpuVm) resource.node = NodeState::kCreating;
  resource.visible_at =
      now +
      seconds{!faultless_ && odds_.Occurs(random_, Risk::kLateArrival, 30) ? random_.Below(20) : 0};
  resources_.emplace(name, resource);
}

void CloudModel::TakeName(const std::string& name, AllocationMode mode, TimePoint now) {
  if (resources_.contains(name)) return;
  Arrive(name, mode, now);
  resources_.at(name).ours = false;
}

std::optional<Error> CloudModel::Refusal() {
  if (faultless_ || !odds_.Occurs(random_, Risk::kRefusal, 15)) return {};
  if (permanent_errors_ && random_.Percent(20)) {
    return Refused(Code::kPermissionDenied, Reason::kPermission);
  }
  constexpr std::array kReasons = {Reason::kQuota, Reason::kRateLimit, Reason::kStockout,
                                   Reason::kReservation};
  return Refused(Code::kResourceExhausted, kReasons.at(static_cast<std::size_t>(random_.Below(4))));
}

CallFate CloudModel::Create(const std::string& name, AllocationMode mode, TimePoint now) {
  if (!reachable()) return {.error = NoAnswer()};
  if (auto refusal = Refusal()) return {.error = std::move(refusal)};
  if (resources_.contains(name)) {
    return {.error = Error{.code = Code::kAlreadyExists, .message = "exists"}};
  }
  if (faultless_ || !odds_.Occurs(random_, Risk::kLostCall, 25)) {
    Arrive(name, mode, now);
    if (!faultless_ && odds_.Occurs(random_, Risk::kLostCall, 15))
      return {.applied = true, .error = NoAnswer()};
    return {.applied = true};
  }
  if (random_.Percent(50)) {
    on_the_way_.push_back({.name = name, .mode = mode, .at = now + seconds{random_.Below(20)}});
  }
  return {.error = NoAnswer()};
}

CallFate CloudModel::Delete(const std::string& name, TimePoint now) {
  if (!reachable()) return {.error = NoAnswer()};
  const auto found = resources_.find(name);
  if (found == resources_.end() || found->second.visible_at > now) {
    return {.error = Error{.code = Code::kNotFound, .message = "not found"}};
  }
  if (!faultless_ && odds_.Occurs(random_, Risk::kLostCall, 15)) return {.error = NoAnswer()};
  if (!found->second.leaves_at) {
    found->second.leaves_at = now + seconds{random_.Percent(30) ? 0 : random_.Below(60)};
  }
  if (!faultless_ && odds_.Occurs(random_, Risk::kLostCall, 15))
    return {.applied = true, .error = NoAnswer()};
  return {.applied = true};
}

core::SliceSeen CloudModel::Look(const std::string& name, TimePoint now) const {
  core::SliceSeen seen{.slice = name};
  const auto found = resources_.find(name);
  if (found == resources_.end() || found->second.visible_at > now) return seen;
  const Resource& resource = found->second;
  seen.foreign = !resource.ours;
  const bool leaving = resource.leaves_at.has_value();
  if (resource.node) {
    const NodeState state = leaving ? NodeState::kDeleting : *resource.node;
    const bool up = state == NodeState::kReady;
    seen.nodes = {core::NodeSeen{
        .id = name,
        .uid = name,
        .state = state,
        .raw_state = WordFor(state),
        .health = HealthOf(resource),
        .hosts = up ? Addresses(resource.hosts, resource.subnet) : std::vector<core::HostAddress>{},
        .notice = resource.notice}};
  }
  if (IsQueued(resource)) {
    const QueuedState state = leaving ? QueuedState::kDeleting : resource.queued;
    seen.queued = core::QueuedSeen{.id = name, .state = state, .raw_state = WordFor(state)};
    if (state == QueuedState::kFailed) {
      seen.queued->failure = Error{.code = Code::kInternal, .message = "an internal error"};
    }
  }
  return seen;
}

void CloudModel::Advance(const std::string& name, TimePoint now) {
  const auto found = resources_.find(name);
  if (found == resources_.end() || !found->second.ours || found->second.leaves_at) return;
  if (!faultless_ && odds_.Occurs(random_, Risk::kSliceFault, 12))
    return Harm(name, found->second, now);
  Progress(name, found->second);
}

void CloudModel::Progress(const std::string& name, Resource& resource) {
  if (IsQueued(resource)) {
    switch (resource.queued) {
      case QueuedState::kCreating:
        resource.queued = QueuedState::kAccepted;
        return;
      case QueuedState::kAccepted:
        resource.queued = QueuedState::kWaitingForResources;
        return;
      case QueuedState::kWaitingForResources:
        resource.queued = QueuedState::kProvisioning;
        return;
      case QueuedState::kProvisioning:
        resource.queued = QueuedState::kActive;
        resource.node = NodeState::kCreating;
        return;
      case QueuedState::kSuspending:
        resource.queued = QueuedState::kSuspended;
        resource.node.reset();
        return;
      case QueuedState::kUnspecified:
      case QueuedState::kFailed:
      case QueuedState::kDeleting:
      case QueuedState::kActive:
      case QueuedState::kSuspended:
      case QueuedState::kUnknown:
        break;
    }
  }
  if (!resource.node) return;
  const bool dead = *resource.node == NodeState::kPreempted ||
                    *resource.node == NodeState::kTerminated ||
                    *resource.node == NodeState::kStopped;
  if (std::exchange(resource.broken, false)) return;
  if (dead || (*resource.node == NodeState::kReady && !resource.maintenance)) return;
  // A direct create without capacity: the operation fails and the node goes away.
  const bool fresh = resource.node == NodeState::kCreating && !IsQueued(resource);
  if (fresh && !faultless_ && odds_.Occurs(random_, Risk::kStockout, 20)) {
    failed_.insert(name);
    resources_.erase(name);
    return;
  }
  const bool moved = resource.maintenance || *resource.node == NodeState::kRepairing;
  if (moved && random_.Percent(60)) ++resource.subnet;
  resource.node = NodeState::kReady;
  resource.maintenance = false;
  resource.notice.reset();
}

void CloudModel::Harm(const std::string& name, Resource& resource, TimePoint now) {
  if (random_.Percent(8)) {  // deleted by somebody else
    if (random_.Percent(50)) {
      resource.leaves_at = now + seconds{random_.Below(60)};
    } else {
      deleted_.insert(name);
      resources_.erase(name);
    }
    return;
  }
  if (IsQueued(resource) && resource.queued != QueuedState::kActive) {
    constexpr std::array kStates = {QueuedState::kFailed, QueuedState::kWaitingForResources,
                                    QueuedState::kUnknown, QueuedState::kSuspending};
    if (resource.queued == QueuedState::kFailed || resource.queued == QueuedState::kSuspended) {
      return;
    }
    resource.queued = kStates.at(static_cast<std::size_t>(random_.Below(4)));
    // Progress() needs a known state to continue from.
    if (resource.queued == QueuedState::kUnknown) resource.queued = QueuedState::kAccepted;
    return;
  }
  if (!resource.node || *resource.node == NodeState::kCreating) return;
  constexpr std::array kStates = {NodeState::kPreempted, NodeState::kTerminated,
                                  NodeState::kStopped,   NodeState::kRepairing,
                                  NodeState::kUnknown,   NodeState::kReady};
  if (*resource.node == NodeState::kReady && random_.Percent(25)) {
    const bool imminent = random_.Percent(50);
    resource.notice = core::Notice{.imminent = imminent, .text = imminent ? "ONGOING" : "PENDING"};
    return;
  }
  if (*resource.node == NodeState::kReady && random_.Percent(10)) {
    resource.broken = true;
    return;
  }
  if (*resource.node == NodeState::kReady) {
    resource.node = kStates.at(static_cast<std::size_t>(random_.Below(6)));
    resource.maintenance = *resource.node == NodeState::kReady;
    if (IsQueued(resource) && *resource.node == NodeState::kPreempted) {
      resource.queued = QueuedState::kSuspending;
    }
  }
}

bool CloudModel::MayBeAlive(const std::string& machine) const {
  const auto found = resources_.find(machine.substr(0, machine.find('/')));
  if (found == resources_.end() || found->second.leaves_at || !found->second.node) return false;
  const NodeState state = *found->second.node;
  const bool dead = state == NodeState::kPreempted || state == NodeState::kTerminated ||
                    state == NodeState::kStopped;
  return !dead && machine == found->first + "/" + std::to_string(found->second.subnet);
}

std::string CloudModel::MachineOf(const std::string& name) const {
  const auto found = resources_.find(name);
  if (found == resources_.end()) return {};
  const Resource& resource = found->second;
  const bool up = resource.ours && !resource.leaves_at && resource.node == NodeState::kReady &&
                  (!IsQueued(resource) || resource.queued == QueuedState::kActive);
  return up && !resource.maintenance ? name + "/" + std::to_string(resource.subnet) : std::string{};
}

}  // namespace jobman::test
