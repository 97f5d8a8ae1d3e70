#include "jobman/core/job_json.hpp"

#include <array>
#include <string>
#include <utility>

#include "core/json_fields.hpp"

namespace jobman::core {
namespace {

using base::Error;
using base::GetBool;
using base::GetInt;
using base::GetMember;
using base::GetString;
using base::Json;
using base::Result;

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
