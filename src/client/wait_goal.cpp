#include "jobman/client/wait_goal.hpp"

#include <algorithm>

#include "jobman/base/strings.hpp"
#include "jobman/core/explain.hpp"

namespace jobman::client {
namespace {

bool IsAmong(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// The word for several states that `job` is in: QUEUEING, IDLE or DEAD. Not RUNNING, which is the
/// state of that name here: a job in SETUP does not run yet.
std::string_view GroupWord(const core::Job& job) {
  const std::string_view word = core::FamiliarStatus(job);
  return word == core::StateName(core::Running{}) ? std::string_view{} : word;
}

/// The same of every job in the state of that name; empty if it depends on the job.
std::string_view FamiliarWordOf(std::string_view state_name) {
  static const std::vector<core::JobState> kTelling = {
      core::Queued{},     core::Requesting{}, core::Waiting{}, core::Provisioning{},
      core::BackingOff{}, core::Setup{},      core::Idle{},    core::Running{}};
  for (const core::JobState& state : kTelling) {
    core::Job job;
    job.state = state;
    if (core::StateName(state) == state_name) return GroupWord(job);
  }
  return {};
}

}  // namespace

std::string WaitGoal::Words() const {
  return base::Join(words_, " or ");
}

std::string WaitGoal::Text() const {
  return words_.empty() ? "to be over" : "to be " + Words();
}

base::Status WaitGoal::Begin(const Context& context, const std::vector<core::JobId>& ids) {
  for (const core::JobId id : ids) {
    JM_ASSIGN_OR_RETURN(const auto events, context.Await(context.stores.jobs->Events(id, 0)));
    looked_[id].event = events.empty() ? 0 : events.back().number;
  }
  return base::Ok();
}

base::Result<bool> WaitGoal::Settled(const Context& context, const core::Job& job) {
  JM_TRY(LookBack(context, job));
  // With a wish that the controller has not acted on yet, the job will leave its state.
  return !job.wish_new && (Reached(job) || core::IsFinal(job.state));
}

bool WaitGoal::Reached(const core::Job& job) const {
  const bool over = core::IsFinal(job.state);
  if (words_.empty()) return over;
  if (looked_.at(job.id).passed || (over && IsAmong(words_, kDone))) return true;
  if (core::IsStarting(job)) return false;  // no host runs it yet
  return IsAmong(words_, core::StateName(job.state)) || IsAmong(words_, GroupWord(job));
}

/// Whether a host has run the command in any attempt: one that was lost may not have begun.
base::Result<bool> WaitGoal::HasRun(const Context& context, core::JobId id) {
  JM_ASSIGN_OR_RETURN(const auto exits, context.Await(context.stores.jobs->Exits(id)));
  return std::any_of(exits.begin(), exits.end(), [&](const ports::ExitRecord& exit) {
    return exit.stage == core::StageWord(core::CommandStage{}) && exit.error.empty();
  });
}

/// The journal has the states that came and went between two polls.
base::Status WaitGoal::LookBack(const Context& context, const core::Job& job) {
  Looked& looked = looked_[job.id];
  if (looked.version == job.version) return base::Ok();
  looked.version = job.version;
  JM_ASSIGN_OR_RETURN(const auto events,
                      context.Await(context.stores.jobs->Events(job.id, looked.event)));
  for (const ports::Event& event : events) {
    looked.event = event.number;
    if (event.kind != "state" || !WasReachedIn(event.subject)) continue;
    const bool begun = event.subject == core::StateName(core::Running{});
    (begun ? looked.begun : looked.passed) = true;
  }
  if (!looked.begun || looked.passed || core::IsStarting(job)) return base::Ok();
  // It may have left RUNNING before any host began.
  looked.passed = std::holds_alternative<core::Running>(job.state);
  if (!looked.passed) {
    JM_ASSIGN_OR_RETURN(looked.passed, HasRun(context, job.id));
  }
  return base::Ok();
}

/// Whether a job that was in the state of this name has reached the goal. The journal does not
/// tell whether it was IDLE or DEAD then, because that depends on its slice.
bool WaitGoal::WasReachedIn(const std::string& state_name) const {
  const bool over = IsAmong({"SUCCEEDED", "FAILED", "CANCELLED", "DELETED"}, state_name);
  return IsAmong(words_, state_name) || IsAmong(words_, FamiliarWordOf(state_name)) ||
         (over && IsAmong(words_, kDone));
}

}  // namespace jobman::client
