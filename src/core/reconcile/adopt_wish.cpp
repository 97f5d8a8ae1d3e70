// What the user asked for, and the states that carry it out: CANCELLING and DELETING.
#include <fmt/format.h>

#include <algorithm>

#include "core/reconcile/turn.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::core {
namespace {

/// A worker that is requeued gives its task back, and keeps the slice unless it is to have another.
bool GivesSliceUp(const Job& job) {
  const bool another = job.revised && !AskForTheSameSlice(job.spec, *job.revised);
  return job.wish == Wish::kRequeue && (!job.spec.queue || another);
}

/// No host has said that the stage runs there, and the machines are given back: there is nothing
/// that could use its grace, and the cloud need not wait for hosts that cannot be reached.
bool EndsWithTheSlice(const Turn& turn) {
  const Job& job = turn.job;
  const bool given_back = std::holds_alternative<Deleting>(job.state) || GivesSliceUp(job);
  const auto& hosts = job.stage->hosts;
  return given_back && !job.slice->ref.existing &&
         std::none_of(hosts.begin(), hosts.end(), [](const HostRun& run) { return run.started; });
}

/// Stops the stage's processes; returns whether some may still be there.
bool StillStopping(Turn& turn) {
  Job& job = turn.job;
  if (!job.stage || job.stage->Over()) return false;
  const bool gone = SliceIsDead(turn) && !StopSurvivors(turn, LossOfSlice(turn));
  if (gone || AllReplaced(turn) || EndsWithTheSlice(turn)) {
    turn.Do(AbandonStage{.attempt = job.attempt, .stage = job.stage->id});
    return false;
  }
  if (HasFailedTask(*job.stage)) return true;  // it is being stopped already
  StopFor(turn, StoppedByUser{},
          fmt::format("stopping {} on {}: TERM, at most {} of grace, KILL", job.stage->name,
                      base::Plural(static_cast<std::int64_t>(job.stage->hosts.size()), "host"),
                      base::FormatDuration(job.spec.command.grace)));
  return true;
}

/// Nobody could ask the host to stop, and it had started.
bool MayRunOn(const HostRun& run) {
  const bool refused = run.error && run.error->reason == base::Reason::kHostAuth;
  return DidNotAnswer(run) || (Ended(run) && run.started && refused);
}

/// Hosts that could not be asked to stop: what runs there may go on.
void NoteUnstopped(Turn& turn) {
  std::vector<int> unstopped;
  for (const HostRun& run : turn.job.stage->hosts) {
    if (MayRunOn(run)) unstopped.push_back(run.host);
  }
  if (unstopped.empty()) return;
  turn.unstopped = "; " + HostNames(unstopped) + " did not answer";
  if (turn.job.slice) turn.job.slice->unstopped = std::move(unstopped);
}

AttemptEnd EndFor(Wish wish) {
  switch (wish) {
    case Wish::kRun:
      return {.outcome = AttemptOutcome::kResumed};
    case Wish::kCancel:
      return {.outcome = AttemptOutcome::kCancelled};
    case Wish::kReboot:
      return {.outcome = AttemptOutcome::kRebooted};
    case Wish::kRequeue:
      return {.outcome = AttemptOutcome::kRequeued};
    case Wish::kDelete:
      return {.outcome = AttemptOutcome::kDeleted};
  }
  return {};
}

void AfterStop(Turn& turn) {
  Job& job = turn.job;
  std::string kept = job.slice ? "; slice " + turn.slice_name() + " is kept" : std::string{};
  kept += turn.unstopped;
  const Wish wish = job.wish;
  switch (wish) {
    case Wish::kRun:
      job.restart = Restart{.cause = RestartCause::kResumed};
      return turn.Rest(Queued{}, EndFor(wish), "stopped, then resumed by the user");
    case Wish::kReboot:
    case Wish::kRequeue:
      job.wish = Wish::kRun;
      return turn.Rest(Queued{}, EndFor(wish),
                       RestartText(job.restart) + ": stopped, starting again" + kept);
    case Wish::kCancel:
      return turn.Rest(Done{.outcome = Outcome::kCancelled}, EndFor(wish),
                       "cancelled by the user" + kept);
    case Wish::kDelete:
      return turn.Enter(Deleting{}, "deleted by the user");
  }
}

/// A wish that is repeated, or replaced by one with the same state, does not begin the stop anew.
void EnterOnce(Turn& turn, JobState state, std::string text) {
  if (turn.job.state == state) return;
  turn.Enter(std::move(state), std::move(text));
}

/// A worker finishes its task first. Asked again, it is stopped.
bool BeginsToDrain(Turn& turn) {
  Job& job = turn.job;
  const bool busy = std::holds_alternative<Running>(job.state) && job.stage && job.stage->task;
  if (!busy || job.stage->stop || job.stage->task->last) return false;
  job.stage->task->last = true;
  turn.Say(
      fmt::format("cancelled by the user: task {} is finished first, and no other is taken; "
                  "to stop it now: jobman cancel {}",
                  job.stage->task->definition.id, FormatJobId(job.id)));
  return true;
}

/// Returns whether it did.
bool StopsDraining(Turn& turn) {
  Job& job = turn.job;
  if (!job.stage || !job.stage->task || !job.stage->task->last) return false;
  job.stage->task->last = false;
  turn.Say("resumed by the user: other tasks follow " + job.stage->task->definition.id);
  return true;
}

}  // namespace

