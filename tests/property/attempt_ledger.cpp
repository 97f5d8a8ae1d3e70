#include "tests/property/attempt_ledger.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace jobman::test {

using core::AttemptOutcome;
using core::NodeState;
using core::QueuedState;
using core::RestartCause;
using core::Wish;

namespace {

bool IsDead(const Resource& resource) {
  if (resource.queued == QueuedState::kSuspending || resource.queued == QueuedState::kSuspended)
    return true;
  return resource.node == NodeState::kPreempted || resource.node == NodeState::kTerminated ||
         resource.node == NodeState::kStopped;
}

bool IsDisturbed(const Resource& resource) {
  return resource.maintenance || resource.notice || resource.subnet > 0 ||
         resource.node == NodeState::kRepairing;
}

std::string SliceOf(const core::Job& before, const core::Job& after) {
  if (before.slice) return before.slice->ref.name;
  return after.slice ? after.slice->ref.name : std::string{};
}

}  // namespace

void AttemptLedger::Saw(const std::map<std::string, Resource>& resources) {
  for (const auto& [name, resource] : resources) {
    if (!resource.ours) {
      Note(name, Truth::kTaken);
      continue;
    }
    seen_.insert(name);
    if (IsDead(resource)) Note(name, Truth::kDead);
    if (resource.broken) Note(name, Truth::kBroken);
    if (IsDisturbed(resource)) Note(name, Truth::kDisturbed);
    if (resource.queued == QueuedState::kFailed) Note(name, Truth::kRequestFailed);
    if (resource.leaves_at && !deleted_.contains(name)) Note(name, Truth::kGone);
  }
  for (const std::string& name : seen_) {
    if (!resources.contains(name) && !deleted_.contains(name)) Note(name, Truth::kGone);
  }
}

void AttemptLedger::Ended(int attempt, bool command, int exit_code, bool lost) {
  Processes& processes = processes_[attempt];
  const bool good = !lost && exit_code == 0;
  if (command && good) ++processes.good;
  if (lost) processes.lost = true;
  if (!lost && exit_code == 75) processes.temporary = true;
  if (!lost && exit_code != 0 && exit_code != 75) processes.bad = true;
}

bool AttemptLedger::Any(const std::string& slice, const std::set<Truth>& of) const {
  const auto found = truth_.find(slice);
  return found != truth_.end() &&
         std::any_of(of.begin(), of.end(), [&](Truth one) { return found->second.contains(one); });
}

bool AttemptLedger::Wanted(const std::set<Wish>& wishes) const {
  return std::any_of(wishes.begin(), wishes.end(), [&](Wish one) { return wishes_.contains(one); });
}

bool AttemptLedger::Explains(const core::AttemptEnd& end, const core::Job& before,
                             const core::Job& after, int attempt, TimePoint now) const {
  const std::string slice = SliceOf(before, after);
  const auto ran = processes_.find(attempt);
  const Processes processes = ran == processes_.end() ? Processes{} : ran->second;
  const bool any_fault =
      Any(slice, {Truth::kDead, Truth::kGone, Truth::kBroken, Truth::kDisturbed, Truth::kNoticed,
                  Truth::kRequestFailed, Truth::kRefused, Truth::kTaken});
  const bool timed_out = before.stage && before.stage->stop &&
                         std::holds_alternative<core::StepTimedOut>(*before.stage->stop);
  const bool too_long = before.spec.watchdog.max_duration && before.stage &&
                        now - before.stage->started_at >= *before.spec.watchdog.max_duration;
  const bool too_late = before.spec.tpu.valid_until && *before.spec.tpu.valid_until <= now;
  const bool idled = before.spec.queue && before.spec.queue->idle &&
                     std::holds_alternative<core::Idle>(before.state) &&
                     now - before.since >= *before.spec.queue->idle;
  const bool slow = now - before.since > core::Policy{}.provisioning_limit;
  switch (end.outcome) {
    case AttemptOutcome::kSucceeded:
      return idled ||
             (before.stage && processes.good == static_cast<int>(before.stage->hosts.size()));
    case AttemptOutcome::kPreempted:
      // A slice that vanishes under a command counts as preempted.
      return Any(slice, {Truth::kDead, Truth::kGone, Truth::kNoticed});
    case AttemptOutcome::kVanished:
      return Any(slice, {Truth::kGone, Truth::kRequestFailed});
    case AttemptOutcome::kMaintenance:
      return processes.lapsed || Any(slice, {Truth::kDisturbed, Truth::kNoticed});
    case AttemptOutcome::kRefused:
      return Any(slice, {Truth::kRefused, Truth::kTaken});
    case AttemptOutcome::kRequestFailed:
      return Any(slice, {Truth::kRequestFailed, Truth::kDead, Truth::kTaken});
    case AttemptOutcome::kTooSlow:
      return slow;
    case AttemptOutcome::kInfra:
      return processes.lost || processes.temporary || processes.lapsed ||
             Any(slice, {Truth::kBroken});
    case AttemptOutcome::kFailure:
      return processes.bad || timed_out;
    case AttemptOutcome::kWatchdog:
      return alarmed_.contains(attempt) || too_long;
    case AttemptOutcome::kFailed:
      return any_fault || processes.bad || processes.lost || processes.temporary || timed_out ||
             alarmed_.contains(attempt) || too_long || too_late || slow;
    case AttemptOutcome::kCancelled:
      return Wanted({Wish::kCancel});
    case AttemptOutcome::kDeleted:
      return Wanted({Wish::kDelete});
    case AttemptOutcome::kResumed:
      return Wanted({Wish::kRun});
    case AttemptOutcome::kRebooted:
      return Wanted({Wish::kReboot});
    case AttemptOutcome::kRequeued:
      return Wanted({Wish::kRequeue});
  }
  return false;
}

