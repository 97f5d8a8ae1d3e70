// From QUEUED to a slice that is ready.
#include <fmt/format.h>

#include <algorithm>

#include "core/decider.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::core {
namespace {

/// tpu.valid_until is a time, and it has passed: a request would be refused, today and tomorrow.
base::Error TooLate(const TpuSpec& tpu) {
  return {.code = base::Code::kDeadlineExceeded,
          .message = fmt::format("tpu.valid_until, {}, has passed: no slice is asked for any more",
                                 base::FormatRfc3339(*tpu.valid_until)),
          .reason = base::Reason::kExpired,
          .hint = "create the job again with a later tpu.valid_until, or without one"};
}

}  // namespace

void Decider::Advance(const Queued&) {
  if (job_.slice && job_.slice->phase != SlicePhase::kCreated) {
    GiveSliceUp();
    if (job_.slice) return Say("waiting until slice " + slice_name() + " is deleted");
  }
  if (!job_.slice && TooLateToAsk()) return FailForGood(TooLate(job_.spec.tpu), 0);
  if (!job_.slice && policy_.crowd && now_ < policy_.crowd->not_before) return WaitWithTheOthers();
  ++job_.attempt;
  job_.stage.reset();
  if (!job_.slice) return AskForSlice();
  Enter(Provisioning{},
        fmt::format("attempt {} uses slice {}, which is still held", job_.attempt, slice_name()));
}

bool Decider::TooLateToAsk() const {
  const auto& until = job_.spec.tpu.valid_until;
  return until && now_ >= *until;
}

/// Another job that wants the same was refused: it would be no other with this one.
void Decider::WaitWithTheOthers() {
  const Crowd& crowd = *policy_.crowd;
  const TpuSpec& tpu = job_.spec.tpu;
  const std::string what = crowd.error.reason == base::Reason::kRateLimit
                               ? "project " + tpu.project + " has asked too often"
                               : "there is none for jobs like this one in " + tpu.zone;
  Enter(BackingOff{.until = crowd.not_before, .error = crowd.error},
        fmt::format("{} ({}): asking, in turn with the others, in {} at the earliest", what,
                    ReasonName(crowd.error.reason), base::FormatDuration(crowd.not_before - now_)));
}

void Decider::AskForSlice() {
  const TpuSpec& tpu = job_.spec.tpu;
  Slice slice;
  slice.ref.mode = tpu.allocation_mode;
  slice.ref.place = {.project = tpu.project, .zone = tpu.zone};
  slice.ref.name = SliceName(job_, job_.attempt);
  slice.ref.nodes = tpu.num_slices;
  slice.unshown = NamesOfParts(slice.ref);
  slice.asked_at = now_;
  slice.created_at = now_;
  job_.slice = slice;
  // What was observed is about an earlier slice.
  view_ = SliceView::kNotLooked;
  create_error_.reset();
  slice_error_.reset();
  Do(CreateSlice{});
  Enter(Requesting{}, fmt::format("asking for slice {}: {} {} in {}", slice.ref.name,
                                  PricingName(tpu.pricing), AcceleratorText(tpu), tpu.zone));
}

/// The create is not known to have arrived, and complete listings do not show the slice.
void Decider::AskAgain() {
  job_.slice->absences = 0;
  job_.slice->gaps = 0;
  job_.slice->unshown = NamesOfParts(job_.slice->ref);
  // Never the moment of the first request: AskedBefore() tells them apart by it.
  job_.slice->asked_at = std::max(now_, job_.slice->created_at + Duration{1});
  Do(CreateSlice{});
  Say(
      fmt::format("slice {} is not there after a request without a clear answer: asking again "
                  "under the same name",
                  slice_name()));
}

void Decider::AdvanceAcquiring() {
  if (!job_.slice) {  // cannot be; but no job may hang for it
    return Enter(Queued{}, "no slice is on record: asking for one");
  }
  if (create_error_) {
    const base::Error error = *std::exchange(create_error_, {});
    if (!AskedBefore()) job_.slice.reset();  // refused: there never was one
    return Recover(Fault::kInfra, error);
  }
  AdvanceByView();
}

void Decider::AdvanceByView() {
  switch (view_) {
    case SliceView::kNotLooked:  // also while the API cannot be reached: no reason to give up
      return;
    case SliceView::kAbsent:
      return OnAbsentWhileAcquiring();
    case SliceView::kForeign: {
      const std::string name = slice_name();
      job_.slice.reset();  // not ours, so never deleted
      return Recover(Fault::kInfra, NameTaken(name));
    }
    case SliceView::kWaiting:
      if (std::holds_alternative<Waiting>(job_.state)) return;
      return Enter(Waiting{}, "queued resource " + slice_name() + " is in the queue");
    case SliceView::kProvisioning:
      if (std::holds_alternative<Provisioning>(job_.state)) return CheckProvisioningLimit();
      return Enter(Provisioning{}, "slice " + slice_name() + " is being created");
    case SliceView::kPartial:
      return OnPartialWhileAcquiring();
    case SliceView::kUnclear:
      // One that was ready once is repaired or maintained, for as long as that takes.
      if (job_.slice->hosts.empty()) NoteOnItsWay();
      if (!job_.slice || job_.slice->phase != SlicePhase::kCreated) return;
      return Say("slice " + slice_name() + " is " + job_.slice->cloud_state +
                 ": looking again later");
    case SliceView::kReady:
      return BeginWork();
    case SliceView::kHusk:
      return OnHuskWhileAcquiring();
    case SliceView::kFailed:
      return LoseSlice(Fault::kInfra, "the request failed", WhyItFailed());
    case SliceView::kLeaving:
      return Say("slice " + slice_name() +
                 " is being deleted by somebody: waiting until it is gone");
  }
}

