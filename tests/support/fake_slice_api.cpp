#include "tests/support/fake_slice_api.hpp"

#include <algorithm>
#include <utility>

#include "jobman/base/strings.hpp"
#include "jobman/core/accelerators.hpp"
#include "tests/support/cloud_words.hpp"

namespace jobman::test {

using base::Code;
using base::Error;
using base::Reason;
using base::Result;
using base::Status;
using base::Task;
using core::NodeState;
using core::QueuedState;

namespace {

int HostsOf(const std::string& type) {
  const auto found = core::FindAccelerator(type);
  return found.ok() ? found->hosts : 1;
}

std::vector<core::HostAddress> Addresses(int subnet, int hosts, bool external) {
  std::vector<core::HostAddress> all;
  for (int host = 0; host < hosts; ++host) {
    const std::string tail = std::to_string(subnet) + "." + std::to_string(host + 1);
    all.push_back({.internal = "10.1." + tail, .external = external ? "198.18." + tail : ""});
  }
  return all;
}

std::string FullName(const core::Place& place, const std::string& kind, const std::string& id) {
  return "projects/" + place.project + "/locations/" + place.zone + "/" + kind + "/" + id;
}

Error Missing(const std::string& name) {
  return base::NotFound("Resource '" + name + "' was not found");
}

}  // namespace

FakeSliceApi::FakeSliceApi(const FakeClock& clock) : clock_(clock) {}
FakeSliceApi::FakeSliceApi(const FakeClock& clock, Settings settings)
    : clock_(clock), settings_(std::move(settings)) {}

// --- calls ---

template <class T>
Task<Result<T>> FakeSliceApi::Call(std::string method, std::string subject,
                                   std::function<Result<T>()> work) {
  calls_.push_back(method + " " + subject);
  co_await base::Yield();
  if (!reachable_) {
    co_return Error{.code = Code::kUnavailable,
                    .message = "127.0.0.1:1: connection refused",
                    .reason = Reason::kUnreachable};
  }
  const std::optional<Fault> fault = NextFault(method);
  if (fault && !fault->reply_lost) co_return fault->error;
  Settle();
  Result<T> answer = work();
  Settle();
  if (fault) co_return fault->error;
  co_return answer;
}

std::optional<Fault> FakeSliceApi::NextFault(const std::string& method) {
  const auto fits = [&](const Fault& fault) { return fault.call == "*" || fault.call == method; };
  const auto found = std::find_if(faults_.begin(), faults_.end(), fits);
  if (found == faults_.end()) return {};
  Fault fault = *found;
  if (--found->times <= 0) faults_.erase(found);
  return fault;
}

Task<Result<core::OperationSeen>> FakeSliceApi::Create(core::SliceRequest request) {
  const std::string name = request.ref.name;
  return Call<core::OperationSeen>(
      "Create", name, [this, request]() -> Result<core::OperationSeen> {
        JM_TRY(CheckRequest(request));
        created_.push_back(request);
        return request.ref.mode == core::AllocationMode::kQueuedResources ? CreateQueued(request)
                                                                          : CreateNode(request);
      });
}

Task<Result<core::OperationSeen>> FakeSliceApi::Delete(core::SliceRef ref) {
  const std::string name = ref.name;
  return Call<core::OperationSeen>("Delete", name, [this, ref] { return DoDelete(ref); });
}

Task<Result<std::vector<core::NodeSeen>>> FakeSliceApi::ListNodes(core::Place place) {
  using Nodes = std::vector<core::NodeSeen>;
  const std::string zone = place.zone;
  return Call<Nodes>("ListNodes", zone, [this, zone]() -> Result<Nodes> {
    JM_TRY(CheckZone(zone));
    Nodes all;
    for (const auto& [key, node] : nodes_) {
      if (zone == "-" || key.first == zone) all.push_back(node.seen);
    }
    return all;
  });
}

Task<Result<std::vector<core::QueuedSeen>>> FakeSliceApi::ListQueued(core::Place place) {
  using Queue = std::vector<core::QueuedSeen>;
  const std::string zone = place.zone;
  return Call<Queue>("ListQueued", zone, [this, zone]() -> Result<Queue> {
    JM_TRY(CheckZone(zone));
    Queue all;
    for (const auto& [key, queued] : queued_) {
      if (zone == "-" || key.first == zone) all.push_back(queued.seen);
    }
    return all;
  });
}

Task<Result<core::NodeSeen>> FakeSliceApi::GetNode(core::Place place, std::string id) {
  return Call<core::NodeSeen>("GetNode", id, [this, place, id]() -> Result<core::NodeSeen> {
    const auto found = nodes_.find({place.zone, id});
    if (found == nodes_.end()) return Missing(FullName(place, "nodes", id));
    return found->second.seen;
  });
}

Task<Result<core::QueuedSeen>> FakeSliceApi::GetQueued(core::Place place, std::string id) {
  return Call<core::QueuedSeen>("GetQueued", id, [this, place, id]() -> Result<core::QueuedSeen> {
    const auto found = queued_.find({place.zone, id});
    if (found == queued_.end()) return Missing(FullName(place, "queuedResources", id));
    return found->second.seen;
  });
}

Task<Result<core::OperationSeen>> FakeSliceApi::GetOperation(std::string name) {
  return Call<core::OperationSeen>("GetOperation", name,
                                   [this, name]() -> Result<core::OperationSeen> {
                                     const auto found = operations_.find(name);
                                     if (found == operations_.end()) return Missing(name);
                                     return found->second.seen;
                                   });
}

Task<Result<core::OperationSeen>> FakeSliceApi::AddLogin(core::Place place, std::string node,
                                                         std::string line) {
  using Seen = core::OperationSeen;
  return Call<Seen>("AddLogin", node, [this, place, node, line]() -> Result<Seen> {
    if (!nodes_.contains({place.zone, node})) return Missing(FullName(place, "nodes", node));
    auto& lines = logins_[node];
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
    return Seen{.done = true};
  });
}

Task<Result<core::OperationSeen>> FakeSliceApi::PerformMaintenance(core::Place place,
                                                                   std::string node) {
  using Seen = core::OperationSeen;
  return Call<Seen>("PerformMaintenance", node, [this, place, node]() -> Result<Seen> {
    JM_TRY(CheckMaintenance(place, node));
    nodes_[{place.zone, node}].seen.notice.reset();
    return Seen{.done = true};
  });
}

Task<Result<core::OperationSeen>> FakeSliceApi::PerformQueuedMaintenance(
    core::Place place, std::string queued, std::vector<std::string> nodes) {
  using Seen = core::OperationSeen;
  return Call<Seen>("PerformQueuedMaintenance", queued, [this, place, nodes]() -> Result<Seen> {
    for (const std::string& node : nodes) {
      JM_TRY(CheckMaintenance(place, node));
    }
    for (const std::string& node : nodes) nodes_[{place.zone, node}].seen.notice.reset();
    return Seen{.done = true};
  });
}

Task<Result<core::OperationSeen>> FakeSliceApi::ChangeLogins(core::Place place, std::string node,
                                                             core::LoginChange change) {
  using Seen = core::OperationSeen;
  return Call<Seen>("ChangeLogins", node, [this, place, node, change]() -> Result<Seen> {
    if (const auto hook = std::exchange(before_change_of_logins, {})) hook();
    if (!nodes_.contains({place.zone, node})) return Missing(FullName(place, "nodes", node));
    auto& lines = logins_[node];
    const std::string changed = core::ChangedLogins(base::Join(lines, "\n"), change);
    lines = base::Split(changed, '\n');
    std::erase(lines, std::string{});
    return Seen{.done = true};
  });
}

void FakeSliceApi::AddNode(core::NodeSeen node) {
  const Key key{node.zone, node.id};
  nodes_[key] = Node{.seen = std::move(node), .pinned = true};
}

Task<Result<std::vector<core::HostKeys>>> FakeSliceApi::GetHostKeys(core::Place place,
                                                                    std::string node) {
  using Keys = std::vector<core::HostKeys>;
  return Call<Keys>("GetHostKeys", node, [this, place, node]() -> Result<Keys> {
    if (!nodes_.contains({place.zone, node})) return Missing(FullName(place, "nodes", node));
    Keys all;
    for (const auto& [host, keys] : host_keys_[node]) all.push_back(keys);
    return all;
  });
}

Task<Result<std::vector<std::string>>> FakeSliceApi::AcceleratorTypes(core::Place place) {
  using Words = std::vector<std::string>;
  const std::string zone = place.zone;
  return Call<Words>("AcceleratorTypes", zone, [this, zone]() -> Result<Words> {
    JM_TRY(CheckZone(zone));
    const Words& offered = settings_.zones[zone];
    return offered.empty() ? core::AcceleratorTypes() : offered;
  });
}

Task<Result<std::vector<std::string>>> FakeSliceApi::Zones(std::string project) {
  using Words = std::vector<std::string>;
  return Call<Words>("Zones", project, [this]() -> Result<Words> {
    Words zones;
    for (const auto& [zone, types] : settings_.zones) zones.push_back(zone);
    return zones;
  });
}

Task<Result<std::vector<std::string>>> FakeSliceApi::RuntimeVersions(core::Place place) {
  using Words = std::vector<std::string>;
  const std::string zone = place.zone;
  return Call<Words>("RuntimeVersions", zone, [this, zone]() -> Result<Words> {
    JM_TRY(CheckZone(zone));
    return settings_.runtimes;
  });
}

Task<Result<std::vector<core::ReservationSeen>>> FakeSliceApi::Reservations(core::Place place) {
  using All = std::vector<core::ReservationSeen>;
  const std::string zone = place.zone;
  return Call<All>("Reservations", zone, [this, zone]() -> Result<All> {
    JM_TRY(CheckZone(zone));
    const auto found = settings_.reservations.find(zone);
    return found == settings_.reservations.end() ? All{} : found->second;
  });
}

// --- the cloud's side ---

void FakeSliceApi::AddReservation(const std::string& zone, core::ReservationSeen reservation) {
  settings_.reservations[zone].push_back(std::move(reservation));
}

Status FakeSliceApi::CheckMaintenance(const core::Place& place, const std::string& node) const {
  const auto found = nodes_.find({place.zone, node});
  if (found == nodes_.end()) return Missing(FullName(place, "nodes", node));
  if (found->second.seen.notice) return base::Ok();
  return Error{.code = Code::kFailedPrecondition,
               .message = "Node " + node + " has no maintenance."};
}

Status FakeSliceApi::CheckZone(const std::string& zone) const {
  if (zone == "-" || settings_.zones.contains(zone)) return base::Ok();
  return Error{.code = Code::kInvalidArgument,
               .message = "The requested zone \"" + zone + "\" is not supported.",
               .reason = Reason::kBadZone};
}

Status FakeSliceApi::CheckRequest(const core::SliceRequest& request) const {
  const core::Place& place = request.ref.place;
  JM_TRY(CheckZone(place.zone));
  const std::vector<std::string>& offered = settings_.zones.at(place.zone);
  const std::string& type = request.tpu.accelerator;
  if (!offered.empty() && std::find(offered.begin(), offered.end(), type) == offered.end()) {
    return Error{.code = Code::kInvalidArgument,
                 .message = "the accelerator " + type + " was not found in zone " + place.zone,
                 .reason = Reason::kBadAccelerator};
  }
  const Key key{place.zone, request.ref.name};
  const bool from_queue = request.ref.mode == core::AllocationMode::kQueuedResources;
  if (nodes_.contains(key) || (from_queue && queued_.contains(key))) {
    const std::string kind = from_queue ? "queuedResources" : "nodes";
    return Error{.code = Code::kAlreadyExists,
                 .message = "Resource '" + FullName(place, kind, key.second) + "' already exists"};
  }
  return base::Ok();
}

core::OperationSeen FakeSliceApi::NewOperation(const core::Place& place, Operation::Waits waits,
                                               Key key) {
  const std::string id = "operation-" + std::to_string(next_number_++);
  Operation operation{.waits = waits, .key = std::move(key)};
  operation.seen.name = FullName(place, "operations", id);
  operation.seen.done = waits == Operation::Waits::kNothing;
  operations_[operation.seen.name] = operation;
  return operation.seen;
}

core::OperationSeen FakeSliceApi::CreateQueued(const core::SliceRequest& request) {
  const Key key{request.ref.place.zone, request.ref.name};
  Queued queued{.request = request, .granted_at = clock_.Now() + settings_.queue};
  queued.seen.id = key.second;
  queued.seen.zone = key.first;
  queued.seen.labels = request.tpu.labels;
  queued.seen.create_time = base::FormatRfc3339(clock_.Now());
  SetState(queued.seen, QueuedState::kWaitingForResources);
  queued_[key] = queued;
  return NewOperation(request.ref.place, Operation::Waits::kNothing, key);
}

core::OperationSeen FakeSliceApi::CreateNode(const core::SliceRequest& request) {
  const Key key{request.ref.place.zone, request.ref.name};
  if (!TakeStock({key.first, request.tpu.accelerator})) {
    core::OperationSeen seen = NewOperation(request.ref.place, Operation::Waits::kNothing, key);
    seen.node = key.second;
    seen.done = true;
    seen.error = Error{.code = Code::kResourceExhausted,
                       .message = "There is no more capacity in the zone \"" + key.first + "\"",
                       .reason = Reason::kStockout};
    operations_[seen.name].seen = seen;
    // Like the service: the call succeeds, its operation fails.
    return {.name = seen.name};
  }
  Start(request, false);
  core::OperationSeen started = NewOperation(request.ref.place, Operation::Waits::kNodeReady, key);
  started.node = key.second;
  operations_[started.name].seen = started;
  return started;
}

void FakeSliceApi::Start(const core::SliceRequest& request, bool from_queue) {
  const Key key{request.ref.place.zone, request.ref.name};
  Node node{.ready_at = clock_.Now() + settings_.provision, .holds_stock = true};
  const int number = next_number_++;
  node.seen.id = key.second;
  node.seen.zone = key.first;
  node.seen.uid = std::to_string(7'000'000'000'000 + number);
  node.seen.accelerator = request.tpu.accelerator;
  node.seen.queued_resource = from_queue ? key.second : "";
  node.seen.labels = request.tpu.labels;
  node.seen.create_time = base::FormatRfc3339(clock_.Now());
  node.seen.spot = request.tpu.pricing == core::Pricing::kSpot;
  node.seen.hosts =
      Addresses(number % 250, HostsOf(request.tpu.accelerator), request.tpu.external_ips);
  SetState(node.seen, NodeState::kCreating);
  nodes_[key] = node;
}

Result<core::OperationSeen> FakeSliceApi::DoDelete(const core::SliceRef& ref) {
  const Key key{ref.place.zone, ref.name};
  const TimePoint gone_at = clock_.Now() + settings_.remove;
  const auto node = nodes_.find(key);
  const auto queued = queued_.find(key);
  const bool from_queue = ref.mode == core::AllocationMode::kQueuedResources;
  if (from_queue && queued == queued_.end()) {
    return Missing(FullName(ref.place, "queuedResources", ref.name));
  }
  if (!from_queue && node == nodes_.end()) return Missing(FullName(ref.place, "nodes", ref.name));
  if (from_queue) {
    SetState(queued->second.seen, QueuedState::kDeleting);
    queued->second.gone_at = gone_at;
  }
  if (node != nodes_.end()) {
    SetState(node->second.seen, NodeState::kDeleting);
    node->second.gone_at = gone_at;
  }
  return NewOperation(ref.place, Operation::Waits::kGone, key);
}

bool FakeSliceApi::TakeStock(const Key& zone_and_type) {
  const auto found = stock_.find(zone_and_type);
  if (found == stock_.end()) return true;
  if (found->second <= 0) return false;
  --found->second;
  return true;
}

void FakeSliceApi::Release(Node& node) {
  const auto found = stock_.find({node.seen.zone, node.seen.accelerator});
  if (node.holds_stock && found != stock_.end()) ++found->second;
  node.holds_stock = false;
}

void FakeSliceApi::EraseNode(const Key& key) {
  const auto found = nodes_.find(key);
  if (found == nodes_.end()) return;
  Release(found->second);
  host_keys_.erase(key.second);
  nodes_.erase(found);
}

void FakeSliceApi::SettleNode(Node& node) {
  if (node.pinned || node.seen.state != NodeState::kCreating) return;
  if (clock_.Now() >= node.ready_at) SetState(node.seen, NodeState::kReady);
}

void FakeSliceApi::SettleQueued(const Key& key, Queued& queued) {
  const auto node = nodes_.find(key);
  const QueuedState state = queued.seen.state;
  if (state == QueuedState::kWaitingForResources && clock_.Now() >= queued.granted_at &&
      TakeStock({key.first, queued.request.tpu.accelerator})) {
    SetState(queued.seen, QueuedState::kProvisioning);
    Start(queued.request, true);
  }
  if (state == QueuedState::kProvisioning && node != nodes_.end() &&
      node->second.seen.state == NodeState::kReady) {
    SetState(queued.seen, QueuedState::kActive);
  }
  if (state == QueuedState::kActive && node == nodes_.end()) {
    SetState(queued.seen, QueuedState::kSuspended);
  }
}

void FakeSliceApi::SettleOperation(Operation& operation) {
  if (operation.seen.done) return;
  const auto node = nodes_.find(operation.key);
  switch (operation.waits) {
    case Operation::Waits::kNothing:
      operation.seen.done = true;
      break;
    case Operation::Waits::kNodeReady:
      operation.seen.done = node == nodes_.end() || node->second.seen.state != NodeState::kCreating;
      break;
    case Operation::Waits::kGone:
      operation.seen.done = node == nodes_.end() && !queued_.contains(operation.key);
      break;
  }
}

void FakeSliceApi::Settle() {
  std::vector<Key> gone;
  for (auto& [key, node] : nodes_) {
    if (node.gone_at && *node.gone_at <= clock_.Now()) gone.push_back(key);
  }
  for (const Key& key : gone) EraseNode(key);
  std::erase_if(queued_, [&](const auto& entry) {
    return entry.second.gone_at && *entry.second.gone_at <= clock_.Now();
  });
  for (auto& [key, queued] : queued_) SettleQueued(key, queued);
  for (auto& [key, node] : nodes_) SettleNode(node);
  for (auto& [key, queued] : queued_) SettleQueued(key, queued);
  for (auto& [name, operation] : operations_) SettleOperation(operation);
}

// --- what a test does ---

void FakeSliceApi::AddFault(Fault fault) {
  faults_.push_back(std::move(fault));
}

void FakeSliceApi::SetStock(const std::string& zone, const std::string& type, int slices) {
  stock_[{zone, type}] = slices;
}

void FakeSliceApi::Preempt(const std::string& name) {
  Settle();
  for (auto& [key, node] : nodes_) {
    if (key.second != name) continue;
    SetState(node.seen, NodeState::kPreempted);
    node.pinned = true;
    Release(node);
  }
  for (auto& [key, queued] : queued_) {
    if (key.second != name) continue;
    SetState(queued.seen, QueuedState::kSuspended);
  }
}

void FakeSliceApi::SetNodeState(const std::string& name, NodeState state) {
  Settle();
  for (auto& [key, node] : nodes_) {
    if (key.second != name) continue;
    SetState(node.seen, state);
    node.pinned = true;
  }
}

void FakeSliceApi::FailQueued(const std::string& name, Error error) {
  Settle();
  for (auto& [key, queued] : queued_) {
    if (key.second != name) continue;
    SetState(queued.seen, QueuedState::kFailed);
    queued.seen.failure = error;
    EraseNode(key);
  }
}

void FakeSliceApi::LoseNode(const std::string& name) {
  Settle();
  for (const auto& [zone, types] : settings_.zones) EraseNode({zone, name});
  Settle();
}

void FakeSliceApi::MoveNode(const std::string& name) {
  Settle();
  for (auto& [key, node] : nodes_) {
    if (key.second != name) continue;
    const bool external = !node.seen.hosts.empty() && !node.seen.hosts.front().external.empty();
    const int hosts = static_cast<int>(node.seen.hosts.size());
    node.seen.hosts = Addresses(next_number_++ % 250, hosts, external);
  }
}

void FakeSliceApi::Announce(const std::string& name, std::optional<core::Notice> notice) {
  Settle();
  for (auto& [key, node] : nodes_) {
    if (key.second == name) node.seen.notice = notice;
  }
}

void FakeSliceApi::PublishHostKey(const std::string& node, int host, const std::string& type,
                                  const std::string& key) {
  core::HostKeys& keys = host_keys_[node][host];
  keys.host = host;
  keys.keys[type] = key;
}

// --- what a test looks at ---

int FakeSliceApi::CountCalls(const std::string& method) const {
  const auto fits = [&](const std::string& call) { return call.starts_with(method + " "); };
  return static_cast<int>(std::count_if(calls_.begin(), calls_.end(), fits));
}

std::vector<std::string> FakeSliceApi::Leftovers() {
  Settle();
  std::vector<std::string> all;
  for (const auto& [key, node] : nodes_) all.push_back("node " + key.first + "/" + key.second);
  for (const auto& [key, queued] : queued_) {
    all.push_back("queued resource " + key.first + "/" + key.second);
  }
  return all;
}

}  // namespace jobman::test
