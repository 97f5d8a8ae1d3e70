#include "tests/property/faulty_cloud.hpp"
#include "jobman/core/slice_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "jobman/core/accelerators.hpp"
#include "tests/support/cloud_words.hpp"

namespace jobman::test {

using base::Code;
using base::Error;
using base::Reason;
using base::Result;
using core::AllocationMode;
using core::NodeState;
using core::QueuedState;
using std::chrono::seconds;

namespace {

const Error kServerError{.code = Code::kInternal, .message = "Internal error encountered."};

bool IsUp(const core::NodeSeen& node) {
  return node.state == NodeState::kReady || node.state == NodeState::kUnknown ||
         node.state == NodeState::kDeleting;
}

/// Replaces the machines of the node: new addresses.
void Move(core::NodeSeen& node, int number, std::size_t hosts) {
  node.hosts.clear();
  for (std::size_t host = 0; host < hosts; ++host) {
    const std::string tail = fmt::format("{}.{}.{}", number / 250, number % 250, host + 1);
    node.hosts.push_back({.internal = "10." + tail, .external = "198." + tail});
  }
}

bool IsOurs(const FaultyCloud::Labels& labels) {
  const auto store = labels.find("jobman-store");
  return store != labels.end() && store->second == "memory";
}

}  // namespace

// --- calls ---

/// The request or its answer may be lost; both take time.
template <class T>
FaultyCloud::Answer<T> FaultyCloud::Call(std::string zone, std::function<Result<T>()> work) {
  ++requests_;
  const auto travel = [&]() -> base::Duration {
    if (faultless_ || random_.Percent(60)) return base::Duration{random_.Below(100)};
    return base::Duration{random_.Below(random_.Percent(10) ? 20'000 : 2'000)};
  };
  const base::Duration there = travel();
  const base::Duration back = travel();
  co_await base::Sleep(there);
  if (!reachable_ || zone == silent_zone_ ||
      (!faultless_ && odds_.Occurs(random_, Risk::kLostCall, 4)))
    co_return NoAnswer();
  if (!faultless_ && odds_.Occurs(random_, Risk::kLostCall, 4)) co_return kServerError;
  Result<T> answer = work();
  co_await base::Sleep(back);
  if (!reachable_ || (!faultless_ && odds_.Occurs(random_, Risk::kLostCall, 4)))
    co_return NoAnswer();
  co_return answer;
}

FaultyCloud::Answer<core::OperationSeen> FaultyCloud::Create(core::SliceRequest request) {
  return Call<core::OperationSeen>(request.ref.place.zone,
                                   [this, request] { return DoCreate(request); });
}

FaultyCloud::Answer<core::OperationSeen> FaultyCloud::Delete(core::SliceRef ref) {
  return Call<core::OperationSeen>(ref.place.zone, [this, ref] { return DoDelete(ref); });
}

/// Listings omit what exists, sometimes several in a row.
bool FaultyCloud::ListingOmits() {
  if (faultless_) return false;
  if (omissions_ == 0 && odds_.Occurs(random_, Risk::kLateArrival, 1)) {
    omissions_ = 1 + random_.Below(12);
  }
  if (omissions_ == 0) return false;
  --omissions_;
  return random_.Percent(70);
}

FaultyCloud::Answer<std::vector<core::NodeSeen>> FaultyCloud::ListNodes(core::Place place) {
  using All = std::vector<core::NodeSeen>;
  return Call<All>(place.zone, [this, place]() -> Result<All> {
    All all;
    const bool omits = ListingOmits();
    for (const auto& [key, node] : nodes_) {
      if (key.first != place.zone || !Visible(node.life)) continue;
      if (!omits || random_.Percent(20)) all.push_back(node.seen);
    }
    return all;
  });
}

FaultyCloud::Answer<std::vector<core::QueuedSeen>> FaultyCloud::ListQueued(core::Place place) {
  using All = std::vector<core::QueuedSeen>;
  return Call<All>(place.zone, [this, place]() -> Result<All> {
    All all;
    const bool omits = ListingOmits();
    for (const auto& [key, queued] : queued_) {
      if (key.first != place.zone || !Visible(queued.life)) continue;
      if (!omits || random_.Percent(20)) all.push_back(queued.seen);
    }
    return all;
  });
}

FaultyCloud::Answer<core::NodeSeen> FaultyCloud::GetNode(core::Place place, std::string id) {
  return Call<core::NodeSeen>(place.zone, [this, place, id]() -> Result<core::NodeSeen> {
    const auto found = nodes_.find({place.zone, id});
    if (found == nodes_.end() || !Visible(found->second.life)) return base::NotFound("no " + id);
    return found->second.seen;
  });
}

FaultyCloud::Answer<core::QueuedSeen> FaultyCloud::GetQueued(core::Place place, std::string id) {
  return Call<core::QueuedSeen>(place.zone, [this, place, id]() -> Result<core::QueuedSeen> {
    const auto found = queued_.find({place.zone, id});
    if (found == queued_.end() || !Visible(found->second.life)) return base::NotFound("no " + id);
    return found->second.seen;
  });
}

FaultyCloud::Answer<core::OperationSeen> FaultyCloud::GetOperation(std::string name) {
  return Call<core::OperationSeen>("any", [this, name]() -> Result<core::OperationSeen> {
    const auto found = operations_.find(name);
    if (found == operations_.end()) return base::NotFound("no " + name);
    return found->second;
  });
}

FaultyCloud::Answer<core::OperationSeen> FaultyCloud::AddLogin(core::Place place, std::string node,
                                                               std::string) {
  using Seen = core::OperationSeen;
  return Call<Seen>(place.zone, [this, place, node]() -> Result<Seen> {
    if (!nodes_.contains({place.zone, node})) return base::NotFound("no " + node);
    return Seen{.done = true};
  });
}

FaultyCloud::Answer<core::OperationSeen> FaultyCloud::ChangeLogins(core::Place place,
                                                                   std::string node,
                                                                   core::LoginChange) {
  return AddLogin(std::move(place), std::move(node), {});
}

FaultyCloud::Answer<std::vector<core::HostKeys>> FaultyCloud::GetHostKeys(core::Place place,
                                                                          std::string node) {
  using Keys = std::vector<core::HostKeys>;
  return Call<Keys>(place.zone, [this, place, node]() -> Result<Keys> {
    const auto found = nodes_.find({place.zone, node});
    if (found == nodes_.end()) return base::NotFound("no " + node);
    Keys all;
    if (!faultless_ && odds_.Occurs(random_, Risk::kLateArrival, 20))
      return all;  // not published yet
    for (std::size_t host = 0; host < found->second.seen.hosts.size(); ++host) {
      all.push_back({.host = static_cast<int>(host), .keys = {{"ssh-ed25519", "AAAA"}}});
    }
    return all;
  });
}

std::optional<Error> FaultyCloud::Refusal() {
  if (faultless_ || !odds_.Occurs(random_, Risk::kRefusal, 15)) return {};
  if (permanent_errors_ && random_.Percent(20)) {
    return Error{.code = Code::kPermissionDenied, .message = "no", .reason = Reason::kPermission};
  }
  constexpr std::array kReasons = {Reason::kQuota, Reason::kRateLimit, Reason::kStockout};
  Error refusal{.code = Code::kResourceExhausted, .message = "not now"};
  refusal.reason = kReasons.at(static_cast<std::size_t>(random_.Below(3)));
  if (refusal.reason == Reason::kRateLimit) refusal.retry_after = seconds{random_.Below(20)};
  return refusal;
}

Result<core::OperationSeen> FaultyCloud::DoCreate(const core::SliceRequest& request) {
  if (auto refusal = Refusal()) return *refusal;
  const Key key{request.ref.place.zone, request.ref.name};
  const bool from_queue = request.ref.mode == AllocationMode::kQueuedResources;
  if (from_queue ? queued_.contains(key) : nodes_.contains(key)) {
    return Error{.code = Code::kAlreadyExists, .message = key.second + " exists"};
  }
  if (!faultless_ && odds_.Occurs(random_, Risk::kLateArrival, 6)) {
    const int delay = random_.Percent(30) ? 300 : 20;
    delayed_.push_back({.request = request, .at = Within(delay)});
    return NoAnswer();
  }
  return core::OperationSeen{.name = Arrive(request)};
}

Result<core::OperationSeen> FaultyCloud::DoDelete(const core::SliceRef& ref) {
  const Key key{ref.place.zone, ref.name};
  const bool from_queue = ref.mode == AllocationMode::kQueuedResources;
  const auto node = nodes_.find(key);
  const auto queued = queued_.find(key);
  const bool there = from_queue ? queued != queued_.end() && Visible(queued->second.life)
                                : node != nodes_.end() && Visible(node->second.life);
  if (!there) return base::NotFound("no " + ref.name);
  on_delete_(ref.name, from_queue ? queued->second.seen.labels : node->second.seen.labels);
  const core::OperationSeen operation{.name = fmt::format("operations/{}", next_number_++)};
  if (!faultless_ && odds_.Occurs(random_, Risk::kLostCall, 5))
    return operation;  // accepted, but it fails
  if (from_queue) {
    Leave(queued->second.life);
    SetState(queued->second.seen, QueuedState::kDeleting);
    for (Node* const one : NodesOf(key)) {
      one->life.gone_at = queued->second.life.gone_at;
      SetState(one->seen, NodeState::kDeleting);
    }
    return operation;
  }
  Leave(node->second.life);
  SetState(node->second.seen, NodeState::kDeleting);
  return operation;
}

void FaultyCloud::Leave(Life& life) {
  if (!life.gone_at) life.gone_at = random_.Percent(30) ? clock_.Now() : Within(60);
}

base::TimePoint FaultyCloud::Within(int most) {
  return clock_.Now() + base::Duration{1 + random_.Below(most * 1000)};
}

// --- progress ---

/// A request takes effect; returns the name of its operation.
std::string FaultyCloud::Arrive(const core::SliceRequest& request) {
  const Key key{request.ref.place.zone, request.ref.name};
  core::OperationSeen operation{.name = fmt::format("operations/{}", next_number_++)};
  if (request.ref.mode == AllocationMode::kTpuVm) {
    StartNode(key, request, "");
    nodes_.at(key).operation = operation.name;
    operation.node = key.second;
  } else {
    Queued queued{.request = request};
    queued.seen.id = key.second;
    queued.seen.zone = key.first;
    queued.seen.labels = request.tpu.labels;
    SetState(queued.seen, QueuedState::kCreating);
    queued.life.visible_at =
        !faultless_ && odds_.Occurs(random_, Risk::kLateArrival, 30) ? Within(20) : clock_.Now();
    queued.life.next_at = Within(2);
    queued_[key] = queued;
    operation.done = true;
  }
  operations_[operation.name] = operation;
  return operation.name;
}

void FaultyCloud::StartNode(const Key& key, const core::SliceRequest& request,
                            const std::string& queued) {
  Node node;
  const int number = next_number_++;
  node.seen.id = key.second;
  node.seen.zone = key.first;
  node.seen.uid = std::to_string(7'000'000 + number);
  node.seen.accelerator = request.tpu.accelerator;
  node.seen.queued_resource = queued;
  node.seen.labels = request.tpu.labels;
  node.seen.health = "HEALTHY";
  SetState(node.seen, NodeState::kCreating);
  node.life.visible_at =
      !faultless_ && odds_.Occurs(random_, Risk::kLateArrival, 30) ? Within(20) : clock_.Now();
  const auto owner = queued_.find({key.first, queued});  // shown no later than its nodes
  if (owner != queued_.end()) {
    node.life.visible_at = std::max(node.life.visible_at, owner->second.life.visible_at);
    node.harmed = owner->second.harmed;
  }
  node.life.next_at = Within(20);
  nodes_[key] = node;
}

void FaultyCloud::Progress(Node& node) {
  node.life.next_at = base::TimePoint::max();
  const auto type = core::FindAccelerator(node.seen.accelerator);
  const auto hosts = static_cast<std::size_t>(type.ok() ? type->hosts : 1);
  const bool out_of_stock = node.seen.state == NodeState::kCreating && !faultless_ &&
                            !node.operation.empty() && odds_.Occurs(random_, Risk::kStockout, 15);
  if (out_of_stock) {
    operations_[node.operation].done = true;
    operations_[node.operation].error = Error{.code = Code::kResourceExhausted,
                                              .message = "There is no more capacity",
                                              .reason = Reason::kStockout};
    node.life.gone_at = clock_.Now();
    return;
  }
  const bool fresh = node.seen.state == NodeState::kCreating;
  if (!node.operation.empty()) operations_[node.operation].done = true;
  const bool restarted = !fresh && node.seen.state != NodeState::kUnknown;
  if (fresh || (restarted && random_.Percent(60))) Move(node.seen, next_number_++, hosts);
  if (restarted) ++node.boot;
  SetState(node.seen, NodeState::kReady);
  node.seen.health = "HEALTHY";
  node.seen.notice.reset();
}

void FaultyCloud::Progress(const Key& key, Queued& queued) {
  queued.life.next_at = Within(10);
  switch (queued.seen.state) {
    case QueuedState::kCreating:
      return SetState(queued.seen, QueuedState::kAccepted);
    case QueuedState::kAccepted:
      return SetState(queued.seen, QueuedState::kWaitingForResources);
    case QueuedState::kWaitingForResources:
      for (const std::string& id : core::NodeIds(queued.request.ref)) {
        StartNode({key.first, id}, queued.request, key.second);
      }
      return SetState(queued.seen, QueuedState::kProvisioning);
    case QueuedState::kProvisioning:
    case QueuedState::kActive: {
      const auto nodes = NodesOf(key);
      const bool whole = static_cast<int>(nodes.size()) == queued.request.ref.nodes;
      const bool ready = whole && std::all_of(nodes.begin(), nodes.end(), [](const Node* node) {
                           return node->seen.state != NodeState::kCreating;
                         });
      if (!whole) return SetState(queued.seen, QueuedState::kSuspending);
      if (ready) SetState(queued.seen, QueuedState::kActive);
      return;
    }
    case QueuedState::kSuspending:
      for (Node* const node : NodesOf(key)) node->life.gone_at = clock_.Now();
      return SetState(queued.seen, QueuedState::kSuspended);
    case QueuedState::kUnspecified:
    case QueuedState::kFailed:
    case QueuedState::kDeleting:
    case QueuedState::kSuspended:
    case QueuedState::kUnknown:
      queued.life.next_at = base::TimePoint::max();
  }
}

void FaultyCloud::Settle() {
  const base::TimePoint now = clock_.Now();
  const auto late = std::exchange(delayed_, {});
  for (const Delayed& one : late) {
    const Key key{one.request.ref.place.zone, one.request.ref.name};
    if (one.at > now) {
      delayed_.push_back(one);
    } else if (!nodes_.contains(key) && !queued_.contains(key) && !used_.contains(key)) {
      Arrive(one.request);  // unless its slice was created and deleted since
    }
  }
  for (auto& [key, node] : nodes_) {
    if (node.life.next_at <= now && !node.life.gone_at) Progress(node);
  }
  for (auto& [key, queued] : queued_) {
    if (queued.life.next_at <= now && !queued.life.gone_at) Progress(key, queued);
  }
  const auto gone = [&](const auto& entry) {
    const auto& at = entry.second.life.gone_at;
    if (at && *at <= now) used_.insert(entry.first);
    return at && *at <= now;
  };
  std::erase_if(nodes_, gone);
  std::erase_if(queued_, gone);
}

void FaultyCloud::EndFaults() {
  faultless_ = true;
  reachable_ = true;
  for (Delayed& one : delayed_) one.at = clock_.Now();
  Settle();
}

// --- faults ---

std::string FaultyCloud::HarmOne() {
  std::vector<std::function<std::string()>> targets;
  for (auto& [key, node] : nodes_) {
    if (IsOurs(node.seen.labels) && !node.life.gone_at)
      targets.emplace_back([this, one = &node] { return HarmNode(*one); });
  }
  for (auto& [key, queued] : queued_) {
    if (IsOurs(queued.seen.labels) && !queued.life.gone_at)
      targets.emplace_back([this, one = &queued] { return HarmQueued(*one); });
  }
  if (targets.empty()) return "nothing to harm";
  return targets[static_cast<std::size_t>(random_.Below(static_cast<int>(targets.size())))]();
}

std::string FaultyCloud::HarmNode(Node& node) {
  const int dice = random_.Below(100);
  const bool ready = node.seen.state == NodeState::kReady && node.seen.health == "HEALTHY";
  if (!ready) return "no READY node " + node.seen.id;
  node.harmed = true;
  if (dice < 45) {
    constexpr std::array kStates = {NodeState::kPreempted, NodeState::kTerminated,
                                    NodeState::kStopped};
    const NodeState state = kStates.at(static_cast<std::size_t>(dice / 15));
    SetState(node.seen, state);
    if (!node.seen.queued_resource.empty() && random_.Percent(80)) {
      EndQueued(node.seen.zone, node.seen.queued_resource, QueuedState::kSuspending);
    }
  } else if (dice < 55) {
    SetState(node.seen, random_.Percent(50) ? NodeState::kRepairing : NodeState::kUnknown);
    node.life.next_at = Within(60);
  } else if (dice < 65) {
    node.seen.health = "UNHEALTHY_MAINTENANCE";
    node.life.next_at = Within(60);
  } else if (dice < 75) {
    ++node.boot;  // an unannounced reboot
  } else if (dice < 85) {
    const bool imminent = random_.Percent(50);
    node.seen.notice = core::Notice{.imminent = imminent, .text = imminent ? "ONGOING" : "PENDING"};
    if (imminent) node.life.next_at = Within(90);
  } else if (dice < 92) {  // deleted by somebody else
    Leave(node.life);
    SetState(node.seen, NodeState::kDeleting);
  } else {
    node.life.gone_at = clock_.Now();
  }
  return fmt::format("node {} is {} {} {}", node.seen.id, node.seen.raw_state, node.seen.health,
                     node.seen.notice ? node.seen.notice->text : "");
}

std::string FaultyCloud::HarmQueued(Queued& queued) {
  for (Node* const node : NodesOf({queued.seen.zone, queued.seen.id})) node->harmed = true;
  const int dice = random_.Below(3);
  if (queued.seen.state == QueuedState::kFailed || queued.seen.state == QueuedState::kSuspended) {
    return "queued resource " + queued.seen.id + " is over already";
  }
  if (dice == 0) {
    EndQueued(queued.seen.zone, queued.seen.id, QueuedState::kFailed);
    queued.seen.failure = Error{.code = Code::kInternal, .message = "an internal error"};
  } else if (dice == 1) {
    EndQueued(queued.seen.zone, queued.seen.id, QueuedState::kSuspending);
  } else if (queued.seen.state != QueuedState::kActive) {
    EndQueued(queued.seen.zone, queued.seen.id, QueuedState::kWaitingForResources);
    queued.life.next_at = Within(60);
  }
  return "queued resource " + queued.seen.id + " is " + queued.seen.raw_state;
}

/// The queued resource loses all its machines.
void FaultyCloud::EndQueued(const std::string& zone, const std::string& name, QueuedState state) {
  const auto found = queued_.find({zone, name});
  if (found == queued_.end()) return;
  SetState(found->second.seen, state);
  found->second.harmed = true;
  found->second.life.next_at = Within(20);
  for (Node* const node : NodesOf(found->first)) {
    node->harmed = true;
    if (state != QueuedState::kSuspending) node->life.gone_at = clock_.Now();
  }
}

void FaultyCloud::AddForeign(const core::SliceRef& ref, Labels labels) {
  const Key key{ref.place.zone, ref.name};
  if (nodes_.contains(key) || queued_.contains(key)) return;
  core::SliceRequest request{.ref = ref};
  request.tpu.accelerator = "v4-8";
  request.tpu.labels = std::move(labels);
  Arrive(request);
}

// --- state ---

std::vector<FaultyCloud::Node*> FaultyCloud::NodesOf(const Key& queued) {
  std::vector<Node*> nodes;
  for (auto& [key, node] : nodes_) {
    if (key.first == queued.first && node.seen.queued_resource == queued.second)
      nodes.push_back(&node);
  }
  return nodes;
}

std::optional<std::string> FaultyCloud::MachineAt(const std::string& address) const {
  for (const auto& [key, node] : nodes_) {
    if (!IsUp(node.seen)) continue;
    for (std::size_t host = 0; host < node.seen.hosts.size(); ++host) {
      if (node.seen.hosts[host].external == address)
        return fmt::format("{}/{}", node.seen.uid, host);
    }
  }
  return std::nullopt;
}

int FaultyCloud::BootOf(const std::string& machine) const {
  const std::string uid = machine.substr(0, machine.find('/'));
  for (const auto& [key, node] : nodes_) {
    if (node.seen.uid == uid) return IsUp(node.seen) ? node.boot : 0;
  }
  return 0;
}

bool FaultyCloud::IsUnharmed(const core::SliceRef& ref) const {
  const auto ids = core::NodeIds(ref);
  return std::all_of(ids.begin(), ids.end(), [&](const std::string& id) {
    const auto found = nodes_.find({ref.place.zone, id});
    return found != nodes_.end() && !found->second.harmed && !found->second.life.gone_at &&
           IsOurs(found->second.seen.labels) && found->second.seen.state == NodeState::kReady &&
           Visible(found->second.life);
  });
}

bool FaultyCloud::Holds(const core::SliceRef& ref) const {
  const auto holds = [&](const auto& all, const std::string& name) {
    const auto found = all.find({ref.place.zone, name});
    return found != all.end() && IsOurs(found->second.seen.labels) && Visible(found->second.life) &&
           !found->second.life.gone_at;
  };
  const auto ids = core::NodeIds(ref);
  return holds(queued_, ref.name) ||
         std::any_of(ids.begin(), ids.end(), [&](const auto& id) { return holds(nodes_, id); });
}

std::vector<std::string> FaultyCloud::Names(bool foreign) const {
  std::vector<std::string> names;
  for (const auto& [key, node] : nodes_) {
    if (IsOurs(node.seen.labels) != foreign) names.push_back("node " + key.second);
  }
  for (const auto& [key, queued] : queued_) {
    if (IsOurs(queued.seen.labels) != foreign) names.push_back("queued resource " + key.second);
  }
  return names;
}

}  // namespace jobman::test
