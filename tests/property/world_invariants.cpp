// What must hold after every decision of a random walk.
#include <fmt/format.h>

#include <algorithm>

#include "jobman/base/strings.hpp"
#include "tests/property/world.hpp"

namespace jobman::test {

using core::HostPhase;
using core::HostRun;
using core::Job;
using core::Observation;
using core::SlicePhase;

namespace {

bool Has(const std::vector<core::Effect>& effects, const core::Effect& effect) {
  return std::find(effects.begin(), effects.end(), effect) != effects.end();
}

bool Ended(const HostRun& run) {
  return run.phase == HostPhase::kExited || run.phase == HostPhase::kLost;
}

/// Every host of the stage ended with exit code 0, the one that is told of now among them.
bool EndedWell(const core::Stage& stage, const Observation& seen) {
  const auto* report = std::get_if<core::HostReport>(&seen);
  return std::all_of(stage.hosts.begin(), stage.hosts.end(), [&](const HostRun& run) {
    const bool told = report != nullptr && report->run.host == run.host && !Ended(run);
    const HostRun& last = told ? report->run : run;
    return last.phase == HostPhase::kExited && last.exit_code == 0;
  });
}

}  // namespace

bool World::IsAbsence(const Observation& seen) {
  const auto* look = std::get_if<core::SliceSeen>(&seen);
  return look != nullptr && !look->foreign && look->nodes.empty() && !look->queued;
}

void World::Check(const Job& before, const core::Step& step, const Observation& seen) {
  if (job_.why.empty() || step.why.empty()) return Break("no why");
  if (core::NeedsCare(job_) != job_.wake_at.has_value())
    return Break("no wake_at, or a needless one");
  const auto* waiting = std::get_if<core::BackingOff>(&job_.state);
  const TimePoint latest =
      waiting ? std::max(waiting->until, now_ + policy_.poll) : now_ + policy_.poll;
  if (job_.wake_at && *job_.wake_at > latest) return Break("sleeps too long");
  if (job_.wish_new) return Break("a wish is left");
  if (core::IsFinal(before.state) && !before.wish_new && !(job_.state == before.state)) {
    return Break("a final state changed without a wish");
  }
  if (job_.attempt < before.attempt) return Break("attempts run backwards");
  Job same = job_;
  same.wake_at = before.wake_at;
  if (step.changed == (same == before)) return Break("`changed` does not tell");
  CheckExits(before);
  CheckFacts(before, seen);
  CheckEffects(before, step, seen);
  CheckOwnership();
  CheckNotices(before, step);
}

/// Whoever asked for it is told of the job's end, once.
void World::CheckNotices(const Job& before, const core::Step& step) {
  std::vector<std::string> told;
  for (const core::Effect& effect : step.effects) {
    const auto* notify = std::get_if<core::Notify>(&effect);
    if (notify != nullptr) told.emplace_back(core::HookEventName(notify->event));
  }
  if (job_.spec.hooks.empty() && !told.empty()) return Break("tells what nobody asked for");
  const std::string state = base::ToLower(core::StateName(job_.state));
  const bool ended = core::HookEventFromName(state) && core::IsFinal(job_.state) &&
                     (!(job_.state == before.state) || job_.since != before.since);
  const auto count = std::count(told.begin(), told.end(), state);
  if (!job_.spec.hooks.empty() && ended && count != 1) Break("the end is not told once");
}

void World::CheckEffects(const Job& before, const core::Step& step, const Observation& seen) {
  const bool creates = Has(step.effects, core::CreateSlice{});
  const bool deletes = Has(step.effects, core::DeleteSlice{});
  const bool had = before.slice.has_value();
  const bool same_slice = had && job_.slice && before.slice->ref == job_.slice->ref;
  if (creates && (!job_.slice || job_.slice->phase != SlicePhase::kIntended)) {
    return Break("a create that is not recorded as intended");
  }
  if (creates && let_go_.contains(job_.slice->ref.name)) return Break("a name is used twice");
  if (deletes && (!same_slice || job_.slice->phase != SlicePhase::kDeleting)) {
    return Break("a delete that is not recorded");
  }
  const bool confirms = std::holds_alternative<core::SliceSeen>(seen) ||
                        std::holds_alternative<core::CreateAnswered>(seen);
  if (deletes && before.slice->phase == SlicePhase::kIntended && !confirms) {
    return Break("deletes what it never saw");
  }
  if (Has(step.effects, core::RunStage{}) && !job_.stage) return Break("runs no stage");
  if (had && !same_slice) let_go_.insert(before.slice->ref.name);
  const bool saw_nothing =
      std::holds_alternative<core::Tick>(seen) || std::holds_alternative<core::LookFailed>(seen);
  const bool idle = saw_nothing && !before.wish_new;
  const bool holds = had && before.slice->phase == SlicePhase::kCreated;
  const bool acquiring = std::holds_alternative<core::Requesting>(before.state) ||
                         std::holds_alternative<core::Waiting>(before.state) ||
                         std::holds_alternative<core::Provisioning>(before.state) ||
                         std::holds_alternative<core::Running>(before.state);
  if (idle && holds && acquiring && (deletes || !same_slice)) {
    return Break("gives a slice up without having looked");
  }
}

void World::CheckExits(const Job& before) {
  if (!before.stage) return;
  const auto key = std::pair{before.attempt, before.stage->name};
  const bool same = job_.stage && job_.attempt == key.first && job_.stage->name == key.second;
  if (!same) {
    stages_over_.insert(key);
    if (job_.stage && stages_over_.contains({job_.attempt, job_.stage->name})) {
      Break("a stage runs a second time in one attempt");
    }
    return;
  }
  for (std::size_t index = 0; index < before.stage->hosts.size(); ++index) {
    const HostRun& run = before.stage->hosts[index];
    HostRun after = job_.stage->hosts[index];
    if (run.settled && !after.settled) return Break("a settled host is unsettled");
    after.settled = run.settled;
    if (Ended(run) && !(run == after)) return Break("an end is recorded twice");
  }
}

/// What one observation proves, and what it does not.
void World::CheckFacts(const Job& before, const Observation& seen) {
  const bool working = std::holds_alternative<core::Setup>(before.state) ||
                       std::holds_alternative<core::Running>(before.state);
  const bool first_absence = IsAbsence(seen) && before.slice && before.slice->absences == 0;
  const bool kept = job_.slice && job_.slice->phase == SlicePhase::kCreated;
  if (working && !before.wish_new && first_absence && !kept) {
    return Break("gives a slice up after one listing without it");
  }
  const auto* done = std::get_if<core::Done>(&job_.state);
  const bool succeeds = done != nullptr && done->outcome == core::Outcome::kSucceeded;
  if (working && succeeds && !EndedWell(*before.stage, seen)) {
    return Break("succeeds although a host did not");
  }
  if (!before.slice || !job_.slice || !(before.slice->ref == job_.slice->ref)) return;
  const bool moved = !before.slice->hosts.empty() && before.slice->hosts != job_.slice->hosts;
  if (moved && before.slice->generation == job_.slice->generation) {
    return Break("other machines, and nobody noticed");
  }
}

/// What is ours and not being deleted is the slice on record, and there is one at most.
void World::CheckOwnership() {
  int alive = 0;
  for (const auto& [name, resource] : cloud_.resources()) {
    if (!resource.ours || resource.leaves_at) continue;
    ++alive;
    const bool owned = job_.slice && job_.slice->ref.name == name;
    if (!owned) return Break("leak: nobody owns " + name);
  }
  if (alive > 1) Break("two slices at once");
}

/// The same observation again gives no second effect; only a look without the slice counts again.
void World::CheckTwice(const core::Step& step, const Observation& seen, double jitter) {
  if (!broken_.empty() || IsAbsence(seen)) return;
  const core::Step again = core::Reconcile(step.job, seen, now_, policy_, jitter);
  if (!again.effects.empty()) {
    return Break(
        fmt::format("decided twice: {} the second time", core::EffectName(again.effects.front())));
  }
  if (again.changed) Break("decided twice: changed the second time");
}

void World::Break(std::string what) {
  if (broken_.empty()) broken_ = std::move(what);
}

}  // namespace jobman::test
