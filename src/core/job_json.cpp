#include "jobman/core/job_json.hpp"

#include <array>
#include <string>
#include <utility>

#include "core/json_fields.hpp"
#include "jobman/core/spec_json.hpp"

namespace jobman::core {
namespace {

using base::Error;
using base::GetBool;
using base::GetInt;
using base::GetMember;
using base::GetString;
using base::Json;
using base::Result;

/// One state for each word, so that only StateName() knows the words.
const std::array<JobState, 14>& Prototypes() {
  static const std::array<JobState, 14> kPrototypes = {
      Queued{},
      Requesting{},
      Waiting{},
      Provisioning{},
      Setup{},
      Idle{},
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

Json SpentToJson(const Spent& spent) {
  Json json = {{"preemption", spent.preemption},
               {"failure", spent.failure},
               {"infra", spent.infra},
               {"streak", spent.streak}};
  PutTime(json, "waited_until", spent.waited_until);
  return json;
}

Result<Spent> SpentFromJson(const Json& json) {
  JM_ASSIGN_OR_RETURN(const TimePoint waited_until, ReadTime(json, "waited_until"));
  return Spent{.preemption = GetSmallInt(json, "preemption"),
               .failure = GetSmallInt(json, "failure"),
               .infra = GetSmallInt(json, "infra"),
               .streak = GetSmallInt(json, "streak"),
               .waited_until = waited_until};
}

Json AttemptToJson(const Job& job) {
  Json json = Json::object();
  if (job.restart) {
    json["restart"] = {{"cause", RestartCauseName(job.restart->cause)}};
    PutText(json["restart"], "detail", job.restart->detail);
  }
  if (job.attempt_end) {
    json["end"] = {{"outcome", AttemptOutcomeName(job.attempt_end->outcome)}};
    PutText(json["end"], "detail", job.attempt_end->detail);
  }
  if (job.revised) json["revised"] = Json(SpecToJson(*job.revised));
  if (job.search) {
    json["search"] = {{"tries", job.search->tries}};
    PutTime(json["search"], "since", job.search->since);
  }
  if (job.task_runs != 0) json["task_runs"] = job.task_runs;
  return json;
}

base::Status ReadAttempt(const Json& json, Job& job) {
  if (const Json& restart = GetMember(json, "restart"); restart.is_object()) {
    const std::string word = GetString(restart, "cause");
    const auto cause = RestartCauseFromName(word);
    if (!cause) return UnknownWord("restart cause", word);
    job.restart = Restart{.cause = *cause, .detail = GetString(restart, "detail")};
  }
  if (const Json& end = GetMember(json, "end"); end.is_object()) {
    const std::string word = GetString(end, "outcome");
    const auto outcome = AttemptOutcomeFromName(word);
    if (!outcome) return UnknownWord("outcome of an attempt", word);
    job.attempt_end = AttemptEnd{.outcome = *outcome, .detail = GetString(end, "detail")};
  }
  if (const Json& revised = GetMember(json, "revised"); revised.is_object()) {
    JM_ASSIGN_OR_RETURN(job.revised, SpecFromJson(revised));
  }
  if (const Json& search = GetMember(json, "search"); search.is_object()) {
    JM_ASSIGN_OR_RETURN(const TimePoint since, ReadTime(search, "since"));
    job.search = Search{.since = since, .tries = GetSmallInt(search, "tries")};
  }
  job.task_runs = GetSmallInt(json, "task_runs");
  return base::Ok();
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

}  // namespace jobman::core
