// The slice that a job holds, and the requests that it abandoned.
#include <algorithm>
#include <utility>

#include "core/json_fields.hpp"
#include "jobman/core/job_json.hpp"

namespace jobman::core {
namespace {

using base::GetBool;
using base::GetMember;
using base::GetString;
using base::Json;
using base::Result;

Json HostAddressesToJson(const std::vector<HostAddress>& hosts) {
  Json list = Json::array();
  for (const HostAddress& host : hosts) {
    Json entry = Json::object();
    PutText(entry, "internal", host.internal);
    PutText(entry, "external", host.external);
    list.push_back(std::move(entry));
  }
  return list;
}

std::vector<HostAddress> HostAddressesFromJson(const Json& list) {
  std::vector<HostAddress> hosts;
  if (!list.is_array()) return hosts;
  for (const Json& entry : list)
    hosts.push_back(
        {.internal = GetString(entry, "internal"), .external = GetString(entry, "external")});
  return hosts;
}

Json NoAnswerToJson(const NoAnswer& no_answer) {
  Json json = {{"error", ErrorToJson(no_answer.error)}};
  PutTime(json, "since", no_answer.since);
  return json;
}

Result<std::optional<NoAnswer>> NoAnswerFromJson(const Json& json) {
  auto error = ReadError(json);
  if (!error) return std::optional<NoAnswer>{};
  JM_ASSIGN_OR_RETURN(const TimePoint since, ReadTime(json, "since"));
  return std::optional(NoAnswer{.since = since, .error = std::move(*error)});
}

Json RefusedToJson(const DeleteRefused& refused) {
  Json json = {{"times", refused.times}, {"error", ErrorToJson(refused.error)}};
  PutTime(json, "since", refused.since);
  return json;
}

Result<std::optional<DeleteRefused>> RefusedFromJson(const Json& json) {
  auto error = ReadError(json);
  if (!error) return std::optional<DeleteRefused>{};
  JM_ASSIGN_OR_RETURN(const TimePoint since, ReadTime(json, "since"));
  return std::optional(DeleteRefused{
      .since = since, .times = GetSmallInt(json, "times"), .error = std::move(*error)});
}

Json NodesToJson(const std::vector<SliceNode>& nodes) {
  Json list = Json::array();
  for (const SliceNode& node : nodes) list.push_back({{"uid", node.uid}, {"hosts", node.hosts}});
  return list;
}

std::vector<SliceNode> NodesFromJson(const Json& list) {
  std::vector<SliceNode> nodes;
  if (!list.is_array()) return nodes;
  for (const Json& entry : list)
    nodes.push_back({.uid = GetString(entry, "uid"), .hosts = GetSmallInt(entry, "hosts")});
  return nodes;
}

std::vector<std::string> StringsFromJson(const Json& list) {
  std::vector<std::string> strings;
  if (!list.is_array()) return strings;
  for (const Json& entry : list)
    if (entry.is_string()) strings.push_back(entry.get_ref<const std::string&>());
  return strings;
}

std::vector<int> NumbersFromJson(const Json& list) {
  std::vector<int> numbers;
  if (!list.is_array()) return numbers;
  for (const Json& entry : list)
    if (entry.is_number_integer()) numbers.push_back(entry.get<int>());
  return numbers;
}

Json RefToJson(const SliceRef& ref) {
  Json json = {{"mode", AllocationModeName(ref.mode)}};
  PutText(json, "project", ref.place.project);
  PutText(json, "zone", ref.place.zone);
  PutText(json, "name", ref.name);
  if (ref.nodes != 1) json["node_count"] = ref.nodes;
  if (ref.existing) json["existing"] = true;
  return json;
}

std::optional<SetupDone> SetupDoneFromJson(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  return SetupDone{.generation = GetSmallInt(json, "generation"),
                   .epoch = GetSmallInt(json, "epoch"),
                   .vouched = GetBool(json, "vouched")};
}

Result<SliceRef> RefFromJson(const Json& json) {
  const std::string word = GetString(json, "mode");
  const auto mode = FromWord<AllocationMode>(word);
  if (!mode) return UnknownWord("allocation mode", word);
  return SliceRef{.mode = *mode,
                  .place = {.project = GetString(json, "project"), .zone = GetString(json, "zone")},
                  .name = GetString(json, "name"),
                  .nodes = std::max(1, GetSmallInt(json, "node_count")),
                  .existing = GetBool(json, "existing")};
}

}  // namespace

Json SliceToJson(const Slice& slice) {
  Json json = RefToJson(slice.ref);
  json["phase"] = SlicePhaseName(slice.phase);
  if (!slice.operations.empty()) json["operations"] = slice.operations;
  json["nodes"] = NodesToJson(slice.nodes);
  json["hosts"] = HostAddressesToJson(slice.hosts);
  json["generation"] = slice.generation;
  json["absences"] = slice.absences;
  if (slice.gaps != 0) json["gaps"] = slice.gaps;
  if (slice.omitted_since) PutTime(json, "omitted_since", *slice.omitted_since);
  if (slice.lacking_since) PutTime(json, "lacking_since", *slice.lacking_since);
  if (slice.not_found_since) PutTime(json, "not_found_since", *slice.not_found_since);
  json["requests_sent"] = slice.requests_sent;
  PutTime(json, "requested_at", slice.requested_at);
  if (slice.delete_requested_at) {
    PutTime(json, "delete_requested_at", *slice.delete_requested_at);
  }
  if (slice.delete_refused) json["delete_refused"] = RefusedToJson(*slice.delete_refused);
  PutTime(json, "last_evidence_at", slice.last_evidence_at);
  json["unshown"] = slice.unshown;
  PutText(json, "cloud_state", slice.cloud_state);
  if (slice.ready) json["ready"] = true;
  if (slice.unhealthy_since) PutTime(json, "unhealthy_since", *slice.unhealthy_since);
  if (slice.no_answer) json["no_answer"] = NoAnswerToJson(*slice.no_answer);
  if (!slice.unstopped.empty()) json["unstopped"] = slice.unstopped;
  PutNotice(json, slice.notice);
  if (slice.lent_until) PutTime(json, "lent_until", *slice.lent_until);
  if (slice.setup_done) {
    json["setup_done"] = {{"generation", slice.setup_done->generation},
                          {"epoch", slice.setup_done->epoch}};
    if (slice.setup_done->vouched) json["setup_done"]["vouched"] = true;
  }
  if (slice.lapses > 0) json["lapses"] = slice.lapses;
  return json;
}

Result<Slice> SliceFromJson(const Json& json) {
  const std::string word = GetString(json, "phase");
  const auto phase = SlicePhaseFromName(word);
  if (!phase) return UnknownWord("slice phase", word);
  JM_ASSIGN_OR_RETURN(SliceRef ref, RefFromJson(json));
  JM_ASSIGN_OR_RETURN(const TimePoint requested_at, ReadTime(json, "requested_at"));
  JM_ASSIGN_OR_RETURN(const auto delete_requested_at, ReadMaybeTime(json, "delete_requested_at"));
  JM_ASSIGN_OR_RETURN(const auto omitted_since, ReadMaybeTime(json, "omitted_since"));
  JM_ASSIGN_OR_RETURN(const auto lacking_since, ReadMaybeTime(json, "lacking_since"));
  JM_ASSIGN_OR_RETURN(const auto not_found_since, ReadMaybeTime(json, "not_found_since"));
  JM_ASSIGN_OR_RETURN(const auto unhealthy_since, ReadMaybeTime(json, "unhealthy_since"));
  JM_ASSIGN_OR_RETURN(const auto lent_until, ReadMaybeTime(json, "lent_until"));
  JM_ASSIGN_OR_RETURN(const TimePoint last_evidence_at, ReadTime(json, "last_evidence_at"));
  JM_ASSIGN_OR_RETURN(auto refused, RefusedFromJson(GetMember(json, "delete_refused")));
  JM_ASSIGN_OR_RETURN(auto no_answer, NoAnswerFromJson(GetMember(json, "no_answer")));
  JM_ASSIGN_OR_RETURN(auto notice, ReadNotice(json));
  return Slice{.ref = ref,
               .phase = *phase,
               .requests_sent = std::max(1, GetSmallInt(json, "requests_sent")),
               .operations = StringsFromJson(GetMember(json, "operations")),
               .nodes = NodesFromJson(GetMember(json, "nodes")),
               .hosts = HostAddressesFromJson(GetMember(json, "hosts")),
               .generation = GetSmallInt(json, "generation"),
               .absences = GetSmallInt(json, "absences"),
               .gaps = GetSmallInt(json, "gaps"),
               .omitted_since = omitted_since,
               .lacking_since = lacking_since,
               .not_found_since = not_found_since,
               .requested_at = requested_at,
               .delete_requested_at = delete_requested_at,
               .delete_refused = std::move(refused),
               .last_evidence_at = last_evidence_at,
               .unshown = StringsFromJson(GetMember(json, "unshown")),
               .cloud_state = GetString(json, "cloud_state"),
               .ready = base::GetBool(json, "ready"),
               .unhealthy_since = unhealthy_since,
               .no_answer = std::move(no_answer),
               .unstopped = NumbersFromJson(GetMember(json, "unstopped")),
               .notice = std::move(notice),
               .lent_until = lent_until,
               .setup_done = SetupDoneFromJson(GetMember(json, "setup_done")),
               .lapses = GetSmallInt(json, "lapses")};
}

Json AbandonedToJson(const std::vector<AbandonedRequest>& all) {
  Json array = Json::array();
  for (const AbandonedRequest& one : all) {
    Json json = RefToJson(one.ref);
    PutTime(json, "until", one.until);
    if (one.delete_refused) json["delete_refused"] = RefusedToJson(*one.delete_refused);
    array.push_back(std::move(json));
  }
  return array;
}

Result<std::vector<AbandonedRequest>> AbandonedFromJson(const Json& json) {
  std::vector<AbandonedRequest> all;
  if (!json.is_array()) return all;
  for (const Json& entry : json) {
    JM_ASSIGN_OR_RETURN(SliceRef ref, RefFromJson(entry));
    JM_ASSIGN_OR_RETURN(const TimePoint until, ReadTime(entry, "until"));
    JM_ASSIGN_OR_RETURN(auto refused, RefusedFromJson(GetMember(entry, "delete_refused")));
    all.push_back({.ref = std::move(ref), .until = until, .delete_refused = std::move(refused)});
  }
  return all;
}

}  // namespace jobman::core
