// From our terms to the API's: bodies and paths of the calls that change something.

#include "cloud/accelerator_config.hpp"
#include "jobman/base/hash.hpp"
#include "jobman/cloud/tpu_json.hpp"
#include "jobman/core/accelerators.hpp"

namespace jobman::cloud {
namespace {

using core::Pricing;
using core::SliceRef;
using core::SliceRequest;
using core::TpuSpec;

constexpr const char* kScope = "https://www.googleapis.com/auth/cloud-platform";

std::string ParentName(const core::Place& place) {
  return "projects/" + place.project + "/locations/" + place.zone;
}

constexpr const char* kStable = "v2";
/// Has more fields, and may change without notice.
constexpr const char* kAlpha = "v2alpha1";

std::string ParentPath(const core::Place& place, const char* version = kStable) {
  return std::string("/") + version + "/projects/" + http::PercentEncode(place.project) +
         "/locations/" + http::PercentEncode(place.zone);
}

bool NamesReservation(const TpuSpec& tpu) {
  const bool reserved =
      tpu.pricing == Pricing::kReserved || tpu.pricing == Pricing::kReservationBound;
  return reserved && !tpu.reservation.empty();
}

/// Whether only v2alpha1 has the fields of this request.
bool NeedsAlpha(const SliceRequest& request) {
  const TpuSpec& tpu = request.tpu;
  if (tpu.pricing == Pricing::kReservationBound) return true;
  // Of a node, v2 can only say that it is reserved.
  if (request.ref.mode == core::AllocationMode::kTpuVm) return NamesReservation(tpu);
  return tpu.pricing == Pricing::kFlexStart || tpu.max_run_duration.has_value();
}

/// A UUID derived from the text, in the form of a random one (RFC 4122, version 4).
std::string UuidOf(const std::string& text) {
  std::string hex = base::Sha256Hex(text).substr(0, 32);
  hex[12] = '4';
  hex[16] = 'a';
  return hex.substr(0, 8) + "-" + hex.substr(8, 4) + "-" + hex.substr(12, 4) + "-" +
         hex.substr(16, 4) + "-" + hex.substr(20);
}

Json NetworkOf(const TpuSpec& tpu) {
  Json network = {{"enableExternalIps", tpu.external_ips}};
  if (!tpu.network.empty()) network["network"] = tpu.network;
  if (!tpu.subnetwork.empty()) network["subnetwork"] = tpu.subnetwork;
  // Like gcloud: with neither given, the network named "default".
  if (tpu.network.empty() && tpu.subnetwork.empty()) network["network"] = "default";
  return network;
}

std::string ReservationName(const SliceRequest& request) {
  const std::string& name = request.tpu.reservation;
  if (name.starts_with("projects/")) return name;
  return ParentName(request.ref.place) + "/reservations/" + (name.empty() ? "-" : name);
}

/// A slice created directly has its pricing on the node.
Json SchedulingOf(const SliceRequest& request) {
  Json scheduling = Json::object();
  switch (request.tpu.pricing) {
    case Pricing::kSpot:
      scheduling["spot"] = true;
      break;
    case Pricing::kPreemptible:
      scheduling["preemptible"] = true;
      break;
    case Pricing::kReserved:
      scheduling["reserved"] = true;
      break;
    case Pricing::kReservationBound:
      scheduling["provisioningModel"] = "RESERVATION_BOUND";
      break;
    case Pricing::kFlexStart:  // not for a node: the configuration refuses it
    case Pricing::kOnDemand:
      break;
  }
  if (NamesReservation(request.tpu)) scheduling["reservationName"] = ReservationName(request);
  return scheduling;
}

/// A queued resource has its pricing itself; none of these means on demand.
void SetTier(Json& queued, const SliceRequest& request) {
  switch (request.tpu.pricing) {
    case Pricing::kSpot:
    case Pricing::kPreemptible:  // queued resources of v2 know spot only
      queued["spot"] = Json::object();
      return;
    case Pricing::kReserved:
      queued["reservationName"] = ReservationName(request);
      return;
    case Pricing::kReservationBound:
      queued["provisioningModel"] = "RESERVATION_BOUND";
      queued["reservationName"] = ReservationName(request);
      return;
    case Pricing::kFlexStart:
      queued["provisioningModel"] = "FLEX_START";
      return;
    case Pricing::kOnDemand:
      return;
  }
}

/// The same message has another name in each version.
const char* MultisliceField(const SliceRequest& request) {
  return NeedsAlpha(request) ? "multiNodeParams" : "multisliceParams";
}

/// How long the request may wait: for a duration, or until a time.
void SetQueueingPolicy(Json& queued, const TpuSpec& tpu) {
  if (tpu.valid_for) {
    queued["queueingPolicy"] = {{"validUntilDuration", base::FormatProtoDuration(*tpu.valid_for)}};
  }
  if (tpu.valid_until) {
    queued["queueingPolicy"] = {{"validUntilTime", base::FormatRfc3339(*tpu.valid_until)}};
  }
}

Json EncodeQueued(const SliceRequest& request) {
  Json spec = {{"parent", ParentName(request.ref.place)}, {"node", EncodeNode(request)}};
  if (request.ref.nodes == 1) {
    spec["nodeId"] = request.ref.name;
  } else {
    spec[MultisliceField(request)] = {{"nodeCount", request.ref.nodes},
                                      {"nodeIdPrefix", request.ref.name}};
  }
  Json queued = {{"tpu", {{"nodeSpec", Json::array({spec})}}}};
  SetTier(queued, request);
  SetQueueingPolicy(queued, request.tpu);
  if (const auto& limit = request.tpu.max_run_duration) {
    queued["runDuration"] = {{"maxRunDuration", base::FormatProtoDuration(*limit)}};
  }
  return queued;
}

}  // namespace

std::string WireCall::Target() const {
  return query.empty() ? path : path + "?" + http::EncodeQuery(query);
}

std::string WireCall::BodyText() const {
  // A job file may hold bytes that are not UTF-8; they are sent as replacement characters.
  return body.is_null() ? "" : body.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json EncodeNode(const SliceRequest& request) {
  const TpuSpec& tpu = request.tpu;
  Json node = {{"runtimeVersion", tpu.version}, {"networkConfig", NetworkOf(tpu)}};
  if (tpu.topology.empty()) {
    node["acceleratorType"] = tpu.accelerator;
  } else {
    const std::string type = ConfigTypeOf(core::GenerationOf(tpu.accelerator));
    node["acceleratorConfig"] = {{"type", type}, {"topology", tpu.topology}};
  }
  if (request.ref.mode == core::AllocationMode::kTpuVm) {
    node["schedulingConfig"] = SchedulingOf(request);
  }
  if (!tpu.service_account.empty()) {
    node["serviceAccount"] = {{"email", tpu.service_account}, {"scope", Json::array({kScope})}};
  }
  if (!tpu.tags.empty()) node["tags"] = tpu.tags;
  if (!tpu.labels.empty()) node["labels"] = tpu.labels;
  if (!tpu.metadata.empty()) node["metadata"] = tpu.metadata;
  if (!tpu.startup_script.empty() && !tpu.metadata.contains("startup-script")) {
    node["metadata"]["startup-script"] = tpu.startup_script;
  }
  return node;
}

WireCall RenderCreate(const SliceRequest& request) {
  const std::string parent = ParentPath(request.ref.place, NeedsAlpha(request) ? kAlpha : kStable);
  if (request.ref.mode == core::AllocationMode::kTpuVm) {
    return {.method = "POST",
            .path = parent + "/nodes",
            .query = {{"nodeId", request.ref.name}},
            .body = EncodeNode(request)};
  }
  WireCall call{.method = "POST", .path = parent + "/queuedResources"};
  call.body = EncodeQueued(request);
  call.query = {{"queuedResourceId", request.ref.name},
                {"requestId", UuidOf("create " + call.path + " " + call.BodyText())}};
  return call;
}

WireCall RenderDelete(const SliceRef& ref, int generation) {
  const std::string parent = ParentPath(ref.place);
  const std::string name = http::PercentEncode(ref.name);
  if (ref.mode == core::AllocationMode::kTpuVm) {
    return {.method = "DELETE", .path = parent + "/nodes/" + name};
  }
  WireCall call{.method = "DELETE", .path = parent + "/queuedResources/" + name};
  const std::string seed = "delete " + call.path + " " + std::to_string(generation);
  call.query = {{"force", "true"}, {"requestId", UuidOf(seed)}};
  return call;
}

WireCall RenderLook(const core::Place& place, const std::string& node) {
  return {.method = "GET", .path = ParentPath(place) + "/nodes/" + http::PercentEncode(node)};
}

WireCall RenderMaintenance(const core::Place& place, const std::string& node) {
  return {.method = "POST",
          .path = ParentPath(place, kAlpha) + "/nodes/" + http::PercentEncode(node) +
                  ":performMaintenance",
          .body = Json::object()};
}

WireCall RenderQueuedMaintenance(const core::Place& place, const std::string& queued,
                                 const std::vector<std::string>& nodes) {
  Json names = Json::array();
  for (const std::string& node : nodes) names.push_back(ParentName(place) + "/nodes/" + node);
  return {.method = "POST",
          .path = ParentPath(place, kAlpha) + "/queuedResources/" + http::PercentEncode(queued) +
                  ":performMaintenanceQueuedResource",
          .body = {{"nodeNames", std::move(names)}}};
}

}  // namespace jobman::cloud