void AdoptWish(Turn& turn) {
  Job& job = turn.job;
  if (!job.wish_new) return;
  job.wish_new = false;
  // Perhaps the user has removed the reason: a delete that was refused is tried at once.
  if (job.slice && job.slice->delete_refused) job.slice->delete_refused->times = 0;
  if (job.slice && job.slice->delete_refused) job.slice->delete_requested_at.reset();
  const auto* done = std::get_if<Done>(&job.state);
  switch (job.wish) {
    case Wish::kRun:
      if (StopsDraining(turn) || done == nullptr) return;
      job.spent = {};
      job.search.reset();
      job.restart = Restart{.cause = RestartCause::kResumed};
      return turn.Enter(Queued{}, "resumed by the user");
    case Wish::kCancel:
      if (done != nullptr || BeginsToDrain(turn)) return;
      return EnterOnce(turn, Cancelling{}, "cancelled by the user");
    case Wish::kReboot:
    case Wish::kRequeue:
      job.spent = {};
      job.search.reset();
      job.restart = Restart{.cause = job.wish == Wish::kReboot ? RestartCause::kRebooted
                                                               : RestartCause::kRequeued};
      return EnterOnce(turn, Cancelling{}, RestartText(job.restart) + " by the user");
    case Wish::kDelete:
      if (done != nullptr && done->outcome == Outcome::kDeleted && !job.slice) return;
      return EnterOnce(turn, Deleting{}, "deleted by the user");
  }
}

void Advance(Turn& turn, const Cancelling&) {
  Job& job = turn.job;
  if (StillStopping(turn)) return;
  if (job.stage) NoteUnstopped(turn);
  DropStage(turn);
  if (job.slice) {
    const SliceView view = turn.view();
    const bool usable =
        IsHeld(*job.slice) && view != SliceView::kDead && view != SliceView::kFailed;
    // A request left in the queue would be granted and billed later, with no job to use it.
    if (!usable || GivesSliceUp(job)) GiveSliceUp(turn);
    if (job.slice && job.slice->phase != SlicePhase::kCreated) {
      return turn.Say(WaitsForDeletion(*job.slice));
    }
  }
  AfterStop(turn);
}

void Advance(Turn& turn, const Deleting&) {
  Job& job = turn.job;
  if (StillStopping(turn)) return;
  if (job.stage) NoteUnstopped(turn);
  DropStage(turn);
  const std::string left = job.slice && job.slice->ref.existing
                               ? "; node " + turn.slice_name() + " is left as it is"
                               : std::string{};
  GiveSliceUp(turn);
  if (job.slice) return turn.Say(WaitsForDeletion(*job.slice));
  if (job.wish != Wish::kDelete) return AfterStop(turn);
  turn.Rest(Done{.outcome = Outcome::kDeleted}, {.outcome = AttemptOutcome::kDeleted},
            "every cloud resource of the job is deleted" + left);
}

}  // namespace jobman::core
