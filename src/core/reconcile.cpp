#include "jobman/core/reconcile.hpp"

#include <algorithm>

#include "core/decider.hpp"
#include "core/overloaded.hpp"

namespace jobman::core {

namespace {

/// What hooks may be told when a job enters a state.
std::optional<HookEvent> EventOf(const JobState& state) {
  if (std::holds_alternative<Running>(state)) return HookEvent::kStarted;
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

}  // namespace

void Decider::Enter(JobState state, std::string why) {
  job_.state = std::move(state);
  job_.since = now_;
  if (const auto event = EventOf(job_.state)) Tell(*event, why);
  Say(std::move(why));
}

void Decider::Tell(HookEvent event, std::string why) {
  const auto& hooks = job_.spec.hooks;
  const bool asked = std::any_of(hooks.begin(), hooks.end(),
                                 [&](const HookSpec& hook) { return hook.event == event; });
  if (!asked) return;
  Do(Notify{.event = event,
            .attempt = job_.attempt,
            .slice = job_.slice ? slice_name() : std::string{},
            .why = std::move(why)});
}

void Decider::Do(Effect effect) {
  if (std::find(effects_.begin(), effects_.end(), effect) != effects_.end()) return;
  effects_.push_back(std::move(effect));
}

/// An observation moves a job through a few states at most; the bound only guards against a
/// defect here.
void Decider::Settle() {
  for (int round = 0; round < 8; ++round) {
    const JobState before = job_.state;
    const TimePoint since = job_.since;
    std::visit([this](const auto& state) { Advance(state); }, before);
    if (job_.state == before && job_.since == since) return;
  }
}

TimePoint Decider::WakeAt() const {
  TimePoint wake = now_ + policy_.poll;
  const bool deleting = job_.slice && job_.slice->phase != SlicePhase::kCreated;
  const auto* backing_off = std::get_if<BackingOff>(&job_.state);
  if (backing_off != nullptr && !deleting) wake = backing_off->until;
  if (job_.stage && job_.stage->number >= 0 && !job_.stage->stopping) {
    const auto& limit = job_.spec.setup[static_cast<std::size_t>(job_.stage->number)].timeout;
    if (limit) wake = std::min(wake, job_.stage->started_at + *limit);
  }
  const auto& most = job_.spec.watchdog.max_duration;
  if (most && job_.stage && job_.stage->number < 0 && !job_.stage->stopping) {
    wake = std::min(wake, job_.stage->started_at + *most);
  }
  if (job_.stage && StopsAfterNotice()) {
    wake = std::min(wake, job_.stage->noticed_at + job_.spec.command.on_notice.grace);
  }
  return wake;
}

Step Decider::Finish(const Job& before) && {
  if (!why_.empty()) job_.why = why_;
  if (NeedsCare(job_))
    job_.wake_at = WakeAt();
  else
    job_.wake_at.reset();
  Step step;
  step.job = std::move(job_);
  step.effects = std::move(effects_);
  step.why = step.job.why;
  Job same = step.job;
  same.wake_at = before.wake_at;
  step.changed = !(same == before);
  return step;
}

Step Reconcile(Job job, const Observation& seen, TimePoint now, const Policy& policy,
               double unit_random) {
  const Job before = job;
  Decider decider(std::move(job), now, policy, unit_random);
  std::visit([&](const auto& observation) { decider.Observe(observation); }, seen);
  decider.AdoptWish();
  decider.Settle();
  return std::move(decider).Finish(before);
}

bool NeedsCare(const Job& job) {
  return !IsFinal(job.state) || job.wish_new || job.slice.has_value() || !job.given_up.empty();
}

std::vector<Effect> ImpliedEffects(const Job& job) {
  std::vector<Effect> effects;
  if (job.slice && job.slice->phase == SlicePhase::kDeleting) effects.push_back(DeleteSlice{});
  if (job.stage && !job.stage->Over()) {
    effects.push_back(RunStage{});
    if (job.stage->number < 0 && (job.stage->notice || (job.slice && job.slice->notice))) {
      effects.push_back(NotifyStage{});
    }
    if (job.stage->stopping) effects.push_back(StopStage{});
  }
  return effects;
}

std::string_view EffectName(const Effect& effect) {
  using Name = std::string_view;
  return std::visit(Overloaded{[](const CreateSlice&) -> Name { return "CreateSlice"; },
                               [](const DeleteSlice&) -> Name { return "DeleteSlice"; },
                               [](const RunStage&) -> Name { return "RunStage"; },
                               [](const StopStage&) -> Name { return "StopStage"; },
                               [](const NotifyStage&) -> Name { return "NotifyStage"; },
                               [](const AbandonStage&) -> Name { return "AbandonStage"; },
                               [](const Notify&) -> Name { return "Notify"; }},
                    effect);
}

}  // namespace jobman::core
