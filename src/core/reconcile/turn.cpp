#include "core/reconcile/turn.hpp"

#include <algorithm>

namespace jobman::core {
namespace {

/// What hooks may be told when a job enters a state. Of a worker, that it waits for its first task
/// (BeginWorkOn).
std::optional<HookEvent> EventOf(const Job& job) {
  const JobState& state = job.state;
  if (std::holds_alternative<Running>(state) && !job.spec.queue) return HookEvent::kStarted;
  const auto* done = std::get_if<Done>(&state);
  if (done == nullptr) return std::nullopt;
  switch (done->outcome) {
    case Outcome::kSucceeded:
      return HookEvent::kSucceeded;
    case Outcome::kFailed:
      return HookEvent::kFailed;
    case Outcome::kCancelled:
      return HookEvent::kCancelled;
    case Outcome::kDeleted:
      break;
  }
  return std::nullopt;
}

/// An interrupted run is begun again by itself, and of a stopped one the user knows.
std::optional<HookEvent> EventOf(TaskEndKind kind) {
  if (kind == TaskEndKind::kSucceeded) return HookEvent::kTaskDone;
  if (kind == TaskEndKind::kFailed) return HookEvent::kTaskFailed;
  return std::nullopt;
}

bool HasHookOf(const Job& job, HookEvent event) {
  const auto& hooks = job.spec.hooks;
  return std::any_of(hooks.begin(), hooks.end(),
                     [&](const HookSpec& hook) { return hook.event == event; });
}

}  // namespace

bool Rests(const JobState& state) {
  return IsFinal(state) || std::holds_alternative<BackingOff>(state) ||
         std::holds_alternative<Queued>(state);
}

void Turn::Do(Effect effect) {
  if (std::find(effects.begin(), effects.end(), effect) != effects.end()) return;
  effects.push_back(std::move(effect));
}

void Turn::TellOfTask(const TaskRelease& release, std::string text) {
  const auto event = EventOf(release.end.kind);
  if (!event || !HasHookOf(job, *event)) return;
  Do(TellHooks{.event = *event,
               .attempt = job.attempt,
               .slice = job.slice ? slice_name() : std::string{},
               .why = std::move(text),
               .task = release.task,
               .task_run = release.claim.run});
}

void Turn::Tell(HookEvent event, std::string text) {
  if (!HasHookOf(job, event)) return;
  Do(TellHooks{.event = event,
               .attempt = job.attempt,
               .slice = job.slice ? slice_name() : std::string{},
               .why = std::move(text)});
}

void Turn::Enter(JobState state, std::string text) {
  job.state = std::move(state);
  job.since = now;
  if (IsFinal(job.state)) job.search.reset();
  if (const auto event = EventOf(job)) Tell(*event, text);
  Say(std::move(text));
}

void Turn::Rest(JobState state, AttemptEnd end, std::string text) {
  if (job.attempt > 0 && !job.attempt_end) {
    ended.push_back({.attempt = job.attempt, .end = end});
    job.attempt_end = std::move(end);
  }
  Enter(std::move(state), std::move(text));
}

bool Turn::AboutSlice() const {
  return job.slice && facts.slice == job.slice->ref.name;
}

}  // namespace jobman::core
