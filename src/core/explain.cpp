#include "jobman/core/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "core/overloaded.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::core {
namespace {

std::string Budget(std::string_view name, int spent, const std::optional<int>& limit) {
  return limit ? fmt::format("{} {}/{}", name, spent, *limit)
               : fmt::format("{} {}/unlimited", name, spent);
}

std::string Hosts(std::size_t count) {
  return base::Plural(static_cast<std::int64_t>(count), "host");
}

std::string SliceFact(const Slice& slice) {
  std::string text = fmt::format("slice {} in {}", slice.ref.name, slice.ref.place.zone);
  if (!slice.hosts.empty()) text += ", " + Hosts(slice.hosts.size());
  if (!slice.cloud_state.empty()) text += ": the cloud says " + slice.cloud_state;
  if (slice.not_found_since) {
    text += ", but asked by name it does not know " +
            std::string(slice.absences > 0 ? "it" : "all of it");
  } else if (slice.absences > 0) {
    text += ", but the last listing did not show it";
  }
  return text;
}

std::string RefusedFact(const std::string& slice, const DeleteRefused& refused, TimePoint now) {
  return fmt::format("for {} the cloud has refused to delete slice {}, which may cost money: {}",
                     base::FormatDuration(now - refused.since), slice,
                     ErrorSentence(refused.error));
}

std::string AbandonedFact(const AbandonedRequest& one, TimePoint now) {
  if (one.delete_refused) return RefusedFact(one.ref.name, *one.delete_refused, now);
  return fmt::format(
      "the request for slice {} was abandoned: if the slice appears within {}, it is deleted",
      one.ref.name, base::FormatDuration(std::max(Duration{0}, one.until - now)));
}

/// An answer that says no is another thing than silence: the network is well.
std::string NoAnswerFact(const NoAnswer& no_answer, TimePoint now) {
  const base::Error& error = no_answer.error;
  const bool refused =
      error.reason != base::Reason::kNoToken &&
      (error.code == base::Code::kUnauthenticated || error.code == base::Code::kPermissionDenied);
  if (refused) {
    return fmt::format("the cloud has refused for {} to show the slice, which is left alone: {}",
                       base::FormatDuration(now - no_answer.since), ErrorSentence(error));
  }
  return fmt::format("the cloud has not answered for {}, so the slice is left alone: {}",
                     base::FormatDuration(now - no_answer.since), ErrorSentence(error));
}

std::string NoticeFact(const Notice& notice) {
  return fmt::format("the cloud announces {}: {}", NoticeKindName(notice.kind), notice.text);
}

std::string LentFact(TimePoint until, TimePoint now) {
  return fmt::format("the cloud lends the slice for {} more, until {}",
                     base::FormatDuration(std::max(Duration{0}, until - now)),
                     base::FormatRfc3339(until));
}

std::string ToldFact(const Told& told, const std::string& what, TimePoint now) {
  return fmt::format("{} ago {} was told of {}: {}", base::FormatDuration(now - told.at), what,
                     NoticeKindName(told.notice.kind), told.notice.text);
}

std::string StageFact(const Stage& stage) {
  int running = 0;
  int ended = 0;
  std::vector<int> pending;
  std::vector<int> silent;
  std::string trouble;
  for (const HostRun& run : stage.hosts) {
    if (run.phase == HostPhase::kRunning) ++running;
    if (run.phase == HostPhase::kPending) pending.push_back(run.host);
    if (run.phase == HostPhase::kRunning && run.silent_since) silent.push_back(run.host);
    if (Ended(run)) ++ended;
    if (run.error && !Ended(run) && trouble.empty()) trouble = run.error->message;
  }
  std::string text = fmt::format("{}: {} running, {} ended", stage.name, running, ended);
  if (!pending.empty()) text += ", not started on " + HostNames(pending);
  if (!silent.empty()) text += ", no answer from " + HostNames(silent);
  if (!trouble.empty()) text += " (" + trouble + ")";
  return text;
}

/// The hosts of the stage that could not be reached so far.
std::vector<int> HostsInTrouble(const Stage& stage) {
  std::vector<int> hosts;
  for (const HostRun& run : stage.hosts) {
    if (run.phase == HostPhase::kPending && run.error) hosts.push_back(run.host);
  }
  return hosts;
}

/// Until when the hosts are tried.
std::string GivenUpAfter(const std::string& tried) {
  return fmt::format("{}; given up after {} (or the controller's --host-limit)", tried,
                     base::FormatDuration(kHostIsTriedFor));
}

/// Since when hosts are tried, and until when.
std::string TriesFact(const Stage& stage, TimePoint now) {
  const std::vector<int> hosts = HostsInTrouble(stage);
  if (hosts.empty() || stage.stop) return {};
  return GivenUpAfter(fmt::format("{} tried for {} so far", HostNames(hosts),
                                  base::FormatDuration(now - stage.started_at)));
}

/// The same of hosts that ran the stage and do not answer any more.
std::string SilenceFact(const Stage& stage, TimePoint now) {
  std::vector<int> hosts;
  TimePoint since = now;
  for (const HostRun& run : stage.hosts) {
    if (run.phase != HostPhase::kRunning || !run.silent_since) continue;
    hosts.push_back(run.host);
    since = std::min(since, *run.silent_since);
  }
  if (hosts.empty() || stage.stop) return {};
  return GivenUpAfter(fmt::format("no answer from {} for {} so far", HostNames(hosts),
                                  base::FormatDuration(now - since)));
}

/// What will stop the command if it does not end by itself.
std::string WatchdogFact(const Job& job, TimePoint now) {
  const Stage& stage = *job.stage;
  if (const Alarm* const alarm = stage.alarm()) {
    return fmt::format("watchdog {}: {}", alarm->rule, alarm->text);
  }
  const auto& most = job.spec.watchdog.max_duration;
  if (IsSetup(stage.id) || stage.stop || !most) return {};
  const Duration left = std::max(Duration{0}, stage.started_at + *most - now);
  return fmt::format("watchdog: {} may run for {} more", WhatRuns(stage.id),
                     base::FormatDuration(left));
}

/// The hosts on which something may be left of a stage that is being stopped.
std::vector<int> HostsToStop(const Stage& stage) {
  std::vector<int> hosts;
  for (const HostRun& run : stage.hosts) {
    if (!Ended(run) || !run.settled) hosts.push_back(run.host);
  }
  return hosts;
}

/// Names the hosts that still have to stop, and once the grace is over, when jobman goes on without
/// them: by then a host that works has answered.
std::string StopWait(const Job& job, TimePoint now) {
  constexpr Duration kToAnswer = std::chrono::seconds{5};
  if (!job.stage) return "the cloud to delete the slice";
  const std::vector<int> hosts = HostsToStop(*job.stage);
  if (!job.stage->stop || hosts.empty()) return "the remote processes to end";
  const bool one = hosts.size() == 1;
  const std::string where = HostNames(hosts);
  const Duration past = now - job.stage->stop_since.value_or(now);
  const Duration grace = job.spec.command.grace;
  if (past <= grace + kToAnswer) return "the remote processes to end on " + where;
  const auto left =
      std::chrono::duration_cast<std::chrono::seconds>(grace + kStopIsTriedFor - past);
  return fmt::format("{}, which {} not answer: jobman goes on without {} {}", where,
                     one ? "does" : "do", one ? "it" : "them",
                     left.count() > 0 ? "in " + base::FormatDuration(left) : "soon");
}

std::string StageWait(const Job& job, TimePoint now) {
  if (!job.stage) return "the next stage";
  if (job.stage->stop && !job.stage->Over()) return StopWait(job, now);
  if (IsStarting(job)) return job.stage->name + " to start on " + Hosts(job.stage->hosts.size());
  const bool held_back = job.stage->Over() && job.slice && job.slice->unhealthy_since;
  if (held_back) return "the cloud to repair the slice";
  if (IsCommand(job.stage->id) && job.spec.command.cmd.empty()) return "jobman cancel";
  return job.stage->name + " to end on " + Hosts(job.stage->hosts.size());
}

/// How long the request may still wait in the queue, if the job limits it.
std::string QueueTimeLeft(const Job& job, TimePoint now) {
  const TpuSpec& tpu = job.spec.tpu;
  std::optional<TimePoint> end = tpu.valid_until;
  if (tpu.valid_for && job.slice) end = job.slice->requested_at + *tpu.valid_for;
  if (!end) return {};
  return fmt::format("; tpu.valid_until ends the wait in {}",
                     base::FormatDuration(std::max(Duration{0}, *end - now)));
}

/// What the wait has been so far, beyond that for the last request.
std::string WaitedSoFar(const Job& job, TimePoint now) {
  if (!job.search) return base::FormatDuration(now - job.since) + " so far";
  std::string text = base::FormatDuration(now - job.search->since) + " so far";
  if (job.search->tries > 1) text += fmt::format(", {} tries", job.search->tries);
  return text;
}

std::string SliceWait(const Job& job) {
  const bool uncertain = job.slice && job.slice->phase == SlicePhase::kIntended;
  return uncertain ? "the outcome of a request without a clear answer"
                   : "the last slice to be deleted";
}

/// "a task of tasks.yaml; the slice is given back in 20m".
std::string IdleWait(const Job& job, TimePoint now) {
  if (!job.spec.queue) return "a task";
  const QueueSpec& queue = *job.spec.queue;
  std::string text = AwaitedTask(queue);
  if (!queue.idle) return text;
  const Duration left = std::max(Duration{0}, job.since + *queue.idle - now);
  return text + "; without one, the slice is given back in " + base::FormatDuration(left);
}

std::string WaitsFor(const Job& job, TimePoint now) {
  const TpuSpec& tpu = job.spec.tpu;
  return std::visit(
      Overloaded{[](const Queued&) -> std::string { return "its turn"; },
                 [&](const Requesting&) { return "the cloud's answer in " + tpu.zone; },
                 [&](const Waiting&) {
                   return fmt::format("capacity for {} in {}, for {}{}", AcceleratorText(tpu),
                                      tpu.zone, WaitedSoFar(job, now), QueueTimeLeft(job, now));
                 },
                 [](const Provisioning&) -> std::string { return "the slice to become READY"; },
                 [&](const Setup&) { return StageWait(job, now); },
                 [&](const Idle&) { return IdleWait(job, now); },
                 [&](const Running&) { return StageWait(job, now); },
                 [&](const BackingOff& state) -> std::string {
                   const bool due = state.until <= now;
                   if (due && job.slice) return SliceWait(job);
                   const std::string left = base::FormatDuration(state.until - now);
                   if (!due && state.for_maintenance) return "the maintenance, at most " + left;
                   const bool again = job.search && job.search->tries > 1;
                   return "the next try" + (due ? ", which is due" : " in " + left) +
                          (again ? "; waiting for " + WaitedSoFar(job, now) : "");
                 },
                 [&](const Cancelling&) { return StopWait(job, now); },
                 [&](const Deleting&) { return StopWait(job, now); },
                 [&](const Done&) -> std::string {
                   const bool deleting = job.slice && job.slice->phase == SlicePhase::kDeleting;
                   if (deleting) return "the cloud to delete the slice";
                   const auto until = GivenBackAt(job);
                   if (!until || *until <= now) return {};
                   return fmt::format("the end of job.when_done: the slice is deleted in {}",
                                      base::FormatDuration(*until - now));
                 }},
      job.state);
}

std::string NextStepWhenDone(const Job& job, const Done& done) {
  const std::string id = FormatJobId(job.id);
  switch (done.outcome) {
    case Outcome::kSucceeded:
      if (!job.slice || job.slice->ref.existing || GivenBackAt(job)) return {};
      return "the slice is still held; to give it back: jobman delete " + id;
    case Outcome::kFailed:
      if (done.error && !done.error->hint.empty()) return done.error->hint;
      return "jobman logs " + id;
    case Outcome::kCancelled:
      return "jobman resume " + id;
    case Outcome::kDeleted:
      return "to drop its records and logs: jobman clean " + id;
  }
  return {};
}

std::string NextStep(const Job& job) {
  if (job.slice && job.slice->delete_refused) {
    return CureOf(job.slice->ref, *job.slice->delete_refused);
  }
  for (const AbandonedRequest& one : job.abandoned) {
    if (one.delete_refused) return CureOf(one.ref, *one.delete_refused);
  }
  if (const auto* waiting = std::get_if<BackingOff>(&job.state)) return waiting->error.hint;
  if (std::holds_alternative<Waiting>(job.state)) {
    return "wait, or leave the queue for another zone or a smaller type: jobman requeue " +
           FormatJobId(job.id) + " --set tpu.zone=ZONE";
  }
  if (job.stage && !job.stage->stop) {
    for (const HostRun& run : job.stage->hosts) {
      if (run.phase == HostPhase::kPending && run.error) return run.error->hint;
    }
  }
  if (const auto* done = std::get_if<Done>(&job.state)) return NextStepWhenDone(job, *done);
  return {};
}

/// The last decision; of an error, with the call that it answered. What the decision said of the
/// wait, when that began, is said again by WaitsFor() as it is now.
std::string Because(const Job& job) {
  const auto* const done = std::get_if<Done>(&job.state);
  if (done != nullptr && done->error && job.why == done->error->message)
    return ErrorSentence(*done->error);
  const auto* const waiting = std::get_if<BackingOff>(&job.state);
  if (waiting == nullptr) return job.why;
  std::string_view what = waiting->error.message;
  if (what.ends_with('.')) what.remove_suffix(1);  // messages of the cloud end in one
  if (!job.why.starts_with(what)) return job.why;
  return ErrorSentence(waiting->error);
}

}  // namespace

