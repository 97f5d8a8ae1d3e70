#include "jobman/core/reconcile.hpp"

#include <algorithm>
#include <utility>

#include "core/reconcile/turn.hpp"

namespace jobman::core {
namespace {

/// An observation moves a job through a few states at most.
constexpr int kMostRounds = 8;

/// Returns whether the spec is another one now.
bool TakeOverRevision(Job& job) {
  if (!job.revised || job.stage) return false;
  if (job.slice && !AskForTheSameSlice(job.spec, *job.revised)) return false;
  job.spec = *std::move(job.revised);
  job.revised.reset();
  if (job.slice) job.slice->setup_done.reset();
  return true;
}

/// Returns whether the states settled.
bool Settle(Turn& turn) {
  for (int round = 0; round < kMostRounds; ++round) {
    if (TakeOverRevision(turn.job)) ServeAnew(turn);
    const JobState before = turn.job.state;
    const TimePoint since = turn.job.since;
    std::visit([&](const auto& state) { Advance(turn, state); }, before);
    if (turn.job.state == before && turn.job.since == since) return true;
  }
  return false;
}

TimePoint WakeAt(const Turn& turn) {
  const Job& job = turn.job;
  TimePoint wake = turn.now + turn.policy.poll;
  const bool settling = job.slice && job.slice->phase != SlicePhase::kCreated;
  const auto* backing_off = std::get_if<BackingOff>(&job.state);
  if (backing_off != nullptr && !settling) wake = backing_off->until;
  if (const auto until = GivenBackAt(job); until && *until > turn.now)
    wake = std::min(wake, *until);
  const bool idles = std::holds_alternative<Idle>(job.state) && job.spec.queue->idle;
  if (idles) wake = std::min(wake, job.since + *job.spec.queue->idle);
  if (!job.stage || job.stage->stop) return wake;
  const Stage& stage = *job.stage;
  const SetupStep* const step = StepOf(job.spec, stage.id);
  const auto& limit = step != nullptr ? step->timeout : job.spec.watchdog.max_duration;
  if (limit) wake = std::min(wake, stage.started_at + *limit);
  const auto told_at = EndIsToldAt(job);
  if (told_at && *told_at > turn.now) wake = std::min(wake, *told_at);
  if (StopsAfterNotice(job)) {
    wake = std::min(wake, stage.told->at + job.spec.command.on_notice.grace);
  }
  return wake;
}

Step Finish(Turn turn, const Job& before, bool settled) {
  if (turn.why.empty()) turn.why = turn.facts.note;
  if (!turn.why.empty()) turn.job.why = turn.why;
  turn.job.wake_at.reset();
  if (NeedsCare(turn.job)) turn.job.wake_at = WakeAt(turn);
  Step step{.job = std::move(turn.job),
            .effects = std::move(turn.effects),
            .ended = std::move(turn.ended),
            .tasks = std::move(turn.tasks),
            .settled = settled};
  step.why = step.job.why;
  // A job of a thousand hosts is large, and this is done for each of their reports: no copy of it.
  const auto wake_at = std::exchange(step.job.wake_at, before.wake_at);
  step.changed = !(step.job == before) || !step.tasks.empty();
  step.job.wake_at = wake_at;
  return step;
}

/// A request that may have arrived, of a job that no longer waits for its slice.
bool IsUncertain(const Job& job) {
  const bool acquiring = std::holds_alternative<Requesting>(job.state);
  return job.slice && !acquiring && job.slice->phase == SlicePhase::kIntended &&
         job.slice->requests_sent > 1;
}

}  // namespace

Step Reconcile(const Job& before, const Observation& seen, TimePoint now, const Policy& policy,
               double unit_random) {
  Job job = before;
  Facts facts = Fold(job, seen, now);
  Turn turn{.job = std::move(job),
            .facts = std::move(facts),
            .now = now,
            .policy = policy,
            .unit_random = unit_random};
  AdoptWish(turn);
  AskByName(turn);
  const bool settled = Settle(turn);
  return Finish(std::move(turn), before, settled);
}

bool NeedsCare(const Job& job) {
  return !IsFinal(job.state) || job.wish_new || job.slice.has_value() || !job.abandoned.empty();
}

bool IsAtWork(const Job& job) {
  const bool ends =
      std::holds_alternative<Cancelling>(job.state) || std::holds_alternative<Deleting>(job.state);
  if (ends) return job.stage.has_value();
  return !IsFinal(job.state) && !std::holds_alternative<Queued>(job.state);
}

std::vector<Effect> ImpliedEffects(const Job& job) {
  std::vector<Effect> effects;
  if (job.slice && job.slice->phase == SlicePhase::kDeleting) {
    effects.push_back(DeleteSlice{job.slice->ref});
  }
  if (IsUncertain(job)) effects.push_back(LookUpSlice{job.slice->ref});
  if (!job.stage || job.stage->Over()) return effects;
  const StageId& id = job.stage->id;
  if (job.slice->ref.existing) effects.push_back(AddLogin{job.slice->ref});
  effects.push_back(RunStage{.attempt = job.attempt, .stage = id, .again = true});
  const bool noticed = job.stage->told || job.slice->notice;
  if (!IsSetup(id) && noticed) effects.push_back(NoticeToPass(job));
  if (job.stage->stop) effects.push_back(StopStage{.attempt = job.attempt, .stage = id});
  return effects;
}

}  // namespace jobman::core
