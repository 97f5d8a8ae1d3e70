// From our terms to the API's: bodies and paths of the calls that change something.

#include "jobman/base/hash.hpp"
#include "jobman/cloud/tpu_json.hpp"

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

std::string ParentPath(const core::Place& place) {
  return "/v2/projects/" + http::PercentEncode(place.project) + "/locations/" +
         http::PercentEncode(place.zone);
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

/// A slice created directly has its pricing on the node.
Json SchedulingOf(Pricing pricing) {
  switch (pricing) {
    case Pricing::kSpot:
      return {{"spot", true}};
    case Pricing::kPreemptible:
      return {{"preemptible", true}};
    case Pricing::kReserved:
      return {{"reserved", true}};
    case Pricing::kOnDemand:
      return Json::object();
  }
  return Json::object();
}

std::string ReservationName(const SliceRequest& request) {
  const std::string& name = request.tpu.reservation;
  if (name.starts_with("projects/")) return name;
  return ParentName(request.ref.place) + "/reservations/" + (name.empty() ? "-" : name);
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
    case Pricing::kOnDemand:
      return;
  }
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
    spec["multisliceParams"] = {{"nodeCount", request.ref.nodes},
                                {"nodeIdPrefix", request.ref.name}};
  }
  Json queued = {{"tpu", {{"nodeSpec", Json::array({spec})}}}};
  SetTier(queued, request);
  SetQueueingPolicy(queued, request.tpu);
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
  Json node = {{"acceleratorType", tpu.accelerator},
               {"runtimeVersion", tpu.version},
               {"networkConfig", NetworkOf(tpu)}};
  if (request.ref.mode == core::AllocationMode::kTpuVm) {
    node["schedulingConfig"] = SchedulingOf(tpu.pricing);
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
  const std::string parent = ParentPath(request.ref.place);
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

}  // namespace jobman::cloud
