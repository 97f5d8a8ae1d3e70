// The slice that a job holds, and those it gave up.
#include <algorithm>
#include <utility>

#include "core/json_fields.hpp"
#include "jobman/core/job_json.hpp"

namespace jobman::core {
namespace {

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

Json NodesToJson(const std::vector<SliceNode>& nodes) {
  Json list = Json::array();
  for (const SliceNode& node : nodes) list.push_back({{"uid", node.uid}, {"hosts", node.hosts}});
  return list;
}

/// Also as it was written when a slice had one node only: "node_uid".
std::vector<SliceNode> NodesFromJson(const Json& json) {
  const Json& list = GetMember(json, "nodes");
  if (!list.is_array()) {
    const std::string uid = GetString(json, "node_uid");
    if (uid.empty()) return {};
    return {{.uid = uid, .hosts = static_cast<int>(GetMember(json, "hosts").size())}};
  }
  std::vector<SliceNode> nodes;
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

/// Also as it was written when there was one at most: "operation".
std::vector<std::string> OperationsFromJson(const Json& json) {
  const std::string only = GetString(json, "operation");
  return only.empty() ? StringsFromJson(GetMember(json, "operations")) : std::vector{only};
}

Json RefToJson(const SliceRef& ref) {
  Json json = {{"mode", AllocationModeName(ref.mode)}};
  PutText(json, "project", ref.place.project);
  PutText(json, "zone", ref.place.zone);
  PutText(json, "name", ref.name);
  if (ref.nodes != 1) json["node_count"] = ref.nodes;
  return json;
}

Result<SliceRef> RefFromJson(const Json& json) {
  const std::string word = GetString(json, "mode");
  const auto mode = AllocationModeFromName(word);
  if (!mode) return UnknownWord("allocation mode", word);
  return SliceRef{.mode = *mode,
                  .place = {.project = GetString(json, "project"), .zone = GetString(json, "zone")},
                  .name = GetString(json, "name"),
                  .nodes = std::max(1, GetSmallInt(json, "node_count"))};
}

/// Records of before there was this list: nodes asked for one by one were taken as shown when all
/// of them had been READY.
std::vector<std::string> UnshownFromJson(const Json& json, const SliceRef& ref) {
  if (json.contains("unshown")) return StringsFromJson(GetMember(json, "unshown"));
  const bool one_by_one = ref.mode == AllocationMode::kTpuVm && ref.nodes > 1;
  const bool shown =
      one_by_one ? !GetMember(json, "hosts").empty() : !GetString(json, "cloud_state").empty();
  return shown ? std::vector<std::string>{} : NamesOfParts(ref);
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
  PutTime(json, "asked_at", slice.asked_at);
  PutTime(json, "created_at", slice.created_at);
  json["unshown"] = slice.unshown;
  PutText(json, "cloud_state", slice.cloud_state);
  if (slice.ready) json["ready"] = true;
  if (slice.no_answer) json["no_answer"] = NoAnswerToJson(*slice.no_answer);
  PutNotice(json, slice.notice);
  return json;
}

Result<Slice> SliceFromJson(const Json& json) {
  const std::string word = GetString(json, "phase");
  const auto phase = SlicePhaseFromName(word);
  if (!phase) return UnknownWord("slice phase", word);
  JM_ASSIGN_OR_RETURN(SliceRef ref, RefFromJson(json));
  JM_ASSIGN_OR_RETURN(const TimePoint asked_at, ReadTime(json, "asked_at"));
  JM_ASSIGN_OR_RETURN(const TimePoint created_at, ReadTime(json, "created_at"));
  JM_ASSIGN_OR_RETURN(auto no_answer, NoAnswerFromJson(GetMember(json, "no_answer")));
  JM_ASSIGN_OR_RETURN(auto notice, ReadNotice(json));
  return Slice{.ref = ref,
               .phase = *phase,
               .operations = OperationsFromJson(json),
               .nodes = NodesFromJson(json),
               .hosts = HostAddressesFromJson(GetMember(json, "hosts")),
               .generation = GetSmallInt(json, "generation"),
               .absences = GetSmallInt(json, "absences"),
               .gaps = GetSmallInt(json, "gaps"),
               .asked_at = asked_at,
               .created_at = created_at,
               .unshown = UnshownFromJson(json, ref),
               .cloud_state = GetString(json, "cloud_state"),
               .ready = base::GetBool(json, "ready"),
               .no_answer = std::move(no_answer),
               .notice = std::move(notice)};
}

Json GivenUpToJson(const std::vector<GivenUp>& all) {
  Json array = Json::array();
  for (const GivenUp& one : all) {
    Json json = RefToJson(one.ref);
    PutTime(json, "until", one.until);
    array.push_back(std::move(json));
  }
  return array;
}

Result<std::vector<GivenUp>> GivenUpFromJson(const Json& json) {
  std::vector<GivenUp> all;
  if (!json.is_array()) return all;
  for (const Json& entry : json) {
    JM_ASSIGN_OR_RETURN(SliceRef ref, RefFromJson(entry));
    JM_ASSIGN_OR_RETURN(const TimePoint until, ReadTime(entry, "until"));
    all.push_back({.ref = std::move(ref), .until = until});
  }
  return all;
}

std::string_view SlicePhaseName(SlicePhase phase) {
  switch (phase) {
    case SlicePhase::kIntended:
      return "intended";
    case SlicePhase::kCreated:
      return "created";
    case SlicePhase::kDeleting:
      return "deleting";
    case SlicePhase::kGone:
      return "gone";
  }
  JM_CHECK(false, "a SlicePhase out of range");
  return {};
}

std::optional<SlicePhase> SlicePhaseFromName(std::string_view name) {
  return FindName(&SlicePhaseName,
                  std::array{SlicePhase::kIntended, SlicePhase::kCreated, SlicePhase::kDeleting,
                             SlicePhase::kGone},
                  name);
}

}  // namespace jobman::core
