#include "jobman/core/job_json.hpp"

#include <array>
#include <string>
#include <utility>

namespace jobman::core {
namespace {

using base::Error;
using base::GetBool;
using base::GetInt;
using base::GetMember;
using base::GetString;
using base::Json;
using base::Result;

Error UnknownWord(std::string_view what, const std::string& word) {
  return {
      .code = base::Code::kFailedPrecondition,
      .message = "written by a newer jobman: unknown " + std::string(what) + " \"" + word + "\"",
      .reason = base::Reason::kNewerStore,
      .hint = "use the newest jobman that has worked on this store"};
}

int GetSmallInt(const Json& object, std::string_view key) {
  return static_cast<int>(GetInt(object, key));
}

void PutText(Json& object, const char* key, std::string_view text) {
  if (!text.empty()) object[key] = text;
}

void PutTime(Json& object, const char* key, TimePoint time) {
  if (time != TimePoint{}) object[key] = base::FormatRfc3339(time);
}

/// An absent time is the epoch.
Result<TimePoint> ReadTime(const Json& object, std::string_view key) {
  const std::string text = GetString(object, key);
  if (text.empty()) return TimePoint{};
  return base::ParseRfc3339(text);
}

std::optional<Error> ReadError(const Json& object) {
  const Json& error = GetMember(object, "error");
  if (!error.is_object()) return std::nullopt;
  return ErrorFromJson(error);
}

/// A state of each word: StateName() stays the only place that knows the words.
const std::array<JobState, 13>& Prototypes() {
  static const std::array<JobState, 13> kPrototypes = {
      Queued{},
      Requesting{},
      Waiting{},
      Provisioning{},
      Setup{},
      Running{},
      BackingOff{},
      Cancelling{},
      Deleting{},
      Done{.outcome = Outcome::kSucceeded},
      Done{.outcome = Outcome::kFailed},
      Done{.outcome = Outcome::kCancelled},
      Done{.outcome = Outcome::kDeleted},
  };
  return kPrototypes;
}

/// Reads the data of a state into its prototype; most states have none.
struct ReadStateData {
  const Json& json;

  Result<JobState> operator()(Setup state) const {
    state.step = GetSmallInt(json, "step");
    return JobState{state};
  }
  Result<JobState> operator()(BackingOff state) const {
    JM_ASSIGN_OR_RETURN(state.until, ReadTime(json, "until"));
    if (auto error = ReadError(json)) state.error = std::move(*error);
    state.for_maintenance = GetBool(json, "for_maintenance");
    return JobState{std::move(state)};
  }
  Result<JobState> operator()(Done state) const {
    state.exit_code = GetSmallInt(json, "exit_code");
    state.error = ReadError(json);
    return JobState{std::move(state)};
  }
  template <class Empty>
  Result<JobState> operator()(Empty state) const {
    return JobState{state};
  }
};

struct WriteStateData {
  Json& json;

