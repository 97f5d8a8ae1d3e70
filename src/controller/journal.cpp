#include "controller/journal.hpp"

#include <fmt/format.h>

namespace jobman::controller {
namespace {

using core::HostPhase;
using core::HostRun;
using core::Job;

void Note(ports::Turn& turn, const Job& job, core::TimePoint now, std::string kind,
          std::string subject, std::string text) {
  turn.events.push_back({.at = now,
                         .job = job.id,
                         .attempt = job.attempt,
                         .kind = std::move(kind),
                         .subject = std::move(subject),
                         .text = std::move(text)});
}

HostPhase PhaseOf(const Job& job, const std::string& stage, int host) {
  if (!job.stage || job.stage->name != stage) return HostPhase::kPending;
  for (const HostRun& run : job.stage->hosts) {
    if (run.host == host) return run.phase;
  }
  return HostPhase::kPending;
}

bool Ended(HostPhase phase) {
  return phase == HostPhase::kExited || phase == HostPhase::kLost;
}

bool IsAccepted(const Job& before, const core::HostReport& report) {
  return before.stage && before.attempt == report.attempt && before.stage->name == report.stage &&
         !Ended(PhaseOf(before, report.stage, report.run.host));
}

void RecordEnd(const Job& before, const core::HostReport& report, core::TimePoint now,
               ports::Turn& turn) {
  const HostRun& run = report.run;
  if (!Ended(run.phase) || !IsAccepted(before, report)) return;
  const std::string error = run.error ? run.error->ToString() : std::string{};
  turn.exits.push_back({.job = before.id,
                        .attempt = before.attempt,
                        .stage = report.stage,
                        .host = run.host,
                        .exit_code = run.exit_code,
                        .error = run.phase == HostPhase::kLost ? error : std::string{},
                        .at = now});
  const std::string what =
      run.phase == HostPhase::kExited
          ? fmt::format("{} ended with exit code {}", report.stage, run.exit_code)
          : fmt::format("{} was lost: {}", report.stage, error);
  Note(turn, before, now, "host", fmt::format("host {}", run.host), what);
}

std::string OutcomeOf(const Job& before, const Job& after) {
  if (core::IsFinal(after.state)) {
    std::string word(core::StateName(after.state));
    for (char& c : word) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    return word;
  }
  if (after.restart_reason.empty()) return std::string(core::StateName(before.state));
  // "watchdog bad_output" of a reason that goes on to quote the line.
  return after.restart_reason.substr(0, after.restart_reason.find(": "));
}

/// No work is done for an attempt in these states.
bool Rests(const core::JobState& state) {
  return core::IsFinal(state) || std::holds_alternative<core::BackingOff>(state) ||
         std::holds_alternative<core::Queued>(state);
}

/// The record of `attempt` in this turn, to be completed.
ports::AttemptRecord& RecordOf(const Job& job, int attempt, ports::Turn& turn) {
  for (ports::AttemptRecord& record : turn.attempts) {
    if (record.attempt == attempt) return record;
  }
  turn.attempts.push_back({.job = job.id, .attempt = attempt, .zone = job.spec.tpu.zone});
  return turn.attempts.back();
}

void RecordAttempt(const Job& before, const Job& after, core::TimePoint now, ports::Turn& turn) {
  const bool began = after.attempt != before.attempt;
  // One attempt may follow another in a single decision.
  const bool ended = before.attempt > 0 && !Rests(before.state) && (began || Rests(after.state));
  if (ended) {
    ports::AttemptRecord& old = RecordOf(after, before.attempt, turn);
    if (before.slice) old.slice = before.slice->ref.name;
    old.ended_at = now;
    old.outcome = OutcomeOf(before, after);
  }
  if (!began) return;
  ports::AttemptRecord& fresh = RecordOf(after, after.attempt, turn);
  if (after.slice) fresh.slice = after.slice->ref.name;
  fresh.reason = after.restart_reason;
  fresh.started_at = now;
  if (!Rests(after.state)) return;
  fresh.ended_at = now;
  fresh.outcome = OutcomeOf(before, after);
}

}  // namespace

void Record(const Job& before, const core::Observation& seen, const core::Step& step,
            core::TimePoint now, ports::Turn& turn) {
  if (const auto* report = std::get_if<core::HostReport>(&seen)) {
    RecordEnd(before, *report, now, turn);
  }
  const auto state = core::StateName(step.job.state);
  const bool moved = state != core::StateName(before.state) || step.job.attempt != before.attempt ||
                     step.job.since != before.since;
  if (moved) {
    Note(turn, step.job, now, "state", std::string(state), step.why);
  } else if (step.why != before.why) {
    Note(turn, step.job, now, "note", std::string(state), step.why);
  }
  for (const core::Effect& effect : step.effects) {
    if (std::holds_alternative<core::Notify>(effect)) continue;  // told of when it is told
    const std::string slice = step.job.slice ? step.job.slice->ref.name : std::string{};
    const std::string stage = step.job.stage ? step.job.stage->name : std::string{};
    Note(turn, step.job, now, "effect", std::string(core::EffectName(effect)),
         stage.empty() ? slice : stage + " on " + slice);
  }
  RecordAttempt(before, step.job, now, turn);
}

}  // namespace jobman::controller
