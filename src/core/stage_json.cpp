// The stage that runs, and why it is being stopped.
#include <array>
#include <utility>

#include "core/json_fields.hpp"
#include "core/overloaded.hpp"
#include "jobman/core/job_json.hpp"
#include "jobman/core/spec_json.hpp"

namespace jobman::core {
namespace {

using base::GetBool;
using base::GetInt;
using base::GetMember;
using base::GetString;
using base::Json;
using base::Result;

Json HostRunToJson(const HostRun& run) {
  Json json = Json::object();  // there may be a thousand: a list of pairs takes twice as long
  json["host"] = run.host;
  json["phase"] = HostPhaseName(run.phase);
  if (run.started) json["started"] = true;
  if (run.phase == HostPhase::kExited || run.exit_code != 0) json["exit_code"] = run.exit_code;
  if (run.error) json["error"] = ErrorToJson(*run.error);
  if (run.settled) json["settled"] = true;
  if (run.silent_since) PutTime(json, "silent_since", *run.silent_since);
  if (run.scanned > 0) json["scanned"] = run.scanned;
  PutNotice(json, run.notice);
  return json;
}

Result<HostRun> HostRunFromJson(const Json& json) {
  const std::string word = GetString(json, "phase");
  const auto phase = HostPhaseFromName(word);
  if (!phase) return UnknownWord("host phase", word);
  HostRun run{.host = GetSmallInt(json, "host"),
              .phase = *phase,
              .started = GetBool(json, "started"),
              .exit_code = GetSmallInt(json, "exit_code"),
              .error = ReadError(json),
              .settled = GetBool(json, "settled"),
              .scanned = GetInt(json, "scanned")};
  JM_ASSIGN_OR_RETURN(run.silent_since, ReadMaybeTime(json, "silent_since"));
  JM_ASSIGN_OR_RETURN(run.notice, ReadNotice(json));
  return run;
}

// A cause is stored as a word, `stop`; its data are members of the stage.

std::string_view CauseWord(const StopCause& cause) {
  using Word = std::string_view;
  return std::visit(Overloaded{
                        [](const HostFailed&) -> Word { return "host_failed"; },
                        [](const NoticeGraceOver&) -> Word { return "notice_grace_over"; },
                        [](const StepTimedOut&) -> Word { return "step_timed_out"; },
                        [](const MachinesReplaced&) -> Word { return "machines_replaced"; },
                        [](const Alarm&) -> Word { return "alarm"; },
                        [](const NodeLost&) -> Word { return "node_lost"; },
                        [](const StoppedByUser&) -> Word { return "stopped_by_user"; },
                    },
                    cause);
}

struct WriteCauseData {
  Json& json;

  void operator()(const HostFailed& failed) const { json["failed_host"] = failed.host; }
  void operator()(const NodeLost& lost) const { json["lost"] = ErrorToJson(lost.error); }
  void operator()(const Alarm& alarm) const {
    json["alarm"] = {
        {"rule", alarm.rule}, {"action", WatchdogActionName(alarm.action)}, {"text", alarm.text}};
    if (alarm.host) json["alarm"]["host"] = *alarm.host;
  }
  template <class Empty>
  void operator()(const Empty&) const {}
};

struct ReadCauseData {
  const Json& json;

