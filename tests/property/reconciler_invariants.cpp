// What must hold after every decision of a random walk.
#include <fmt/format.h>

#include <algorithm>

#include "core/reconcile/slice_view.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/core/describe.hpp"
#include "jobman/core/flaw.hpp"
#include "tests/property/reconciler_world.hpp"

namespace jobman::test {

using core::HostPhase;
using core::HostRun;
using core::Job;
using core::Observation;
using core::SlicePhase;

namespace {

template <class Kind>
const Kind* Find(const std::vector<core::Effect>& effects) {
  for (const core::Effect& effect : effects) {
    if (const auto* const found = std::get_if<Kind>(&effect)) return found;
  }
  return nullptr;
}

/// Whether every host of the stage ended with exit code 0, including the one reported now.
bool EndedWell(const core::Stage& stage, const Observation& seen) {
  const auto* report = std::get_if<core::HostReport>(&seen);
  return std::all_of(stage.hosts.begin(), stage.hosts.end(), [&](const HostRun& run) {
    const bool told = report != nullptr && report->run.host == run.host && !core::Ended(run);
    const HostRun& last = told ? report->run : run;
    return last.phase == HostPhase::kExited && last.exit_code == 0;
  });
}

/// Whether a host of the stage ended with an exit code that is the task's own fault.
bool FailedItself(const core::Stage& stage, const Observation& seen) {
  const auto failed = [](const HostRun& run) {
    return run.phase == HostPhase::kExited && run.exit_code != 0 && run.exit_code != 143 &&
           run.exit_code != 255;
  };
  const auto* report = std::get_if<core::HostReport>(&seen);
  return (report != nullptr && failed(report->run)) ||
         std::any_of(stage.hosts.begin(), stage.hosts.end(), failed);
}

/// A listing, which may be wrong, omits the slice or shows it as lost.
bool ListsAsLost(const core::Slice& slice, const Observation& seen) {
  const auto* look = std::get_if<core::SliceSeen>(&seen);
  if (look == nullptr || look->by_name) return false;
  const core::SliceView view = core::ViewOf(*look, slice.ref);
  return view == core::SliceView::kAbsent || view == core::SliceView::kForeign ||
         view == core::SliceView::kDead || view == core::SliceView::kFailed;
}

/// A list that shows other machines than those on record.
bool ListsOtherMachines(const core::Slice& slice, const Observation& seen) {
  const auto* look = std::get_if<core::SliceSeen>(&seen);
  if (look == nullptr || look->by_name) return false;
  std::vector<core::HostAddress> hosts;
  for (const auto& node : look->nodes) {
    hosts.insert(hosts.end(), node.hosts.begin(), node.hosts.end());
  }
  return hosts != slice.hosts;
}

bool ShowsABrokenNode(const Observation& seen) {
  const auto* look = std::get_if<core::SliceSeen>(&seen);
  return look != nullptr &&
         std::any_of(look->nodes.begin(), look->nodes.end(),
                     [](const auto& node) { return node.health == "UNHEALTHY_TPU"; });
}

}  // namespace

bool ReconcilerWorld::IsAbsence(const Observation& seen) {
  const auto* look = std::get_if<core::SliceSeen>(&seen);
  return look != nullptr && !look->foreign && look->nodes.empty() && !look->queued;
}

bool ReconcilerWorld::IsByName(const Observation& seen) {
  const auto* look = std::get_if<core::SliceSeen>(&seen);
  return look != nullptr && look->by_name;
}

/// Such looks count: two in a row make the slice doubtful.
bool ReconcilerWorld::LacksAPart(const Observation& seen) const {
  const auto* look = std::get_if<core::SliceSeen>(&seen);
  const bool queues = job_.spec.tpu.allocation_mode == core::AllocationMode::kQueuedResources;
  return look != nullptr && !look->foreign && (look->nodes.empty() || (queues && !look->queued));
}

void ReconcilerWorld::Check(const Job& before, const core::Step& step, const Observation& seen) {
  if (!step.settled) return Break("the reconciler did not settle");
  if (const auto flaw = core::FlawOf(job_)) return Break("a flaw: " + *flaw);
  if (job_.why.empty() || step.why.empty()) return Break("no why");
  if (core::NeedsCare(job_) != job_.wake_at.has_value())
    return Break("wake_at is missing, or needless");
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
  const bool differs = !(same == before) || !step.tasks.empty();
  if (step.changed != differs) return Break("`changed` is wrong");
  CheckExits(before);
  CheckAttempts(before, step);
  CheckFacts(before, seen);
  CheckEffects(before, step, seen);
  if (queue_) CheckTasks(before, step, seen);
  CheckOwnership();
  CheckNotices(before, step);
  if (std::string wrong = ledger_.Judge(before, step, now_); !wrong.empty()) Break(wrong);
}

namespace {

/// Of a run that was interrupted or stopped, hooks are not told.
bool IsToldEnd(const core::TaskWrite& write) {
  const auto* const release = std::get_if<core::TaskRelease>(&write);
  return release != nullptr && (release->end.kind == core::TaskEndKind::kSucceeded ||
                                release->end.kind == core::TaskEndKind::kFailed);
}

}  // namespace

/// Hooks are told of the job's end, once, once that a slice is ready, and once of each end of a
/// task.
void ReconcilerWorld::CheckNotices(const Job& before, const core::Step& step) {
  std::vector<std::string> told;
  for (const core::Effect& effect : step.effects) {
    const auto* notify = std::get_if<core::TellHooks>(&effect);
    if (notify != nullptr) told.emplace_back(core::HookEventName(notify->event));
  }
  if (job_.spec.hooks.empty() && !told.empty()) return Break("tells hooks that do not exist");
  const std::string state = base::ToLower(core::StateName(job_.state));
  const bool ended = core::FromWord<core::HookEvent>(state) && core::IsFinal(job_.state) &&
                     (!(job_.state == before.state) || job_.since != before.since);
  const auto count = std::count(told.begin(), told.end(), state);
  if (!job_.spec.hooks.empty() && ended && count != 1) Break("the end is not told exactly once");
  const bool again = before.slice && !before.slice->hosts.empty();
  const auto ready = std::count(told.begin(), told.end(), "ready");
  if (ready > (again ? 0 : 1)) Break("a slice is told ready again");
  const auto ends = std::count_if(step.tasks.begin(), step.tasks.end(), &IsToldEnd);
  const auto tasks = std::count_if(told.begin(), told.end(), [](const std::string& event) {
    return event.starts_with("task_");
  });
  if (tasks != (job_.spec.hooks.empty() ? 0 : ends))
    Break("the end of a task is not told exactly once");
}

void ReconcilerWorld::CheckEffects(const Job& before, const core::Step& step,
                                   const Observation& seen) {
  const auto* const create = Find<core::CreateSlice>(step.effects);
  const auto* const remove = Find<core::DeleteSlice>(step.effects);
  const auto* const run = Find<core::RunStage>(step.effects);
  const bool had = before.slice.has_value();
  const bool same_slice = had && job_.slice && before.slice->ref == job_.slice->ref;
  if (create != nullptr && (!job_.slice || job_.slice->phase != SlicePhase::kIntended ||
                            !(create->request.ref == job_.slice->ref))) {
    return Break("a create that is not recorded as intended");
  }
  if (create != nullptr && let_go_.contains(job_.slice->ref.name)) {
    return Break("a name is used twice");
  }
  if (remove != nullptr && (!same_slice || job_.slice->phase != SlicePhase::kDeleting ||
                            !(remove->slice == job_.slice->ref))) {
    return Break("a delete that is not recorded");
  }
  const bool confirms = std::holds_alternative<core::SliceSeen>(seen) ||
                        std::holds_alternative<core::CreateAnswered>(seen);
  if (remove != nullptr && before.slice->phase == SlicePhase::kIntended && !confirms) {
    return Break("deletes a slice that it never saw");
  }
  if (run != nullptr &&
      (!job_.stage || run->stage != job_.stage->id || run->attempt != job_.attempt)) {
    return Break("runs a stage that is not the job's");
  }
  if (run != nullptr && ShowsABrokenNode(seen)) return Break("starts on an unhealthy node");
  if (had && !same_slice) let_go_.insert(before.slice->ref.name);
  const bool saw_nothing =
      std::holds_alternative<core::Tick>(seen) || std::holds_alternative<core::LookFailed>(seen);
  const bool idle = saw_nothing && !before.wish_new;
  const bool holds = had && before.slice->phase == SlicePhase::kCreated;
  const bool acquiring = std::holds_alternative<core::Requesting>(before.state) ||
                         std::holds_alternative<core::Waiting>(before.state) ||
                         std::holds_alternative<core::Provisioning>(before.state) ||
                         std::holds_alternative<core::Running>(before.state);
  if (idle && holds && acquiring && (remove != nullptr || !same_slice)) {
    return Break("gives a slice up without an observation");
  }
}

void ReconcilerWorld::CheckExits(const Job& before) {
  if (!before.stage) return;
  const auto key = std::pair{before.attempt, before.stage->id};
  const bool same = job_.stage && job_.attempt == key.first && job_.stage->id == key.second;
  if (!same) {
    stages_over_.insert(key);
    if (job_.stage && stages_over_.contains({job_.attempt, job_.stage->id})) {
      Break("a stage runs a second time in one attempt");
    }
    return;
  }
  for (std::size_t index = 0; index < before.stage->hosts.size(); ++index) {
    const HostRun& run = before.stage->hosts[index];
    HostRun after = job_.stage->hosts[index];
    if (run.settled && !after.settled) return Break("a settled host is no longer settled");
    after.settled = run.settled;
    if (core::Ended(run) && !(run == after)) return Break("an end is recorded twice");
  }
}

/// An attempt ends once. After an alarm that ends the job only the user can make it go on.
void ReconcilerWorld::CheckAttempts(const Job& before, const core::Step& step) {
  for (const core::EndedAttempt& ended : step.ended) {
    if (!ended_attempts_.insert(ended.attempt).second) return Break("an attempt ends twice");
  }
  if (before.wish_new) must_end_ = false;
  const bool goes_on = std::holds_alternative<core::BackingOff>(job_.state) ||
                       std::holds_alternative<core::Queued>(job_.state);
  if (must_end_ && goes_on) return Break("goes on after an alarm that ends the job");
  const core::Alarm* const alarm = job_.stage ? job_.stage->alarm() : nullptr;
  must_end_ = !core::IsFinal(job_.state) &&
              (must_end_ || (alarm != nullptr && alarm->action == core::WatchdogAction::kFail &&
                             !core::IsTask(job_.stage->id)));
}

/// A task is claimed by the job as long as that runs it, and its run is judged by what was seen.
void ReconcilerWorld::CheckTasks(const Job& before, const core::Step& step,
                                 const Observation& seen) {
  if (std::string wrong = queue_->Judge(job_); !wrong.empty()) return Break(std::move(wrong));
  for (const core::TaskWrite& write : step.tasks) {
    const auto* const release = std::get_if<core::TaskRelease>(&write);
    if (release == nullptr) continue;
    const core::TaskEndKind kind = release->end.kind;
    const bool well = EndedWell(*before.stage, seen);
    if (well != (kind == core::TaskEndKind::kSucceeded)) return Break("a task is not judged well");
    const bool stopping = before.wish_new ||
                          std::holds_alternative<core::Cancelling>(before.state) ||
                          std::holds_alternative<core::Deleting>(before.state);
    if (!stopping && kind == core::TaskEndKind::kStopped) return Break("nobody stopped the task");
    const bool to_blame = FailedItself(*before.stage, seen) || before.stage->alarm() != nullptr;
    if (kind == core::TaskEndKind::kFailed && !to_blame)
      return Break("a task is failed for nothing");
  }
}

/// Conclusions from single observations.
void ReconcilerWorld::CheckFacts(const Job& before, const Observation& seen) {
  const bool working = std::holds_alternative<core::Setup>(before.state) ||
                       std::holds_alternative<core::Running>(before.state);
  const bool listed_lost = before.slice && before.slice->phase != SlicePhase::kIntended &&
                           ListsAsLost(*before.slice, seen);
  if (listed_lost && !job_.slice) return Break("forgets a slice because of a listing");
  const bool kept = before.slice && job_.slice && job_.slice->phase == before.slice->phase;
  const bool idled_out = std::holds_alternative<core::Idle>(before.state) &&
                         before.spec.queue->idle && now_ - before.since >= *before.spec.queue->idle;
  if (listed_lost && !before.wish_new && !kept && !idled_out)
    return Break("gives up a slice because of a listing");
  const auto* done = std::get_if<core::Done>(&job_.state);
  const bool succeeds = done != nullptr && done->outcome == core::Outcome::kSucceeded;
  if (working && succeeds && !EndedWell(*before.stage, seen)) {
    return Break("succeeds although a host did not");
  }
  if (!before.slice || !job_.slice || !(before.slice->ref == job_.slice->ref)) return;
  const bool moved = !before.slice->hosts.empty() && before.slice->hosts != job_.slice->hosts;
  if (moved && before.slice->generation == job_.slice->generation) {
    return Break("replaced machines were not noticed");
  }
}

/// At most one slice is ours and not being deleted, and it is the slice on record. Slices of
/// abandoned requests that are watched for do not count.
void ReconcilerWorld::CheckOwnership() {
  int alive = 0;
  for (const auto& [id, resource] : cloud_.resources()) {
    const std::string& name = id;  // clang 14 cannot capture a binding
    const bool watched =
        std::any_of(job_.abandoned.begin(), job_.abandoned.end(),
                    [&](const core::AbandonedRequest& one) { return one.ref.name == name; });
    if (!resource.ours || resource.leaves_at || watched) continue;
    ++alive;
    const bool owned = job_.slice && job_.slice->ref.name == name;
    if (!owned) return Break("leak: nobody owns " + name);
  }
  if (alive > 1) Break("two slices at once");
}

/// The same observation again has no effect. Exception: a look without the slice, or a part of it,
/// counts again. So does one that shows it as lost or on other machines, once the slice is being
/// deleted, as a list is believed then, and the report of a host, once its stage is being stopped,
/// as the host may be settled then.
void ReconcilerWorld::CheckTwice(const Job& before, const core::Step& step, const Observation& seen,
                                 double jitter) {
  if (!broken_.empty() || LacksAPart(seen)) return;
  const bool kept = before.slice && job_.slice && before.slice->ref == job_.slice->ref;
  const bool begins_to_delete = kept && job_.slice->phase == SlicePhase::kDeleting &&
                                before.slice->phase != SlicePhase::kDeleting;
  if (begins_to_delete && ListsAsLost(*job_.slice, seen)) return;
  if (begins_to_delete && ListsOtherMachines(*before.slice, seen)) return;
  const bool begins_to_stop =
      before.stage && job_.stage && !before.stage->stop && job_.stage->stop.has_value();
  if (begins_to_stop && std::holds_alternative<core::HostReport>(seen)) return;
  core::Step again = core::Reconcile(step.job, seen, now_, policy_, jitter);
  // Each list that may be wrong makes it ask, which does no harm.
  std::erase_if(again.effects, [](const core::Effect& effect) {
    return std::holds_alternative<core::LookUpSlice>(effect);
  });
  if (!again.effects.empty()) {
    return Break(
        fmt::format("decided twice: {} the second time", core::Describe(again.effects.front())));
  }
  if (again.changed) Break("decided twice: changed the second time");
}

void ReconcilerWorld::Break(std::string what) {
  if (broken_.empty()) broken_ = std::move(what);
}

}  // namespace jobman::test
