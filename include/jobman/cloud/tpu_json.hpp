#pragma once

#include <map>
#include <string>
#include <vector>

#include "jobman/base/json.hpp"
#include "jobman/core/slice.hpp"
#include "jobman/http/url.hpp"

namespace jobman::cloud {

using base::Json;
using base::Result;

/// A call of the Cloud TPU API, ready to be sent or shown.
struct WireCall {
  std::string method = {};
  std::string path = {};  ///< "/v2/projects/..." or "/v2alpha1/...", percent-encoded
  http::Query query = {};
  Json body = {};  ///< null: no body

  /// Path and query, as in the request line.
  std::string Target() const;
  /// The body as compact JSON; empty without one.
  std::string BodyText() const;
};

/// nodes.create or queuedResources.create for this slice. The requestId of a queued resource is
/// derived from the request, so repeating the same request has no further effect. Source of the
/// shapes: the discovery documents and what gcloud sends. It is a request of v2, unless the slice
/// wants what only v2alpha1 has: a run duration, flex-start, a reservation in calendar mode, or a
/// node of a certain reservation.
WireCall RenderCreate(const core::SliceRequest& request);
/// nodes.delete, or queuedResources.delete with force, which deletes the nodes too. Deletes of one
/// name with different `generation` are different requests to the service.
WireCall RenderDelete(const core::SliceRef& ref, int generation = 0);
/// The look for a node (projects.locations.nodes.get).
WireCall RenderLook(const core::Place& place, const std::string& node);
/// nodes.performMaintenance, which only v2alpha1 has.
WireCall RenderMaintenance(const core::Place& place, const std::string& node);
/// queuedResources.performMaintenanceQueuedResource of v2alpha1, for these nodes of it. That whole
/// names of nodes are meant is a guess: the document says "names", which elsewhere in it are whole.
WireCall RenderQueuedMaintenance(const core::Place& place, const std::string& queued,
                                 const std::vector<std::string>& nodes);

/// The Node in the body of a create call.
Json EncodeNode(const core::SliceRequest& request);

/// Responses. Unknown fields are ignored, unknown enum words are kept in raw_state. An error means
/// that the response is not such a resource (it has no name).
Result<core::NodeSeen> DecodeNode(const Json& node);
Result<core::QueuedSeen> DecodeQueued(const Json& queued);
Result<core::OperationSeen> DecodeOperation(const Json& operation);
Result<core::ReservationSeen> DecodeReservation(const Json& reservation);
/// Response of getGuestAttributes. Entries are in host order; hosts without keys are left out.
std::vector<core::HostKeys> DecodeHostKeys(const Json& reply);
/// The names of the VMs of the same response, by the number of the host: key `hostname` of any
/// namespace. What is no name is left out.
std::map<int, std::string> DecodeVmNames(const Json& reply);

/// The last part of a resource name: "t1" of "projects/p/locations/z/nodes/t1".
std::string LastPart(std::string_view name);
/// The part after `kind` in a resource name: "z" for "locations".
std::string PartAfter(std::string_view name, std::string_view kind);

}  // namespace jobman::cloud
