#include "jobman/client/wait_goal.hpp"

#include <algorithm>

#include "jobman/base/strings.hpp"
#include "jobman/core/explain.hpp"

namespace jobman::client {
namespace {

bool IsAmong(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// The familiar word (QUEUEING, RUNNING) that core::FamiliarStatus() gives every job in the state
/// of that name; empty if it depends on the job.
std::string_view FamiliarWordOf(std::string_view state_name) {
  static const std::vector<core::JobState> kTelling = {
      core::Queued{},     core::Requesting{}, core::Waiting{}, core::Provisioning{},
      core::BackingOff{}, core::Setup{},      core::Running{}};
  for (const core::JobState& state : kTelling) {
    core::Job job;
    job.state = state;
    if (core::StateName(state) == state_name) return core::FamiliarStatus(job);
  }
  return {};
}

}  // namespace

std::string WaitGoal::Text() const {
  return words_.empty() ? "to be over" : "to be " + base::Join(words_, " or ");
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
  return IsAmong(words_, core::StateName(job.state)) || IsAmong(words_, core::FamiliarStatus(job));
}

/// The journal has the states that came and went between two polls.
base::Status WaitGoal::LookBack(const Context& context, const core::Job& job) {
  Looked& looked = looked_[job.id];
  if (looked.version == job.version) return base::Ok();
  looked.version = job.version;
  JM_ASSIGN_OR_RETURN(const auto events,
                      context.Await(context.stores.jobs->Events(job.id, looked.event)));
  for (const ports::Event& event : events) {
    if (event.kind == "state" && WasReachedIn(event.subject)) {
      const bool begun = event.subject == core::StateName(core::Running{});
      (begun ? looked.begun : looked.passed) = true;
    }
    looked.event = event.number;
  }
  if (looked.begun && !core::IsStarting(job)) looked.passed = true;
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
