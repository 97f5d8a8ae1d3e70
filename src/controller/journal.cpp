#include "controller/journal.hpp"

#include <fmt/format.h>

#include "jobman/core/describe.hpp"

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

/// The run that this report ends; nullptr when it had ended before, or belongs to an earlier stage.
const HostRun* NewlyEnded(const Job& before, const core::HostReport& report) {
  const bool current = before.stage && before.attempt == report.attempt &&
                       before.stage->id == report.stage && core::Ended(report.run);
  if (!current) return nullptr;
  for (const HostRun& run : before.stage->hosts) {
    if (run.host == report.run.host) return core::Ended(run) ? nullptr : &report.run;
  }
  return nullptr;
}

void RecordEnd(const Job& before, const core::HostReport& report, core::TimePoint now,
               ports::Turn& turn) {
  const HostRun* const ended = NewlyEnded(before, report);
  if (ended == nullptr) return;
  const HostRun& run = *ended;
  const std::string& stage = before.stage->name;
  const std::string error = run.error ? run.error->ToString() : std::string{};
  turn.exits.push_back({.job = before.id,
                        .attempt = before.attempt,
                        .stage = stage,
                        .host = run.host,
                        .exit_code = run.exit_code,
                        .error = run.phase == HostPhase::kLost ? error : std::string{},
                        .at = now});
  const std::string what = run.phase == HostPhase::kExited
                               ? fmt::format("{} ended with exit code {}", stage, run.exit_code)
                               : fmt::format("{} was lost: {}", stage, error);
  Note(turn, before, now, "host", fmt::format("host {}", run.host), what);
}

void RecordPin(const Job& job, const core::KeyPinned& pinned, core::TimePoint now,
               ports::Turn& turn) {
  Note(turn, job, now, "host", fmt::format("host {}", pinned.host),
       fmt::format("pinned key {} on first use, as {}", pinned.key, pinned.why));
}

/// The record of `attempt` in this turn; made when it is missing.
ports::AttemptRecord& RecordOf(const Job& job, int attempt, ports::Turn& turn) {
  for (ports::AttemptRecord& record : turn.attempts) {
    if (record.attempt == attempt) return record;
  }
  turn.attempts.push_back({.job = job.id, .attempt = attempt, .zone = job.spec.tpu.zone});
  return turn.attempts.back();
}

void RecordAttempts(const Job& before, const core::Step& step, core::TimePoint now,
                    ports::Turn& turn) {
  const Job& after = step.job;
  for (const core::EndedAttempt& one : step.ended) {
    ports::AttemptRecord& record = RecordOf(after, one.attempt, turn);
    if (before.slice && one.attempt == before.attempt) record.slice = before.slice->ref.name;
    record.ended_at = now;
    record.outcome = core::AttemptEndText(one.end);
  }
  if (after.attempt == before.attempt) return;
  ports::AttemptRecord& fresh = RecordOf(after, after.attempt, turn);
  if (after.slice) fresh.slice = after.slice->ref.name;
  fresh.reason = core::RestartText(after.restart);
  fresh.started_at = now;
}

}  // namespace

void Record(const Job& before, const core::Observation& seen, const core::Step& step,
            core::TimePoint now, ports::Turn& turn) {
  if (const auto* report = std::get_if<core::HostReport>(&seen)) {
    RecordEnd(before, *report, now, turn);
  }
  if (const auto* pinned = std::get_if<core::KeyPinned>(&seen)) {
    RecordPin(before, *pinned, now, turn);
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
    if (std::holds_alternative<core::TellHooks>(effect)) continue;  // recorded with its delivery
    Note(turn, step.job, now, "effect", std::string(core::EffectName(effect)),
         core::EffectObject(effect));
  }
  RecordAttempts(before, step, now, turn);
}

}  // namespace jobman::controller
