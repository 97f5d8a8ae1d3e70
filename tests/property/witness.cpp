#include "tests/property/witness.hpp"
#include "jobman/core/slice_name.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "jobman/base/strings.hpp"

namespace jobman::test {

using core::Job;
using core::SlicePhase;
using std::chrono::seconds;

namespace {

constexpr std::size_t kStory = 300;
constexpr int kMostTries = 12;  // of a hook delivery

/// The attempt of a command; 0 for a setup step.
int AttemptOf(const ModelRun& run) {
  const auto* const command = std::get_if<core::CommandRun>(&run.of.what);
  return command == nullptr ? 0 : command->attempt;
}

/// Whether the run belongs to the stage of the exit record.
bool IsOf(const ModelRun& run, const ports::ExitRecord& exit) {
  if (exit.stage == "run") return AttemptOf(run) == exit.attempt;
  const auto* const setup = std::get_if<core::SetupRun>(&run.of.what);
  const std::string step = exit.stage.substr(6, exit.stage.find('-', 6) - 6);
  return setup != nullptr && std::to_string(setup->step) == step;
}

bool Succeeded(const Job& job) {
  const auto* done = std::get_if<core::Done>(&job.state);
  return done != nullptr && done->outcome == core::Outcome::kSucceeded;
}

bool Works(const Job& job) {
  return std::holds_alternative<core::Requesting>(job.state) ||
         std::holds_alternative<core::Waiting>(job.state) ||
         std::holds_alternative<core::Provisioning>(job.state) ||
         std::holds_alternative<core::Setup>(job.state) ||
         std::holds_alternative<core::Running>(job.state);
}

/// Whether the job's own record has a reason for another slice: a wish, a run that ended, an alarm.
bool HasReason(const Job& before, const ports::Turn& turn) {
  const bool wished = before.wish_new || before.wish != core::Wish::kRun;
  const bool ended = before.stage && std::any_of(before.stage->hosts.begin(),
                                                 before.stage->hosts.end(), core::Ended);
  const bool alarmed = before.stage && before.stage->stop &&
                       (before.stage->alarm() != nullptr ||
                        std::holds_alternative<core::StepTimedOut>(*before.stage->stop));
  return wished || ended || alarmed || !turn.exits.empty();
}

}  // namespace

Witness::Witness(MemoryStore& store, const FaultyCloud& cloud, const FaultyHosts& hosts,
                 const FakeClock& clock, base::StatePaths paths)
    : store_(store), cloud_(cloud), hosts_(hosts), clock_(clock), paths_(std::move(paths)) {}

void Witness::Tell(std::string line) {
  story_.push_back(base::FormatRfc3339(clock_.Now()) + " " + std::move(line));
  if (story_.size() > kStory) story_.pop_front();
}

void Witness::Break(std::string what) {
  if (!broken_.empty()) return;
  Tell("BROKEN: " + what);
  broken_ = std::move(what);
}

void Witness::Wished(core::JobId id) {
  succeeded_.erase(id);
}

void Witness::CloudSilent(bool silent) {
  silent_since_.reset();
  if (silent) silent_since_ = std::max(clock_.Now(), paused_until_);
}

void Witness::Paused(base::Duration time) {
  if (silent_since_) *silent_since_ += time;
  paused_until_ = std::max(paused_until_, clock_.Now() + time);
}

bool Witness::IsAlive(const ModelRun& run) const {
  return run.running && cloud_.BootOf(run.machine) == run.boot;
}

// --- records ---

void Witness::Recorded(const Job& before, const ports::Turn& turn) {
  const Job& job = turn.job;
  Tell(fmt::format("job {} {} -> {} a{} [{}]: {}", job.id.value, core::StateName(before.state),
                   core::StateName(job.state), job.attempt,
                   job.slice
                       ? fmt::format("{}:{}:{}", job.slice->ref.name,
                                     static_cast<int>(job.slice->phase), job.slice->cloud_state)
                       : "-",
                   job.why));
  CheckExits(before, turn);
  CheckSlice(before, turn);
  CheckSuccess(before, job);
  CheckAlarm(before, job);
  CheckGroup(job);
}

/// job.max_running. All jobs of a group have the same limit here.
void Witness::CheckGroup(const Job& job) {
  std::set<core::JobId>& working = at_work_[job.spec.group];
  if (core::IsAtWork(job))
    working.insert(job.id);
  else
    working.erase(job.id);
  if (job.spec.max_running && working.size() > static_cast<std::size_t>(*job.spec.max_running)) {
    std::vector<std::string> jobs;
    for (const core::JobId id : working) jobs.push_back(std::to_string(id.value));
    Break(fmt::format("jobs {} of group {} are at work", base::Join(jobs, ", "), job.spec.group));
  }
}

/// After an alarm that ends the job only the user can make it go on.
void Witness::CheckAlarm(const Job& before, const Job& after) {
  if (before.wish_new) must_end_.erase(after.id);
  const bool goes_on = std::holds_alternative<core::BackingOff>(after.state) ||
                       std::holds_alternative<core::Queued>(after.state);
  if (goes_on && must_end_.contains(after.id)) {
    Break(fmt::format("job {} goes on after an alarm that ends it", after.id.value));
  }
  const core::Alarm* const alarm = after.stage ? after.stage->alarm() : nullptr;
  if (core::IsFinal(after.state))
    must_end_.erase(after.id);
  else if (alarm != nullptr && alarm->action == core::WatchdogAction::kFail)
    must_end_.insert(after.id);
}

void Witness::CheckExits(const Job& before, const ports::Turn& turn) {
  for (const ports::ExitRecord& exit : turn.exits) {
    const auto key = std::tuple{exit.job, exit.attempt, exit.stage, exit.host};
    if (!exits_.insert(key).second) Break("an exit code is recorded twice");
    if (!exit.error.empty()) continue;
    const auto runs = hosts_.RunsOf(exit.job);
    const bool true_code = std::any_of(runs.begin(), runs.end(), [&](const ModelRun* run) {
      return IsOf(*run, exit) && run->host == exit.host &&
             run->status() == fmt::format("exited {}", exit.exit_code);
    });
    if (!true_code) {
      Break(fmt::format("job {} records exit code {} of {} on host {}, which is wrong",
                        before.id.value, exit.exit_code, exit.stage, exit.host));
    }
  }
}

/// A slice is given up only for a reason, and forgotten only when it is gone.
void Witness::CheckSlice(const Job& before, const ports::Turn& turn) {
  if (!before.slice || before.slice->phase == SlicePhase::kIntended) return;
  const core::SliceRef& ref = before.slice->ref;
  const bool kept = turn.job.slice && turn.job.slice->ref == ref;
  if (!kept && cloud_.Holds(ref)) Break("forgets slice " + ref.name + ", which still exists");
  const bool is_deleted = kept && before.slice->phase == SlicePhase::kCreated &&
                          turn.job.slice->phase == SlicePhase::kDeleting;
  if (!is_deleted || !Works(before) || HasReason(before, turn)) return;
  if (silent_since_ && clock_.Now() - *silent_since_ > seconds{60}) {
    Break("gives up slice " + ref.name + " while the cloud is silent");
  }
  if (cloud_.IsUnharmed(ref)) Break("gives up slice " + ref.name + ", which had no fault");
}

void Witness::CheckSuccess(const Job& before, const Job& after) {
  if (!Succeeded(after) || Succeeded(before)) return;
  succeeded_.insert(after.id);
  if (!before.stage) return Break("succeeds without a stage");
  const auto runs = hosts_.RunsOf(before.id);
  for (const core::HostRun& host : before.stage->hosts) {
    const bool well = std::any_of(runs.begin(), runs.end(), [&](const ModelRun* run) {
      return AttemptOf(*run) == before.attempt && run->host == host.host &&
             run->status() == "exited 0";
    });
    if (!well)
      Break(fmt::format("job {} succeeds, but failed on host {}", after.id.value, host.host));
  }
}

// --- acts ---

void Witness::Deletes(const std::string& name, const FaultyCloud::Labels& labels) {
  Tell("a delete of " + name + " arrives");
  const auto label = labels.find("jobman-job");
  const auto store = labels.find("jobman-store");
  const bool ours = store != labels.end() && store->second == "memory";
  if (!ours || label == labels.end()) return Break("deletes " + name + ", which is not ours");
  const auto job = store_.Get(core::JobId{base::ParseNumber(label->second).value_or(0)});
  if (!job.ok() || !job->slice) return;
  const auto ids = core::NodeIds(job->slice->ref);
  const bool held = job->slice->ref.name == name || std::count(ids.begin(), ids.end(), name) > 0;
  if (held && job->slice->phase != SlicePhase::kDeleting) {
    Break("deletes " + name + ", which is on record as held");
  }
}

void Witness::Starts(const ModelRun& run) {
  Tell(fmt::format("{} starts on host {}, {}", run.id, run.host, run.machine));
  const auto job = store_.Get(run.of.on.job);
  if (!job.ok()) return Break("starts " + run.id + " of no job");
  if (succeeded_.contains(job->id)) Break("starts " + run.id + " after success");
  for (const ModelRun* other : hosts_.RunsOf(job->id)) {
    if (AttemptOf(*other) == 0 || other->started == base::TimePoint{}) continue;
    const bool same = other->of.what == run.of.what;  // on this host, or another
    if (same && other->host == run.host) Break("starts " + run.id + " again");
    const bool in_the_way = AttemptOf(run) != 0 || other->machine == run.machine;
    if (!same && IsAlive(*other) && in_the_way) {
      Break(fmt::format("starts {} while {} runs on host {}, {}", run.id, other->id, other->host,
                        other->machine));
    }
  }
}

// --- leftovers ---

void Witness::CheckRest(const Job& job, bool may_fail) {
  const std::string state{core::StateName(job.state)};
  const std::string told = fmt::format("job {} is {} in the end: {}", job.id.value, state, job.why);
  if (!core::IsFinal(job.state) || job.wish_new) return Break("liveness: " + told);
  const bool rests = state == "CANCELLED" || state == "DELETED";
  const bool may_be_cancelled = job.wish == core::Wish::kCancel && rests;
  const bool may_be_deleted = job.wish == core::Wish::kDelete && state == "DELETED";
  const bool well = job.wish != core::Wish::kDelete && state == "SUCCEEDED";
  const bool failed = may_fail && job.wish != core::Wish::kDelete && state == "FAILED";
  if (!may_be_cancelled && !may_be_deleted && !well && !failed) Break(told);
  const bool unstopped = base::Contains(job.why, "did not answer");
  for (const ModelRun* run : hosts_.RunsOf(job.id)) {
    if (IsAlive(*run) && !unstopped) Break(run->id + " still runs: " + told);
  }
  CheckLogs(job);
  CheckDeliveries(job);
}

void Witness::CheckLogs(const Job& job) {
  for (const ModelRun* run : hosts_.RunsOf(job.id)) {
    if (AttemptOf(*run) == 0 || run->started == base::TimePoint{}) continue;
    const auto path = paths_.LogPath(job.id.value, AttemptOf(*run), "run", run->host);
    CheckLog(job, *run, base::ReadFile(path).value_or(""));
  }
}

/// When a host falls silent during a stop, the end of its log may be given up after this time.
constexpr base::Duration kStopGivesUp = std::chrono::seconds{30};

void Witness::CheckLog(const Job& job, const ModelRun& run, const std::string& written) {
  if (!run.log.starts_with(written)) Break("the log of " + run.id + " is not what it wrote");
  if (run.lost) return;
  const auto exits = store_.Exits(job.id).value_or({});
  const bool recorded = std::any_of(exits.begin(), exits.end(), [&](const auto& exit) {
    return exit.stage == "run" && IsOf(run, exit) && exit.host == run.host && exit.error.empty() &&
           !(run.stop_answered != base::TimePoint{} && exit.at - run.stop_answered > kStopGivesUp);
  });
  if (recorded && written != run.log) Break("the log of " + run.id + " is cut");
}

/// Every delivery succeeded, or used up its tries.
void Witness::CheckDeliveries(const Job& job) {
  for (const ports::HookDelivery& delivery : store_.Deliveries(job.id).value_or({})) {
    if (delivery.next_try) Break("a delivery is left of " + delivery.event);
    if (!told_.contains(delivery.event_id) && delivery.tries < kMostTries) {
      Break("a hook was not told of " + delivery.event);
    }
  }
}

void Witness::CheckNothingLeft() {
  for (const std::string& name : cloud_.Names(/*foreign=*/false)) Break("leak: " + name);
}

}  // namespace jobman::test