/// A queued resource that goes SUSPENDED before it ever was READY had no capacity: most requests
/// for spot capacity that fail do it in this way (PROVISIONING, SUSPENDING, FAILED).
void Decider::OnHuskWhileAcquiring() {
  const Slice& slice = *job_.slice;
  base::Error error{.code = base::Code::kAborted,
                    .message = fmt::format("slice {} became {} before it was used", slice_name(),
                                           slice.cloud_state)};
  if (!suspended_ || !slice.hosts.empty()) {
    return LoseSlice(Fault::kPreemption, "preempted", std::move(error));
  }
  error.code = base::Code::kResourceExhausted;
  error.reason = base::Reason::kStockout;
  LoseSlice(Fault::kInfra, "the request failed", std::move(error));
}

/// The queued resource failed because of tpu.valid_until. What the service says then is documented
/// nowhere, and its clock is not ours: either is believed.
bool Decider::RanOut(const base::Error& error) const {
  const TpuSpec& tpu = job_.spec.tpu;
  if (!tpu.valid_for && !tpu.valid_until) return false;
  const bool told = error.code == base::Code::kDeadlineExceeded;
  const bool queued =
      std::holds_alternative<Requesting>(job_.state) || std::holds_alternative<Waiting>(job_.state);
  const bool passed =
      queued && (tpu.valid_for ? now_ - job_.slice->asked_at >= *tpu.valid_for : TooLateToAsk());
  const bool unexplained = error.reason == base::Reason::kNone;
  return unexplained && (told || passed);
}

base::Error Decider::WhyItFailed() const {
  const TpuSpec& tpu = job_.spec.tpu;
  base::Error error = slice_error_.value_or(
      base::Error{.code = base::Code::kInternal,
                  .message = "slice " + slice_name() + " failed without saying why"});
  if (!RanOut(error)) return error;
  if (tpu.valid_until) return TooLate(tpu);
  return {.code = base::Code::kDeadlineExceeded,
          .message = fmt::format("slice {} found no capacity within tpu.valid_until, {}",
                                 slice_name(), base::FormatDuration(*tpu.valid_for)),
          .reason = base::Reason::kStockout,
          .hint = "another zone or another accelerator type may have capacity now"};
}

void Decider::OnAbsentWhileAcquiring() {
  if (job_.slice->absences < 2) return;
  if (job_.slice->phase == SlicePhase::kIntended) return AskAgain();
  if (!AbsenceIsFact(looked_at_)) return;
  LoseSlice(Fault::kPreemption, "the slice vanished",
            {.code = base::Code::kNotFound,
             .message = "slice " + slice_name() + " is not there any more"});
}

/// The listings show some nodes of the slice, not all: they appear one after another, a request was
/// cut short, or one was taken away.
void Decider::OnPartialWhileAcquiring() {
  const Slice& slice = *job_.slice;
  if (slice.gaps >= 2 && slice.phase == SlicePhase::kIntended) return AskAgain();
  const bool was_whole = !slice.hosts.empty();
  // A queued resource brings its nodes when it likes.
  const bool late = slice.ref.mode == AllocationMode::kTpuVm &&
                    looked_at_ - slice.created_at >= policy_.vanish_grace;
  if (slice.gaps < 2 || (!was_whole && !late)) return NoteOnItsWay();
  LoseSlice(Fault::kPreemption, "the slice vanished",
            {.code = base::Code::kNotFound,
             .message = "nodes of slice " + slice_name() + " are not there any more"});
}

/// It has left the queue, in whatever way: from now on there is a limit.
void Decider::NoteOnItsWay() {
  if (std::holds_alternative<Provisioning>(job_.state)) return CheckProvisioningLimit();
  if (job_.slice->phase != SlicePhase::kCreated) return;
  Enter(Provisioning{}, "slice " + slice_name() + " is " + job_.slice->cloud_state);
}

void Decider::CheckProvisioningLimit() {
  if (now_ - job_.since <= policy_.provisioning_limit) return;
  LoseSlice(Fault::kInfra, "provisioning took too long",
            {.code = base::Code::kDeadlineExceeded,
             .message = fmt::format("slice {} was not ready within {}", slice_name(),
                                    base::FormatDuration(policy_.provisioning_limit))});
}

void Decider::BeginWork() {
  moved_ = false;  // nothing runs yet that would have to start over
  const auto count = static_cast<int>(job_.slice->hosts.size());
  const auto refuse = [&](std::string message, std::string hint) {
    FailForGood({.code = base::Code::kFailedPrecondition,
                 .message = std::move(message),
                 .hint = std::move(hint)},
                0);
  };
  if (job_.spec.worker_num && *job_.spec.worker_num != count) {
    return refuse(fmt::format("job.worker_num is {}, but slice {} has {}", *job_.spec.worker_num,
                              slice_name(), base::Plural(count, "host")),
                  "correct or remove job.worker_num");
  }
  const auto fits = [&](const HostSet& hosts, const std::string& key) {
    const auto beyond = std::find_if(hosts.numbers.begin(), hosts.numbers.end(),
                                     [&](int host) { return host >= count; });
    if (hosts.all || beyond == hosts.numbers.end()) return true;
    refuse(fmt::format("{} names host {}, but slice {} has hosts 0-{}", key, *beyond, slice_name(),
                       count - 1),
           "correct " + key);
    return false;
  };
  if (!fits(job_.spec.command.workers, "command.workers")) return;
  for (const SetupStep& step : job_.spec.setup) {
    if (!fits(step.hosts, "setup step " + step.name)) return;
  }
  BeginStage(job_.spec.setup.empty() ? -1 : 0);
}

}  // namespace jobman::core