bool IsStarting(const Job& job) {
  if (!std::holds_alternative<Running>(job.state) || !job.stage || job.stage->stop) return false;
  const auto& hosts = job.stage->hosts;
  return std::all_of(hosts.begin(), hosts.end(), [](const HostRun& run) {
    return run.phase == HostPhase::kPending && !run.started;
  });
}

std::string_view StatusWord(const Job& job) {
  return IsStarting(job) ? "STARTING" : StateName(job.state);
}

std::string ErrorSentence(const base::Error& error) {
  if (error.context.empty()) return error.message;
  std::string_view what = error.message;
  if (what.ends_with('.')) what.remove_suffix(1);
  return fmt::format("{} ({})", what,
                     base::Join({error.context.rbegin(), error.context.rend()}, ": "));
}

Explanation Explain(const Job& job, TimePoint now) {
  Explanation out;
  out.state = StateName(job.state);
  out.status = StatusWord(job);
  out.because = Because(job);
  if (job.slice) out.facts.push_back(SliceFact(*job.slice));
  if (job.slice && job.slice->no_answer) {
    out.facts.push_back(NoAnswerFact(*job.slice->no_answer, now));
  }
  if (job.slice && job.slice->delete_refused) {
    out.facts.push_back(RefusedFact(job.slice->ref.name, *job.slice->delete_refused, now));
  }
  for (const AbandonedRequest& one : job.abandoned) {
    out.facts.push_back(AbandonedFact(one, now));
  }
  if (job.slice && job.slice->lent_until && IsHeld(*job.slice)) {
    out.facts.push_back(LentFact(*job.slice->lent_until, now));
  }
  if (job.slice && job.slice->notice) out.facts.push_back(NoticeFact(*job.slice->notice));
  if (job.stage) out.facts.push_back(StageFact(*job.stage));
  if (job.stage) {
    if (std::string fact = TriesFact(*job.stage, now); !fact.empty()) out.facts.push_back(fact);
    if (std::string fact = SilenceFact(*job.stage, now); !fact.empty()) out.facts.push_back(fact);
  }
  if (job.stage && job.stage->told) {
    out.facts.push_back(ToldFact(*job.stage->told, WhatRuns(job.stage->id), now));
  }
  if (job.stage) {
    if (std::string fact = WatchdogFact(job, now); !fact.empty()) out.facts.push_back(fact);
  }
  const auto* const waiting = std::get_if<BackingOff>(&job.state);
  if (waiting != nullptr && out.because != ErrorSentence(waiting->error)) {
    out.facts.push_back("last error: " + ErrorSentence(waiting->error));
  }
  const RetrySpec& retries = job.spec.retries;
  out.facts.push_back(fmt::format("attempt {}; retries used: {}, {}, {}", job.attempt,
                                  Budget("preemption", job.spent.preemption, retries.preemption),
                                  Budget("failure", job.spent.failure, retries.failure),
                                  Budget("infra", job.spent.infra, retries.infra)));
  out.waits_for = WaitsFor(job, now);
  out.next_step = NextStep(job);
  if (job.slice && job.slice->no_answer) {
    // As long as the service does not answer, nothing else helps.
    const std::string& cure = job.slice->no_answer->error.hint;
    if (out.next_step.empty() || (!IsFinal(job.state) && !cure.empty())) out.next_step = cure;
  }
  return out;
}

std::string_view FamiliarStatus(const Job& job) {
  const bool ending =
      std::holds_alternative<Cancelling>(job.state) || std::holds_alternative<Deleting>(job.state);
  const bool works =
      std::holds_alternative<Running>(job.state) || std::holds_alternative<Setup>(job.state);
  if (works || (ending && job.stage)) return "RUNNING";
  if (std::holds_alternative<Idle>(job.state)) return "IDLE";
  if (!ending && !IsFinal(job.state)) return "QUEUEING";
  return job.slice && job.slice->phase == SlicePhase::kCreated ? "IDLE" : "DEAD";
}

}  // namespace jobman::core