  void operator()(const Setup& state) const { json["step"] = state.step; }
  void operator()(const BackingOff& state) const {
    PutTime(json, "until", state.until);
    json["error"] = ErrorToJson(state.error);
    if (state.for_maintenance) json["for_maintenance"] = true;
  }
  void operator()(const Done& state) const {
    json["exit_code"] = state.exit_code;
    if (state.error) json["error"] = ErrorToJson(*state.error);
  }
  template <class Empty>
  void operator()(const Empty&) const {}
};

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

void PutNotice(Json& object, const std::optional<Notice>& notice) {
  if (!notice) return;
  object["notice"] = {{"kind", NoticeKindName(notice->kind)},
                      {"imminent", notice->imminent},
                      {"text", notice->text}};
}

Result<std::optional<Notice>> ReadNotice(const Json& object) {
  const Json& json = GetMember(object, "notice");
  if (!json.is_object()) return std::optional<Notice>{};
  const std::string word = GetString(json, "kind");
  const auto kind = NoticeKindFromName(word);
  if (!kind) return UnknownWord("kind of notice", word);
  return std::optional(Notice{
      .kind = *kind, .imminent = GetBool(json, "imminent"), .text = GetString(json, "text")});
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

Json HostRunToJson(const HostRun& run) {
  Json json = {{"host", run.host}, {"phase", HostPhaseName(run.phase)}};
  if (run.phase == HostPhase::kExited || run.exit_code != 0) json["exit_code"] = run.exit_code;
  if (run.error) json["error"] = ErrorToJson(*run.error);
  if (run.settled) json["settled"] = true;
  if (run.silent_since) PutTime(json, "silent_since", *run.silent_since);
  if (run.scanned > 0) json["scanned"] = run.scanned;
  PutNotice(json, run.notice);
  return json;
}

Json AlarmToJson(const Alarm& alarm) {
  Json json = {
      {"rule", alarm.rule}, {"action", WatchdogActionName(alarm.action)}, {"text", alarm.text}};
  if (alarm.host) json["host"] = *alarm.host;
  return json;
}

Result<std::optional<Alarm>> AlarmFromJson(const Json& json) {
  if (!json.is_object()) return std::optional<Alarm>{};
  const std::string word = GetString(json, "action");
  const auto action = WatchdogActionFromName(word);
  if (!action) return UnknownWord("watchdog action", word);
  Alarm alarm{.rule = GetString(json, "rule"), .action = *action, .text = GetString(json, "text")};
  if (GetMember(json, "host").is_number()) alarm.host = GetSmallInt(json, "host");
  return std::optional(std::move(alarm));
}

Result<HostRun> HostRunFromJson(const Json& json) {
  const std::string word = GetString(json, "phase");
  const auto phase = HostPhaseFromName(word);
  if (!phase) return UnknownWord("host phase", word);
  JM_ASSIGN_OR_RETURN(const TimePoint silent_since, ReadTime(json, "silent_since"));
  HostRun run{.host = GetSmallInt(json, "host"),
              .phase = *phase,
              .exit_code = GetSmallInt(json, "exit_code"),
              .error = ReadError(json),
              .settled = GetBool(json, "settled"),
              .scanned = GetInt(json, "scanned")};
  if (silent_since != TimePoint{}) run.silent_since = silent_since;
  JM_ASSIGN_OR_RETURN(run.notice, ReadNotice(json));
  return run;
}

template <class Enum, std::size_t N>
std::optional<Enum> FindName(std::string_view (*name_of)(Enum), const std::array<Enum, N>& values,
                             std::string_view name) {
  for (const Enum value : values)
    if (name_of(value) == name) return value;
  return std::nullopt;
}

}  // namespace

Json ErrorToJson(const Error& error) {
  Json json = {{"code", base::CodeName(error.code)}};
  PutText(json, "message", error.message);
  if (error.reason != base::Reason::kNone) json["reason"] = base::ReasonName(error.reason);
  PutText(json, "hint", error.hint);
  if (error.retry_after) json["retry_after"] = error.retry_after->count();
  if (!error.context.empty()) json["context"] = error.context;
  return json;
}

Error ErrorFromJson(const Json& json) {
  Error error{.code = base::CodeFromName(GetString(json, "code")),
              .message = GetString(json, "message"),
              .reason = base::ReasonFromName(GetString(json, "reason")),
              .hint = GetString(json, "hint")};
  if (GetMember(json, "retry_after").is_number())
    error.retry_after = std::chrono::seconds{GetInt(json, "retry_after")};
  const Json& context = GetMember(json, "context");
  if (!context.is_array()) return error;
  for (const Json& frame : context)
    if (frame.is_string()) error.context.push_back(frame.get_ref<const std::string&>());
  return error;
}

Json StateToJson(const JobState& state) {
  Json json = {{"state", StateName(state)}};
  std::visit(WriteStateData{json}, state);
  return json;
}

Result<JobState> StateFromJson(const Json& json) {
  const std::string word = GetString(json, "state");
  for (const JobState& prototype : Prototypes())
    if (StateName(prototype) == word) return std::visit(ReadStateData{json}, prototype);
  return UnknownWord("job state", word);
}

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

/// Records of before there was this list: nodes asked for one by one were taken as shown when all
/// of them had been READY.
std::vector<std::string> UnshownFromJson(const Json& json, const SliceRef& ref) {
  if (json.contains("unshown")) return StringsFromJson(GetMember(json, "unshown"));
  const bool one_by_one = ref.mode == AllocationMode::kTpuVm && ref.nodes > 1;
  const bool shown =
      one_by_one ? !GetMember(json, "hosts").empty() : !GetString(json, "cloud_state").empty();
  return shown ? std::vector<std::string>{} : NamesOfParts(ref);
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

Json StageToJson(const Stage& stage) {
  Json json = {{"number", stage.number},
               {"name", stage.name},
               {"stopping", stage.stopping},
               {"timed_out", stage.timed_out}};
  PutTime(json, "started_at", stage.started_at);
  if (stage.generation) json["generation"] = *stage.generation;
  if (stage.moved) json["moved"] = true;
  if (stage.lost) json["lost"] = ErrorToJson(*stage.lost);
  if (stage.culprit) json["culprit"] = *stage.culprit;
  if (stage.alarm) json["alarm"] = AlarmToJson(*stage.alarm);
  PutNotice(json, stage.notice);
  PutTime(json, "noticed_at", stage.noticed_at);
  Json hosts = Json::array();
  for (const HostRun& run : stage.hosts) hosts.push_back(HostRunToJson(run));
  json["hosts"] = std::move(hosts);
  return json;
}

Result<Stage> StageFromJson(const Json& json) {
  Stage stage{.name = GetString(json, "name")};
  if (GetMember(json, "number").is_number()) stage.number = GetSmallInt(json, "number");
  if (GetMember(json, "generation").is_number()) {
    stage.generation = GetSmallInt(json, "generation");
  }
  JM_ASSIGN_OR_RETURN(stage.started_at, ReadTime(json, "started_at"));
  stage.stopping = GetBool(json, "stopping");
  stage.timed_out = GetBool(json, "timed_out");
  stage.moved = GetBool(json, "moved");
  if (GetMember(json, "lost").is_object()) stage.lost = ErrorFromJson(GetMember(json, "lost"));
  if (GetMember(json, "culprit").is_number()) stage.culprit = GetSmallInt(json, "culprit");
  JM_ASSIGN_OR_RETURN(stage.alarm, AlarmFromJson(GetMember(json, "alarm")));
  JM_ASSIGN_OR_RETURN(stage.notice, ReadNotice(json));
  JM_ASSIGN_OR_RETURN(stage.noticed_at, ReadTime(json, "noticed_at"));
  const Json& hosts = GetMember(json, "hosts");
  if (!hosts.is_array()) return stage;
  for (const Json& entry : hosts) {
    JM_ASSIGN_OR_RETURN(HostRun run, HostRunFromJson(entry));
    stage.hosts.push_back(std::move(run));
  }
  return stage;
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

Json SpentToJson(const Spent& spent) {
  return {{"preemption", spent.preemption},
          {"failure", spent.failure},
          {"infra", spent.infra},
          {"streak", spent.streak}};
}

Spent SpentFromJson(const Json& json) {
  return {.preemption = GetSmallInt(json, "preemption"),
          .failure = GetSmallInt(json, "failure"),
          .infra = GetSmallInt(json, "infra"),
          .streak = GetSmallInt(json, "streak")};
}

std::string_view WishName(Wish wish) {
  switch (wish) {
    case Wish::kRun:
      return "run";
    case Wish::kCancel:
      return "cancel";
    case Wish::kReboot:
      return "reboot";
    case Wish::kRequeue:
      return "requeue";
    case Wish::kDelete:
      return "delete";
  }
  JM_CHECK(false, "a Wish out of range");
  return {};
}

std::optional<Wish> WishFromName(std::string_view name) {
  return FindName(
      &WishName,
      std::array{Wish::kRun, Wish::kCancel, Wish::kReboot, Wish::kRequeue, Wish::kDelete}, name);
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

std::string_view HostPhaseName(HostPhase phase) {
  switch (phase) {
    case HostPhase::kPending:
      return "pending";
    case HostPhase::kRunning:
      return "running";
    case HostPhase::kExited:
      return "exited";
    case HostPhase::kLost:
      return "lost";
  }
  JM_CHECK(false, "a HostPhase out of range");
  return {};
}

std::optional<HostPhase> HostPhaseFromName(std::string_view name) {
  return FindName(
      &HostPhaseName,
      std::array{HostPhase::kPending, HostPhase::kRunning, HostPhase::kExited, HostPhase::kLost},
      name);
}

}  // namespace jobman::core
