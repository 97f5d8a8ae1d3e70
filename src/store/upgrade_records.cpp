#include "store/upgrade_records.hpp"

#include <algorithm>

#include "jobman/base/strings.hpp"
#include "jobman/core/attempt.hpp"
#include "jobman/core/slice.hpp"
#include "jobman/core/slice_name.hpp"

namespace jobman::store {
namespace {

using base::GetBool;
using base::GetMember;
using base::GetString;
using base::Json;

/// Renames a member, if present.
void Rename(Json& json, const char* from, const char* to) {
  const auto found = json.find(from);
  if (found == json.end()) return;
  Json value = std::move(*found);
  json.erase(from);
  json[to] = std::move(value);
}

/// The cause that an old record's flags stand for.
void UpgradeStop(Json& json) {
  const bool stopping = GetBool(json, "stopping");
  if (stopping) {
    const bool alarm = json.contains("alarm");
    const bool ends_job = alarm && GetString(json["alarm"], "action") == "fail";
    json["stop"] = json.contains("lost") && !ends_job ? "node_lost"
                   : alarm                            ? "alarm"
                   : GetBool(json, "moved")           ? "machines_replaced"
                   : GetBool(json, "timed_out")       ? "step_timed_out"
                   : json.contains("culprit")         ? "host_failed"
                   : json.contains("notice")          ? "notice_grace_over"
                                                      : "stopped_by_user";
  }
  const bool failed = GetString(json, "stop") == "host_failed";
  Rename(json, "culprit", failed ? "failed_host" : "first_failed");
  if (GetString(json, "stop") != "node_lost") json.erase("lost");
  if (GetString(json, "stop") != "alarm") json.erase("alarm");
  for (const char* flag : {"stopping", "timed_out", "moved"}) json.erase(flag);
}

std::string RestartWord(const std::string& reason) {
  if (reason == "the slice vanished") return "preempted";
  const std::string word = reason.substr(0, reason.find(' '));
  return core::RestartCauseFromName(word) ? word : "infra";
}

bool IsFinalWord(const std::string& state) {
  return state == "SUCCEEDED" || state == "FAILED" || state == "CANCELLED" || state == "DELETED";
}

}  // namespace

Json UpgradeSlice(const Json& old) {
  Json json = old;
  if (GetString(json, "phase") == "gone") json["phase"] = "deleting";
  const std::string phase = GetString(json, "phase");
  const std::string asked = GetString(json, "asked_at");
  const std::string created = GetString(json, "created_at");
  json["requests_sent"] = phase == "intended" && asked != created ? 2 : 1;
  Rename(json, "created_at", "last_evidence_at");
  Rename(json, "asked_at", phase == "deleting" ? "delete_requested_at" : "requested_at");
  if (phase == "deleting" && !created.empty()) json["requested_at"] = created;
  if (const std::string only = GetString(json, "operation"); !only.empty()) {
    json["operations"] = {only};
    json.erase("operation");
  }
  const std::string uid = GetString(json, "node_uid");
  if (!json.contains("nodes") && !uid.empty()) {
    json["nodes"] = Json::array({{{"uid", uid}, {"hosts", GetMember(json, "hosts").size()}}});
  }
  json.erase("node_uid");
  if (json.contains("unshown")) return json;
  // Before this list existed, a slice counted as shown once the cloud had reported its state; nodes
  // requested one by one, once all had been READY.
  const auto count = base::GetInt(json, "node_count");
  const bool one_by_one = GetString(json, "mode") == "tpu-vm" && count > 1;
  const bool ready = !GetMember(json, "hosts").empty();
  const bool shown = ready || (!one_by_one && !GetString(json, "cloud_state").empty());
  json["unshown"] = Json::array();
  if (!shown) {
    const core::SliceRef ref{
        .mode = one_by_one ? core::AllocationMode::kTpuVm : core::AllocationMode::kQueuedResources,
        .name = GetString(json, "name"),
        .nodes = static_cast<int>(std::max<std::int64_t>(1, count))};
    json["unshown"] = core::NamesOfParts(ref);
  }
  return json;
}

Json UpgradeStage(const Json& old, const Json& slice) {
  Json json = old;
  const auto number = base::GetInt(json, "number");
  if (json.contains("number") && number >= 0) json["step"] = number;
  json.erase("number");
  for (Json& run : json["hosts"]) {
    const std::string phase = GetString(run, "phase");
    if (phase == "running" || phase == "exited") run["started"] = true;
  }
  if (!json.contains("generation")) json["generation"] = base::GetInt(slice, "generation");
  UpgradeStop(json);
  return json;
}

Json UpgradeAttempt(const std::string& restart_reason, const std::string& state, int attempt) {
  Json json = Json::object();
  if (!restart_reason.empty()) {
    const std::string word = RestartWord(restart_reason);
    json["restart"] = {{"cause", word}};
    const std::string detail =
        restart_reason.substr(std::min(restart_reason.size(), word.size() + 1));
    if (word == "watchdog") json["restart"]["detail"] = detail;
  }
  const bool rests = IsFinalWord(state) || state == "QUEUED" || state == "BACKOFF";
  if (attempt == 0 || !rests) return json;
  const std::string cause = restart_reason.empty() ? "infra" : RestartWord(restart_reason);
  json["end"] = {{"outcome", IsFinalWord(state) ? base::ToLower(state) : cause}};
  return json;
}

}  // namespace jobman::store
