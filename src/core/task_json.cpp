#include "jobman/core/task_json.hpp"

#include <array>
#include <utility>

#include "core/json_fields.hpp"
#include "core/overloaded.hpp"
#include "jobman/core/spec_json.hpp"

namespace jobman::core {
namespace {

using base::GetBool;
using base::GetMember;
using base::GetString;
using base::Json;
using base::Result;
using base::Status;

void PutNumber(Json& object, const char* key, int number) {
  if (number != 0) object[key] = number;
}

void PutFlag(Json& object, const char* key, bool flag) {
  if (flag) object[key] = true;
}

// --- Standing ---

std::string_view StandingWord(const TaskStanding& standing) {
  using Word = std::string_view;
  return std::visit(Overloaded{[](const TaskOpen&) -> Word { return "open"; },
                               [](const TaskDone&) -> Word { return "done"; },
                               [](const TaskParked&) -> Word { return "parked"; }},
                    standing);
}

struct WriteStandingData {
  Json& json;

  void operator()(const TaskOpen&) const {}
  void operator()(const TaskDone& done) const {
    PutTime(json, "at", done.at);
    PutFlag(json, "by_user", done.by_user);
  }
  void operator()(const TaskParked& parked) const { PutTime(json, "at", parked.at); }
};

struct ReadStandingData {
  const Json& json;

  Result<TaskStanding> operator()(TaskOpen open) const { return TaskStanding{open}; }
  Result<TaskStanding> operator()(TaskDone done) const {
    JM_ASSIGN_OR_RETURN(done.at, ReadTime(json, "at"));
    done.by_user = GetBool(json, "by_user");
    return TaskStanding{done};
  }
  Result<TaskStanding> operator()(TaskParked parked) const {
    JM_ASSIGN_OR_RETURN(parked.at, ReadTime(json, "at"));
    return TaskStanding{parked};
  }
};

Json StandingToJson(const TaskStanding& standing) {
  Json json = {{"is", StandingWord(standing)}};
  std::visit(WriteStandingData{json}, standing);
  return json;
}

Result<TaskStanding> StandingFromJson(const Json& json) {
  const std::string word = GetString(json, "is");
  const std::array<TaskStanding, 3> prototypes = {TaskOpen{}, TaskDone{}, TaskParked{}};
  for (const TaskStanding& prototype : prototypes)
    if (StandingWord(prototype) == word) return std::visit(ReadStandingData{json}, prototype);
  return UnknownWord("standing of a task", word);
}

// --- Claims ---

Json ClaimToJson(const TaskClaim& claim) {
  Json json = {{"job", claim.job.value}, {"attempt", claim.attempt}, {"run", claim.run}};
  PutTime(json, "since", claim.since);
  return json;
}

Result<TaskClaim> ClaimFromJson(const Json& json) {
  TaskClaim claim{.job = {base::GetInt(json, "job")},
                  .attempt = GetSmallInt(json, "attempt"),
                  .run = GetSmallInt(json, "run")};
  JM_ASSIGN_OR_RETURN(claim.since, ReadTime(json, "since"));
  return claim;
}

/// A claim that is overlooked would be a second run of the task.
Status ReadClaims(const Json& json, Task& task) {
  const Json& claims = GetMember(json, "claims");
  if (claims.is_null()) return base::Ok();
  if (!claims.is_array()) return UnknownWord("form of", "claims");
  for (const Json& entry : claims) {
    JM_ASSIGN_OR_RETURN(TaskClaim claim, ClaimFromJson(entry));
    task.claims.push_back(claim);
  }
  return base::Ok();
}

// --- The end of a run ---

Json EndToJson(const TaskEnd& end) {
  Json json = {{"kind", TaskEndName(end.kind)}};
  PutFlag(json, "slice_lost", end.slice_lost);
  PutText(json, "why", end.why);
  PutText(json, "commit", end.commit);
  return json;
}

Result<TaskEnd> EndFromJson(const Json& json) {
  const std::string word = GetString(json, "kind");
  const auto kind = TaskEndFromName(word);
  if (!kind) return UnknownWord("end of a run", word);
  return TaskEnd{.kind = *kind,
                 .slice_lost = GetBool(json, "slice_lost"),
                 .why = GetString(json, "why"),
                 .commit = GetString(json, "commit")};
}

}  // namespace

Json TaskToJson(const Task& task) {
  Json json = {{"definition", Json(TaskDefinitionToJson(task.definition))},
               {"order", task.order},
               {"standing", StandingToJson(task.standing)}};
  PutFlag(json, "removed", !task.listed);
  PutFlag(json, "paused", task.paused);
  PutFlag(json, "prioritized", task.prioritized);
  for (const TaskClaim& claim : task.claims) json["claims"].push_back(ClaimToJson(claim));
  PutNumber(json, "runs", task.runs);
  PutNumber(json, "failures", task.failures);
  PutNumber(json, "interruptions", task.interruptions);
  PutNumber(json, "streak", task.streak);
  PutTime(json, "not_before", task.not_before);
  PutTime(json, "since", task.since);
  PutText(json, "why", task.why);
  return json;
}

Result<Task> TaskFromJson(const Json& json) {
  if (!json.is_object()) return base::InvalidArgument("a task is a JSON object");
  Task task{.order = GetSmallInt(json, "order"),
            .listed = !GetBool(json, "removed"),
            .paused = GetBool(json, "paused"),
            .prioritized = GetBool(json, "prioritized"),
            .runs = GetSmallInt(json, "runs"),
            .failures = GetSmallInt(json, "failures"),
            .interruptions = GetSmallInt(json, "interruptions"),
            .streak = GetSmallInt(json, "streak"),
            .why = GetString(json, "why")};
  JM_ASSIGN_OR_RETURN(task.definition, TaskDefinitionFromJson(GetMember(json, "definition")));
  JM_ASSIGN_OR_RETURN(task.standing, StandingFromJson(GetMember(json, "standing")));
  JM_TRY(ReadClaims(json, task));
  JM_ASSIGN_OR_RETURN(task.not_before, ReadTime(json, "not_before"));
  JM_ASSIGN_OR_RETURN(task.since, ReadTime(json, "since"));
  return task;
}

Json TaskRunToJson(const TaskRun& run) {
  Json json = {{"number", run.number}, {"job", run.job.value}, {"attempt", run.attempt}};
  PutTime(json, "started_at", run.started_at);
  if (run.ended_at) PutTime(json, "ended_at", *run.ended_at);
  if (run.end) json["end"] = EndToJson(*run.end);
  return json;
}

Result<TaskRun> TaskRunFromJson(const Json& json) {
  TaskRun run{.number = GetSmallInt(json, "number"),
              .job = {base::GetInt(json, "job")},
              .attempt = GetSmallInt(json, "attempt")};
  JM_ASSIGN_OR_RETURN(run.started_at, ReadTime(json, "started_at"));
  JM_ASSIGN_OR_RETURN(run.ended_at, ReadMaybeTime(json, "ended_at"));
  const Json& end = GetMember(json, "end");
  if (end.is_null()) return run;
  JM_ASSIGN_OR_RETURN(run.end, EndFromJson(end));
  return run;
}

}  // namespace jobman::core
