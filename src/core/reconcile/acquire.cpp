// From QUEUED to a slice that is ready.
#include <fmt/format.h>

#include <algorithm>

#include "core/reconcile/turn.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/core/accelerators.hpp"
#include "jobman/core/explain.hpp"
#include "jobman/core/slice_name.hpp"

namespace jobman::core {
namespace {

constexpr const char* kTryElsewhere =
    "another zone or another accelerator type may have capacity now";

/// tpu.valid_until is a time that has passed: every request would be refused.
base::Error TooLate(const TpuSpec& tpu) {
  return {.code = base::Code::kDeadlineExceeded,
          .message = fmt::format("tpu.valid_until, {}, has passed: no slice is requested any more",
                                 base::FormatRfc3339(*tpu.valid_until)),
          .reason = base::Reason::kExpired,
          .hint = "create the job again with a later tpu.valid_until, or without one"};
}

bool TooLateToAsk(const Turn& turn) {
  const auto& until = turn.job.spec.tpu.valid_until;
  return until && turn.now >= *until;
}

/// A request for the same capacity was refused, most likely another job's: this one would be, too.
void WaitForHold(Turn& turn, const RequestHold& hold) {
  const TpuSpec& tpu = turn.job.spec.tpu;
  if (!turn.job.search) turn.job.search = Search{.since = turn.now};
  const std::string what =
      hold.error.reason == base::Reason::kRateLimit
          ? fmt::format("project {} has sent too many requests", tpu.project)
          : fmt::format("a request for {} {} in {} was just refused", PricingName(tpu.pricing),
                        AcceleratorText(tpu), tpu.zone);
  turn.Enter(BackingOff{.until = hold.not_before, .error = hold.error},
             fmt::format("{} ({}); waiting jobs ask in turn", what, ReasonName(hold.error.reason)));
}

/// job.max_running. Who is at work is not said: a thousand jobs that wait would be recorded anew
/// whenever that changes.
void WaitForTurn(Turn& turn) {
  turn.Say(fmt::format("waits for its turn: job.max_running lets {} of group {} work at a time",
                       base::Plural(*turn.job.spec.max_running, "job"), turn.job.spec.group));
}

/// tpu.existing. Whatever state it is in: what follows is the same as for a slice of our own.
void LookForExisting(Turn& turn, SliceRef ref) {
  turn.Do(LookUpSlice{ref});
  const std::string where = ref.name + " in " + ref.place.zone;
  turn.job.slice = ExistingSlice(std::move(ref), turn.now);
  turn.Enter(Provisioning{}, "looking for node " + where);
}

CreateSlice CreateEffect(const Turn& turn) {
  return {RequestFor(turn.job, turn.job.slice->ref, turn.policy.store_id)};
}

void AskForSlice(Turn& turn) {
  Job& job = turn.job;
  const TpuSpec& tpu = job.spec.tpu;
  if (!job.search) job.search = Search{.since = turn.now};
  ++job.search->tries;
  SliceRef ref = SliceFor(job, job.attempt);
  if (ref.existing) return LookForExisting(turn, std::move(ref));
  job.slice = IntendedSlice(std::move(ref), turn.now);
  turn.Do(CreateEffect(turn));
  turn.Enter(Requesting{}, fmt::format("asking for slice {}: {} {} in {}", job.slice->ref.name,
                                       PricingName(tpu.pricing), AcceleratorText(tpu), tpu.zone));
}

/// No answer confirmed the create, and complete listings do not show the slice.
void AskAgain(Turn& turn) {
  Slice& slice = *turn.job.slice;
  slice.absences = 0;
  slice.gaps = 0;
  slice.unshown = NamesOfParts(slice.ref);
  ++slice.requests_sent;
  slice.requested_at = turn.now;
  turn.Do(CreateEffect(turn));
  turn.Say(
      fmt::format("slice {} is not there after a request without a clear answer: asking again "
                  "under the same name",
                  turn.slice_name()));
}

/// After the first repetition there are pauses, each twice as long: what the service does not
/// answer clearly it may not be able to do now.
bool MayAskAgain(const Turn& turn) {
  const Slice& slice = *turn.job.slice;
  Duration pause{0};
  for (int sent = 2; sent <= slice.requests_sent && pause < kRequestAgainCap; ++sent) {
    pause = std::max<Duration>(2 * pause, kRequestAgain);
  }
  return turn.now - slice.requested_at >= std::min<Duration>(pause, kRequestAgainCap);
}

/// Whether the queued resource failed because of tpu.valid_until. The error for this is not
/// documented, and the service's clock may differ from ours, so either sign is accepted.
bool HasExpired(const Turn& turn, const base::Error& error) {
  const TpuSpec& tpu = turn.job.spec.tpu;
  if (!tpu.valid_for && !tpu.valid_until) return false;
  const bool told = error.code == base::Code::kDeadlineExceeded;
  const bool queued = std::holds_alternative<Requesting>(turn.job.state) ||
                      std::holds_alternative<Waiting>(turn.job.state);
  const bool passed =
      queued && (tpu.valid_for ? turn.now - turn.job.slice->requested_at >= *tpu.valid_for
                               : TooLateToAsk(turn));
  const bool unexplained = error.reason == base::Reason::kNone;
  return unexplained && (told || passed);
}

base::Error WhyItFailed(const Turn& turn) {
  const TpuSpec& tpu = turn.job.spec.tpu;
  base::Error error = turn.facts.failure.value_or(
      base::Error{.code = base::Code::kInternal,
                  .message = "slice " + turn.slice_name() + " failed without saying why"});
  if (!HasExpired(turn, error)) return error;
  if (tpu.valid_until) return TooLate(tpu);
  return {.code = base::Code::kDeadlineExceeded,
          .message = fmt::format("slice {} found no capacity within tpu.valid_until, {}",
                                 turn.slice_name(), base::FormatDuration(*tpu.valid_for)),
          .reason = base::Reason::kStockout,
          .hint = kTryElsewhere};
}

Setback Vanished(base::Error error) {
  Setback setback = Preempted(std::move(error));
  setback.end.outcome = AttemptOutcome::kVanished;
  return setback;
}

/// A queued resource that becomes SUSPENDED before it was ever READY found no capacity: most
/// failing spot requests go this way (PROVISIONING, SUSPENDING, FAILED).
void OnDead(Turn& turn) {
  const Slice& slice = *turn.job.slice;
  const bool was_there = !turn.facts.suspended || !slice.hosts.empty();
  base::Error error{
      .code = base::Code::kAborted,
      .message = fmt::format(
          "slice {} {} before it was used", turn.slice_name(),
          was_there ? HowTaken(turn) : "found no capacity and became " + slice.cloud_state)};
  if (was_there) return LoseSlice(turn, Preempted(std::move(error)));
  error.code = base::Code::kResourceExhausted;
  error.reason = base::Reason::kStockout;
  error.hint = kTryElsewhere;
  LoseSlice(turn, InfraFault(AttemptOutcome::kRequestFailed, std::move(error)));
}

void OnAbsent(Turn& turn) {
  const Slice& slice = *turn.job.slice;
  if (slice.phase == SlicePhase::kIntended && slice.absences >= 2 && MayAskAgain(turn)) {
    return AskAgain(turn);
  }
  if (slice.phase == SlicePhase::kIntended || !IsMissing(turn)) return;
  const std::string why =
      slice.ref.existing ? "there is no node " + turn.slice_name() + " in " + slice.ref.place.zone
                         : "slice " + turn.slice_name() + " is not there any more";
  LoseSlice(turn, Vanished({.code = base::Code::kNotFound, .message = why}));
}

void CheckProvisioningLimit(Turn& turn) {
  if (turn.now - turn.job.since <= turn.policy.provisioning_limit || !IsConfirmed(turn)) return;
  LoseSlice(
      turn,
      InfraFault(AttemptOutcome::kTooSlow,
                 {.code = base::Code::kDeadlineExceeded,
                  .message = fmt::format("slice {} was not ready within {}", turn.slice_name(),
                                         base::FormatDuration(turn.policy.provisioning_limit))}));
}

/// It has left the queue: from now on the provisioning limit applies.
void NoteProvisioning(Turn& turn) {
  if (std::holds_alternative<Provisioning>(turn.job.state)) return CheckProvisioningLimit(turn);
  if (turn.job.slice->phase != SlicePhase::kCreated) return;
  turn.Enter(Provisioning{}, "slice " + turn.slice_name() + " is " + turn.job.slice->cloud_state);
}

/// Listings show only some nodes of the slice: they appear one by one, a request was cut short, or
/// a node was taken away.
void OnPartial(Turn& turn) {
  const Slice& slice = *turn.job.slice;
  if (slice.gaps >= 2 && slice.phase == SlicePhase::kIntended && MayAskAgain(turn)) {
    return AskAgain(turn);
  }
  if (!IsMissing(turn)) return NoteProvisioning(turn);
  LoseSlice(turn, Vanished({.code = base::Code::kNotFound,
                            .message = "nodes of slice " + turn.slice_name() +
                                       " are not there any more"}));
}

void OnUnclear(Turn& turn) {
  if (GaveUpUnhealthy(turn)) return;
  // A slice that was ready before is under repair or maintenance, which may take any time.
  if (turn.job.slice->hosts.empty()) NoteProvisioning(turn);
  if (!turn.job.slice || turn.job.slice->phase != SlicePhase::kCreated) return;
  turn.Say("slice " + turn.slice_name() + " is " + turn.job.slice->cloud_state +
           ": looking again later");
}

/// Why the job can never use this slice; nothing when it fits.
std::optional<base::Error> Misfit(const Job& job) {
  const auto count = static_cast<int>(job.slice->hosts.size());
  const auto misfit = [](std::string message, std::string hint) {
    return base::Error{.code = base::Code::kFailedPrecondition,
                       .message = std::move(message),
                       .hint = std::move(hint)};
  };
  const auto beyond = [&](const HostSet& hosts, const std::string& key) {
    const auto host = std::find_if(hosts.numbers.begin(), hosts.numbers.end(),
                                   [&](int number) { return number >= count; });
    if (hosts.all || host == hosts.numbers.end()) return std::optional<base::Error>{};
    return std::optional(misfit(fmt::format("{} names host {}, but slice {} has {}", key, *host,
                                            job.slice->ref.name, HostsText(count)),
                                "correct " + key));
  };
  const auto type = FindAccelerator(job.spec.tpu.accelerator);
  if (job.slice->ref.existing && type.ok() && type->hosts != count) {
    return misfit(
        fmt::format("node {} has {}, and tpu.accelerator, {}, means {}", job.slice->ref.name,
                    base::Plural(count, "host"), type->type, base::Plural(type->hosts, "host")),
        "set tpu.accelerator to the type of the node");
  }
  if (auto error = beyond(job.spec.command.workers, "command.workers")) return error;
  for (const SetupStep& step : job.spec.setup) {
    if (auto error = beyond(step.hosts, "setup step " + step.name)) return error;
  }
  return std::nullopt;
}

/// Once for a slice: not for an attempt that uses the one that is held, nor after a repair.
void TellReady(Turn& turn) {
  if (!turn.facts.first_ready) return;
  const auto hosts = static_cast<int>(turn.job.slice->hosts.size());
  turn.Tell(HookEvent::kReady,
            "slice " + turn.slice_name() + " is ready: " + base::Plural(hosts, "host"));
}

void BeginWork(Turn& turn) {
  TellReady(turn);
  if (auto misfit = Misfit(turn.job)) return FailForGood(turn, *std::move(misfit), 0);
  const Slice& slice = *turn.job.slice;
  const auto& done = slice.setup_done;
  const bool done_here =
      done && done->generation == slice.generation && done->epoch == turn.job.setup_epoch;
  // The command's order asks only the hosts that it runs on.
  const bool known = done_here && (done->vouched || turn.job.spec.command.workers.all);
  const bool set_up = CountSteps(turn.job.spec) == 0 || known;
  if (slice.ref.existing) turn.Do(AddLogin{slice.ref});
  if (set_up) return BeginWorkOn(turn);
  BeginStage(turn, SetupStage{});
}

void EnterQueue(Turn& turn) {
  turn.Enter(Waiting{}, "queued resource " + turn.slice_name() + " is in the queue");
}

void AdvanceByView(Turn& turn) {
  switch (turn.view()) {
    case SliceView::kNotLooked:  // also while the API cannot be reached: no reason to give up
      return;
    case SliceView::kAbsent:
      return OnAbsent(turn);
    case SliceView::kForeign: {
      const std::string name = turn.slice_name();
      turn.job.slice.reset();  // not ours, so never deleted
      return Recover(turn, InfraFault(AttemptOutcome::kRefused, NameTaken(name)));
    }
    case SliceView::kWaiting:
      if (std::holds_alternative<Waiting>(turn.job.state)) return;
      return EnterQueue(turn);
    case SliceView::kProvisioning:
      if (std::holds_alternative<Provisioning>(turn.job.state)) return CheckProvisioningLimit(turn);
      return turn.Enter(Provisioning{}, "slice " + turn.slice_name() + " is being created");
    case SliceView::kPartial:
      return OnPartial(turn);
    case SliceView::kUnclear:
      return OnUnclear(turn);
    case SliceView::kReady:
      return BeginWork(turn);
    case SliceView::kDead:
      return OnDead(turn);
    case SliceView::kFailed:
      return LoseSlice(turn, InfraFault(AttemptOutcome::kRequestFailed, WhyItFailed(turn)));
    case SliceView::kLeaving:
      return turn.Say("slice " + turn.slice_name() +
                      " is being deleted by somebody: waiting until it is gone");
  }
}

void AdvanceAcquiring(Turn& turn) {
  const bool refused = turn.AboutSlice() && turn.facts.create_refused;
  if (!refused) return AdvanceByView(turn);
  // An earlier request may have arrived: look it up by name, which answers at once.
  const bool only_request = turn.job.slice->requests_sent == 1;
  if (!only_request) turn.Do(LookUpSlice{turn.job.slice->ref});
  if (only_request) turn.job.slice.reset();
  Recover(turn, InfraFault(AttemptOutcome::kRefused, *turn.facts.create_refused));
}

}  // namespace

std::string WaitsForDeletion(const Slice& slice) {
  if (const auto& refused = slice.delete_refused) {
    std::string text = ErrorSentence(refused->error);
    if (text.ends_with('.')) text.pop_back();
    return fmt::format("the cloud refuses to delete slice {}: {} (next: {})", slice.ref.name, text,
                       CureOf(slice.ref, *refused));
  }
  std::string why = "waiting until slice " + slice.ref.name + " is deleted";
  if (slice.unstopped.empty()) return why;
  return why + ": the command may still run on " + HostNames(slice.unstopped) +
         ", which did not answer";
}

void Advance(Turn& turn, const Queued&) {
  Job& job = turn.job;
  if (job.slice && (job.slice->phase != SlicePhase::kCreated || !job.slice->unstopped.empty())) {
    GiveSliceUp(turn);
    if (job.slice) return turn.Say(WaitsForDeletion(*job.slice));
  }
  if (!job.slice && TooLateToAsk(turn)) return FailForGood(turn, TooLate(job.spec.tpu), 0);
  if (turn.policy.full) return WaitForTurn(turn);
  const auto& hold = turn.policy.hold;
  if (!job.slice && hold && turn.now < hold->not_before) return WaitForHold(turn, *hold);
  ++job.attempt;
  job.attempt_end.reset();
  DropStage(turn);
  if (!job.slice) return AskForSlice(turn);
  turn.Enter(Provisioning{}, fmt::format("attempt {} uses slice {}, which is still held",
                                         job.attempt, turn.slice_name()));
}

void Advance(Turn& turn, const Requesting&) {
  AdvanceAcquiring(turn);
}
void Advance(Turn& turn, const Waiting&) {
  AdvanceAcquiring(turn);
}
void Advance(Turn& turn, const Provisioning&) {
  AdvanceAcquiring(turn);
}

}  // namespace jobman::core
