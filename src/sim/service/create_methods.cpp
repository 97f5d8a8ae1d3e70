#include <fmt/format.h>

#include <algorithm>

#include "jobman/base/strings.hpp"
#include "sim/service/tpu_service.hpp"

// nodes.create and queuedResources.create.

namespace jobman::sim {

namespace {

constexpr std::size_t kOwnerlessKept = 200;

/// The API's pattern; 63 because the id becomes part of host names.
bool IsId(const std::string& id) {
  return !id.empty() && id.size() <= 63 && std::all_of(id.begin(), id.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_.~+%-").find(c) != std::string_view::npos;
  });
}

bool HasOwner(const Json& spec) {
  const Json& labels = Member(spec, "labels");
  if (!labels.is_object()) return false;
  for (const auto& [key, value] : labels.items()) {
    if (key.starts_with("jobman-")) return true;
  }
  return false;
}

/// The same request from somebody else, without our labels.
Json Anonymous(Json spec) {
  for (const char* field : {"labels", "metadata", "description", "tags"}) spec.erase(field);
  return spec;
}

/// The documentation offers flex-start for these two generations. The text was seen in the field,
/// of a zone without it.
std::optional<ApiError> FlexStartError(const QueuedResource& queued) {
  const std::string& generation = queued.shape.generation;
  const bool flex = Text(queued.body, "provisioningModel") == "FLEX_START";
  if (!flex || generation == "v5litepod" || generation == "v6e") return std::nullopt;
  return ApiError{.code = base::Code::kInvalidArgument,
                  .message = fmt::format("FLEX_START provisioning model is not supported for "
                                         "accelerator type \"{}\" in location \"{}\"",
                                         queued.shape.type, queued.key.zone)};
}

}  // namespace

Reply TpuService::CreateNode(const Call& call, TimePoint now) {
  ResourceKey key = call.route.key;
  key.id = Query(call.request, "nodeId");
  if (!IsId(key.id)) return ToReply(BadRequestError("nodeId \"" + key.id + "\" is not valid."));
  if (auto first = Repeated(call)) return std::move(*first);
  NodePlan plan{.key = key, .spec = call.body, .version = call.route.version};
  if (auto error = CheckNodeSpec(plan.spec, key.zone, settings_.types)) return ToReply(*error);
  if (call.Is(CallFault::Kind::kTaken)) Occupy(plan, now);
  if (nodes_.Find(key) != nullptr) return ToReply(AlreadyExistsError(ResourceName(key, "nodes")));

  const core::Accelerator shape = *ShapeOf(plan.spec, key.zone, settings_.types);
  plan.spot = IsSpot(plan.spec);
  if (auto error = CheckQuota(key, shape, plan.spot, 1)) return ToReply(*error);
  if (call.Is(CallFault::Kind::kOperation) || call.Is(CallFault::Kind::kGiveUp)) {
    plan.error = call.fault->error;
  }
  plan.stalled = call.Is(CallFault::Kind::kWait) || call.Is(CallFault::Kind::kProvision);
  if (!nodes_.HasCapacity(shape, key.zone, 1)) plan.error = StockoutError(key.zone);
  plan.spot = plan.spot && !Flag(Member(plan.spec, "schedulingConfig"), "preemptible");
  NoteOwner(ResourceName(key, "nodes"), plan.spec, now);
  const Operations::Key operation = nodes_.Create(plan, now);
  Remember(call, operation);
  return {.body = operations_.Render(operation)};
}

std::optional<Reply> TpuService::Repeated(const Call& call) const {
  const auto seen = requests_.find(Query(call.request, "requestId"));
  if (!settings_.guesses.request_id_deduplicates || seen == requests_.end()) return std::nullopt;
  Json operation = operations_.Render(seen->second);
  if (operation.is_null()) return std::nullopt;
  return Reply{.body = std::move(operation)};
}

void TpuService::Remember(const Call& call, const Operations::Key& operation) {
  const std::string id = Query(call.request, "requestId");
  if (!id.empty()) requests_[id] = operation;
}

Reply TpuService::CreateQueued(const Call& call, TimePoint now) {
  QueuedResource queued;
  queued.key = call.route.key;
  queued.key.id = Query(call.request, "queuedResourceId");
  queued.version = call.route.version;
  if (auto first = Repeated(call)) return std::move(*first);
  if (!IsId(queued.key.id)) {
    return ToReply(BadRequestError("queuedResourceId \"" + queued.key.id + "\" is not valid."));
  }
  if (auto error = queued_.Parse(call.body, queued)) return ToReply(*error);
  for (const NodePlan& plan : queued.nodes) {
    if (!IsId(plan.key.id))
      return ToReply(BadRequestError("nodeId \"" + plan.key.id + "\" is not valid."));
  }
  if (call.Is(CallFault::Kind::kTaken)) Occupy(queued, now);
  if (queued_.Find(queued.key) != nullptr) {
    return ToReply(AlreadyExistsError(ResourceName(queued.key, "queuedResources")));
  }
  const int count = static_cast<int>(queued.nodes.size());
  if (auto error = CheckQuota(queued.key, queued.shape, queued.spot, count)) return ToReply(*error);
  queued.failure = FlexStartError(queued);
  if (call.Is(CallFault::Kind::kOperation)) queued.failure = call.fault->error;
  queued.stalled = call.Is(CallFault::Kind::kWait);
  queued.gives_up = call.Is(CallFault::Kind::kGiveUp);
  for (NodePlan& plan : queued.nodes) {
    plan.stalled = queued.gives_up || call.Is(CallFault::Kind::kProvision);
  }
  NoteOwner(ResourceName(queued.key, "queuedResources"), queued.nodes.front().spec, now);
  const Operations::Key operation = queued_.Create(std::move(queued), now);
  Remember(call, operation);
  return {.body = operations_.Render(operation)};
}

void TpuService::Occupy(const NodePlan& plan, TimePoint now) {
  if (nodes_.Find(plan.key) != nullptr) return;
  nodes_.Add(
      {.key = plan.key, .spec = Anonymous(plan.spec), .version = plan.version, .foreign = true},
      settings_.delays.create, now);
}

void TpuService::Occupy(const QueuedResource& wanted, TimePoint now) {
  if (queued_.Find(wanted.key) != nullptr) return;
  QueuedResource other = wanted;
  for (NodePlan& plan : other.nodes) plan.spec = Anonymous(plan.spec);
  other.stalled = true;
  other.foreign = true;
  queued_.Create(std::move(other), now);
}

void TpuService::NoteOwner(const std::string& name, const Json& spec, TimePoint now) {
  if (HasOwner(spec) || ownerless_.size() >= kOwnerlessKept) return;
  ownerless_.push_back({{"name", name}, {"created", Timestamp(now)}});
}

}  // namespace jobman::sim