  Result<StopCause> operator()(const HostFailed&) const {
    return StopCause{HostFailed{GetSmallInt(json, "failed_host")}};
  }
  Result<StopCause> operator()(const NodeLost&) const {
    return StopCause{NodeLost{ErrorFromJson(GetMember(json, "lost"))}};
  }
  Result<StopCause> operator()(const Alarm&) const {
    const Json& member = GetMember(json, "alarm");
    const std::string word = GetString(member, "action");
    const auto action = FromWord<WatchdogAction>(word);
    if (!action) return UnknownWord("watchdog action", word);
    Alarm alarm{
        .rule = GetString(member, "rule"), .action = *action, .text = GetString(member, "text")};
    if (GetMember(member, "host").is_number()) alarm.host = GetSmallInt(member, "host");
    return StopCause{std::move(alarm)};
  }
  template <class Empty>
  Result<StopCause> operator()(const Empty& cause) const {
    return StopCause{cause};
  }
};

Result<std::optional<StopCause>> StopFromJson(const Json& json) {
  const std::string word = GetString(json, "stop");
  if (word.empty()) return std::optional<StopCause>{};
  const std::array<StopCause, 7> kPrototypes = {
      HostFailed{}, NoticeGraceOver{}, StepTimedOut{}, MachinesReplaced{},
      Alarm{},      NodeLost{},        StoppedByUser{}};
  for (const StopCause& prototype : kPrototypes) {
    if (CauseWord(prototype) != word) continue;
    JM_ASSIGN_OR_RETURN(StopCause cause, std::visit(ReadCauseData{json}, prototype));
    return std::optional(std::move(cause));
  }
  return UnknownWord("reason to stop a stage", word);
}

void PutTold(Json& json, const std::optional<Told>& told) {
  if (!told) return;
  PutNotice(json, told->notice);
  PutTime(json, "noticed_at", told->at);
  if (told->first_failed) json["first_failed"] = *told->first_failed;
}

Result<std::optional<Told>> ReadTold(const Json& json) {
  JM_ASSIGN_OR_RETURN(const auto notice, ReadNotice(json));
  if (!notice) return std::optional<Told>{};
  Told told{.notice = *notice};
  JM_ASSIGN_OR_RETURN(told.at, ReadTime(json, "noticed_at"));
  const Json& failed = GetMember(json, "first_failed");
  if (failed.is_number()) told.first_failed = GetSmallInt(json, "first_failed");
  return std::optional(std::move(told));
}

// A task's id is in its definition.

void PutTask(Json& json, const Stage& stage) {
  const auto* const id = std::get_if<TaskStage>(&stage.id);
  if (id == nullptr || !stage.task) return;
  Json task = {{"queue", stage.task->queue.value},
               {"run", id->run},
               {"definition", TaskDefinitionToJson(stage.task->definition)}};
  if (stage.task->rule) task["rule"] = *stage.task->rule;
  if (!stage.task->commit.empty()) task["commit"] = stage.task->commit;
  if (stage.task->last) task["last"] = true;
  json["task"] = std::move(task);
}

base::Status ReadTask(const Json& json, Stage& stage) {
  const Json& member = GetMember(json, "task");
  if (!member.is_object()) return base::Ok();
  TaskInHand task{.queue = QueueId{GetInt(member, "queue")},
                  .commit = base::GetString(member, "commit"),
                  .last = GetBool(member, "last")};
  JM_ASSIGN_OR_RETURN(task.definition, TaskDefinitionFromJson(GetMember(member, "definition")));
  if (GetMember(member, "rule").is_number()) task.rule = GetSmallInt(member, "rule");
  stage.id = TaskStage{.task = task.definition.id, .run = GetSmallInt(member, "run")};
  stage.task = std::move(task);
  return base::Ok();
}

}  // namespace

Json StageToJson(const Stage& stage) {
  Json json = {{"name", stage.name}, {"generation", stage.generation}};
  if (const auto* const setup = std::get_if<SetupStage>(&stage.id)) json["step"] = setup->index;
  PutTask(json, stage);
  PutTime(json, "started_at", stage.started_at);
  PutTold(json, stage.told);
  if (stage.stop) {
    json["stop"] = CauseWord(*stage.stop);
    std::visit(WriteCauseData{json}, *stage.stop);
  }
  if (stage.stop_since) PutTime(json, "stop_since", *stage.stop_since);
  Json hosts = Json::array();
  for (const HostRun& run : stage.hosts) hosts.push_back(HostRunToJson(run));
  json["hosts"] = std::move(hosts);
  return json;
}

Result<Stage> StageFromJson(const Json& json) {
  Stage stage{.name = GetString(json, "name"), .generation = GetSmallInt(json, "generation")};
  if (GetMember(json, "step").is_number()) stage.id = SetupStage{GetSmallInt(json, "step")};
  JM_TRY(ReadTask(json, stage));
  JM_ASSIGN_OR_RETURN(stage.started_at, ReadTime(json, "started_at"));
  JM_ASSIGN_OR_RETURN(stage.told, ReadTold(json));
  JM_ASSIGN_OR_RETURN(stage.stop, StopFromJson(json));
  JM_ASSIGN_OR_RETURN(stage.stop_since, ReadMaybeTime(json, "stop_since"));
  const Json& hosts = GetMember(json, "hosts");
  if (!hosts.is_array()) return stage;
  for (const Json& entry : hosts) {
    JM_ASSIGN_OR_RETURN(HostRun run, HostRunFromJson(entry));
    stage.hosts.push_back(std::move(run));
  }
  return stage;
}

}  // namespace jobman::core