/// Whether the cause of the next attempt follows from the end of the last one, or from a wish.
bool AttemptLedger::Agrees(RestartCause cause) const {
  if (cause == RestartCause::kResumed) return Wanted({Wish::kRun});
  if (cause == RestartCause::kRebooted) return Wanted({Wish::kReboot});
  if (cause == RestartCause::kRequeued) return Wanted({Wish::kRequeue});
  if (!last_end_) return false;
  switch (*last_end_) {
    case AttemptOutcome::kPreempted:
    case AttemptOutcome::kVanished:
      return cause == RestartCause::kPreempted;
    case AttemptOutcome::kMaintenance:
      // The slice may be taken for good after all.
      return cause == RestartCause::kMaintenance || cause == RestartCause::kPreempted;
    case AttemptOutcome::kRefused:
    case AttemptOutcome::kRequestFailed:
    case AttemptOutcome::kTooSlow:
    case AttemptOutcome::kInfra:
      return cause == RestartCause::kInfra;
    case AttemptOutcome::kFailure:
      return cause == RestartCause::kFailure;
    case AttemptOutcome::kWatchdog:
      return cause == RestartCause::kWatchdog;
    case AttemptOutcome::kSucceeded:
    case AttemptOutcome::kFailed:
    case AttemptOutcome::kCancelled:
    case AttemptOutcome::kDeleted:
    case AttemptOutcome::kResumed:
    case AttemptOutcome::kRebooted:
    case AttemptOutcome::kRequeued:
      return false;  // only a wish goes on after these
  }
  return false;
}

std::string AttemptLedger::Judge(const core::Job& before, const core::Step& step, TimePoint now) {
  const core::Job& after = step.job;
  bool ended_too = false;  // the attempt that begins now: its cause is overwritten already
  for (const core::EndedAttempt& ended : step.ended) {
    if (!Explains(ended.end, before, after, ended.attempt, now)) {
      return fmt::format("attempt {} is recorded as {}, which nothing explains", ended.attempt,
                         core::AttemptEndText(ended.end));
    }
    last_end_ = ended.end.outcome;
    ended_too = ended_too || ended.attempt > before.attempt;
  }
  const bool begins = after.attempt > before.attempt;
  if (!begins) return {};
  // A host that was restarted before the command began there changes nothing for the command.
  const bool same = processes_[before.attempt].lapsed && after.restart == before.restart;
  const bool follows =
      after.attempt == 1 || same || (after.restart && Agrees(after.restart->cause));
  if (!follows && !ended_too) {
    return fmt::format("attempt {} begins because of \"{}\", but the last one ended as {}",
                       after.attempt, core::RestartText(after.restart),
                       last_end_ ? core::AttemptOutcomeName(*last_end_) : "nothing");
  }
  wishes_.clear();
  return {};
}

}  // namespace jobman::test
