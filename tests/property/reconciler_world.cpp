#include "tests/property/reconciler_world.hpp"
#include "jobman/core/slice_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "jobman/base/strings.hpp"
#include "jobman/core/describe.hpp"
#include "tests/support/job_builder.hpp"
#include "tests/support/values_of.hpp"

namespace jobman::test {

using base::Code;
using base::Error;
using base::Reason;
using core::HostPhase;
using core::HostRun;
using core::Job;
using core::Observation;
using core::Wish;
using std::chrono::seconds;

namespace {

/// The machines on the job's record, as CloudModel names them. Addresses are "10.0.SUBNET.HOST".
std::string MachineOnRecord(const core::Slice& slice) {
  if (slice.hosts.empty()) return {};
  const std::string& address = slice.hosts.front().internal;
  const auto begin = address.find('.', address.find('.') + 1) + 1;
  return slice.ref.name + "/" + address.substr(begin, address.find('.', begin) - begin);
}

}  // namespace

ReconcilerWorld::ReconcilerWorld(std::uint64_t seed, std::set<Edge>& edges, bool traced,
                                 bool worker)
    : random_(seed),
      odds_(seed),
      watchdog_random_(~seed),
      listing_random_(seed ^ 0x6c697374U),
      worker_random_(seed ^ 0x776f726bU),
      edges_(edges),
      traced_(traced),
      job_(RandomJob()),
      cloud_(random_, odds_, 1 + random_.Below(3)) {
  if (random_.Percent(20)) {
    cloud_.AllowPermanentErrors();
    may_fail_ = true;
  }
  job_.created_at = now_;
  job_.since = now_;
  if (worker) MakeWorker(seed);
  if (watchdog_random_.Percent(20)) AddWatchdog();
  if (watchdog_random_.Percent(10)) {
    job_.spec.tpu.valid_until = now_ + seconds{watchdog_random_.Below(1800)};
    may_fail_ = true;
  }
  if (seed % 2 == 0) return;
  for (const core::HookEvent event : ValuesOf<core::HookEvent>()) {
    job_.spec.hooks.push_back({.event = event, .command = "true"});
  }
}

void ReconcilerWorld::AddWatchdog() {
  using core::WatchdogAction;
  core::WatchdogSpec& watchdog = job_.spec.watchdog;
  watchdog.no_output = seconds{watchdog_random_.Below(120) + 1};
  watchdog.bad_output = {{.match = "a", .action = WatchdogAction::kRestart},
                         {.match = "b", .action = WatchdogAction::kNewSlice},
                         {.match = "c", .action = WatchdogAction::kFail}};
  if (watchdog_random_.Percent(50)) {
    watchdog.max_duration = seconds{watchdog_random_.Below(600) + 1};
    watchdog.on_max_duration = WatchdogAction::kNewSlice;
  }
  may_fail_ = true;
}

void ReconcilerWorld::MakeWorker(std::uint64_t seed) {
  job_.spec.command.cmd.clear();
  job_.spec.queue = core::QueueSpec{
      .enabled = true, .config = "/tasks.yaml", .idle = seconds{60 + worker_random_.Below(600)}};
  queue_.emplace(seed);
}

Job ReconcilerWorld::RandomJob() {
  JobBuilder builder;
  if (random_.Percent(50)) builder.Direct();
  for (int step = random_.Below(3); step > 0; --step) {
    core::SetupStep setup{.name = "step", .run = "true", .required = random_.Percent(60)};
    if (random_.Percent(30)) setup.hosts = {.all = false, .numbers = {0}};
    if (random_.Percent(25)) setup.timeout = seconds{5 + random_.Below(60)};
    builder.With(setup);
  }
  core::RetrySpec retries{.preemption = {}, .failure = {}, .infra = {}};
  if (random_.Percent(30)) {
    retries = {.preemption = random_.Below(4), .failure = random_.Below(3), .infra = 3};
    may_fail_ = true;
  }
  builder.Retries(retries);
  return builder.Build();
}

// --- the walk ---

bool ReconcilerWorld::Walk(int steps) {
  const std::int64_t end = steps_ + steps;
  while (steps_ < end && broken_.empty()) FaultyRound();
  faultless_ = true;
  cloud_.EndFaults();
  const Wish wish = job_.wish;
  for (int round = 0; round < 400 && !Rest() && broken_.empty(); ++round) FaultlessRound();
  CheckRest(wish);
  job_.wish = Wish::kDelete;
  job_.wish_new = true;
  ledger_.Wished(job_.wish);
  for (int round = 0; round < 200 && core::NeedsCare(job_) && broken_.empty(); ++round) {
    FaultlessRound();
  }
  CheckNothingLeft();
  return broken_.empty();
}

bool ReconcilerWorld::Rest() {
  return core::IsFinal(job_.state) && !job_.wish_new;
}

void ReconcilerWorld::FaultyRound() {
  now_ += seconds{random_.Percent(5) ? random_.Below(900) : random_.Below(12)};
  cloud_.Settle(now_);
  ledger_.Saw(cloud_.resources());
  const std::string name = job_.slice ? job_.slice->ref.name : std::string{};
  if (random_.Percent(50)) cloud_.Advance(name, now_);
  if (odds_.Occurs(random_, Risk::kTakenName, 2)) {
    cloud_.TakeName(core::SliceName(job_, job_.attempt + 1), job_.spec.tpu.allocation_mode, now_);
  }
  const bool watched = job_.spec.watchdog.no_output && job_.stage;
  if (watched && watchdog_random_.Percent(5)) return TriggerWatchdog();
  if (queue_ && worker_random_.Percent(5)) queue_->Change(now_);
  if (queue_ && worker_random_.Percent(15)) return OfferTask();
  const int dice = random_.Below(100);
  if (dice < 27) return Look();
  if (dice < 30) return LookForAbandonedSlices();
  if (dice < 60) return ReportHost();
  if (dice < 80) return DeliverOne();
  if (dice < 90) return Decide(core::Tick{});
  if (dice < 94) return PollOperation();
  if (dice < 97) return ChangeWish();
  Crash();
}

/// What a controller does within one poll, without faults.
void ReconcilerWorld::FaultlessRound() {
  now_ = job_.wake_at ? std::max(*job_.wake_at, now_ + seconds{1}) : now_ + seconds{15};
  cloud_.Settle(now_);
  ledger_.Saw(cloud_.resources());
  if (job_.slice) cloud_.Advance(job_.slice->ref.name, now_);
  while (!messages_.empty() && broken_.empty()) DeliverOne();
  PollOperation();
  Look();
  LookForAbandonedSlices();
  if (queue_) OfferTask();
  for (int report = 0; report < 30 && broken_.empty(); ++report) ReportHost();
  Decide(core::Tick{});
}

void ReconcilerWorld::CheckRest(Wish wish) {
  if (!broken_.empty()) return;
  const std::string state{core::StateName(job_.state)};
  if (!core::IsFinal(job_.state)) return Break("liveness: still " + state + " without faults");
  if (wish == Wish::kDelete && state != "DELETED") return Break("deleted, but " + state);
  const bool ran = wish == Wish::kRun || wish == Wish::kReboot || wish == Wish::kRequeue;
  if (ran && state == "FAILED" && may_fail_) return;
  if (ran && state != "SUCCEEDED") return Break("liveness: ended " + state);
}

void ReconcilerWorld::CheckNothingLeft() {
  if (!broken_.empty()) return;
  if (core::StateName(job_.state) != "DELETED") return Break("the deleted job does not rest");
  if (core::NeedsCare(job_)) return Break("the deleted job needs care");
  for (const auto& [name, resource] : cloud_.resources()) {
    if (resource.ours) return Break("leak: " + name + " outlives its job");
  }
}

// --- the controller ---

void ReconcilerWorld::Decide(const Observation& seen) {
  if (!broken_.empty()) return;
  ledger_.Saw(cloud_.resources());
  if (job_.slice && cloud_.OperationFailed(job_.slice->ref.name))
    ledger_.OperationFailed(job_.slice->ref.name);
  const Job before = job_;
  const double jitter = random_.Unit();
  policy_.hold.reset();
  if (!faultless_ && odds_.Occurs(random_, Risk::kHold, 10)) {
    policy_.hold = core::RequestHold{.not_before = now_ + std::chrono::seconds{random_.Below(120)},
                                     .error = {.code = base::Code::kResourceExhausted,
                                               .message = "no more capacity",
                                               .reason = base::Reason::kStockout}};
  }
  const core::Step step = core::Reconcile(job_, seen, now_, policy_, jitter);
  ++steps_;
  if (!faultless_ && odds_.Occurs(random_, Risk::kCrash, 1))
    return Crash();                             // before it is recorded
  if (queue_ && !queue_->Commit(step)) return;  // refused: a task has changed meanwhile
  job_ = step.job;
  edges_.emplace(core::StateName(before.state), core::StateName(job_.state));
  if (traced_) Trace(before, step, seen);
  Check(before, step, seen);
  if (random_.Percent(25)) CheckTwice(before, step, seen, jitter);
  Act(step.effects, !faultless_ && odds_.Occurs(random_, Risk::kCrash, 2));
}

void ReconcilerWorld::Act(const std::vector<core::Effect>& effects, bool may_crash) {
  for (const core::Effect& effect : effects) {
    if (may_crash && random_.Percent(50)) return Crash();
    Do(effect);
  }
}

void ReconcilerWorld::Crash() {
  messages_.clear();
  watched_.reset();
  if (traced_) trace_.emplace_back("crash, restart");
  Act(core::ImpliedEffects(job_), false);
}

void ReconcilerWorld::Do(const core::Effect& effect) {
  if (!broken_.empty()) return;
  std::visit([this](const auto& one) { Do(one); }, effect);
}

void ReconcilerWorld::Do(const core::CreateSlice& create) {
  const std::string& name = create.request.ref.name;
  if (!core::IsOurs(create.request.tpu.labels, core::OwnerLabels(job_, policy_.store_id))) {
    return Break("a request without our labels");
  }
  CallFate fate = cloud_.Create(name, create.request.ref.mode, now_);
  core::CreateAnswered answer{.slice = name, .error = std::move(fate.error)};
  if (answer.error && !fate.applied) ledger_.Refused(name);
  if (!answer.error) answer.operations = {"operations/" + name};
  Send(std::move(answer));
}

void ReconcilerWorld::Do(const core::DeleteSlice& remove) {
  const std::string& name = remove.slice.name;
  const auto found = cloud_.resources().find(name);
  if (found != cloud_.resources().end() && !found->second.ours) {
    return Break("deletes " + name + ", which is not ours");
  }
  const CallFate fate = cloud_.Delete(name, now_);
  ledger_.Deletes(name);
  core::DeleteAnswered answer{.slice = name, .began = now_};
  if (fate.error && fate.error->code == Code::kNotFound) {
    answer.gone = true;
  } else {
    answer.error = fate.error;
  }
  Send(std::move(answer));
}

void ReconcilerWorld::Do(const core::LookUpSlice& look) {
  if (!cloud_.reachable()) return;
  core::SliceSeen seen = cloud_.Look(look.slice.name, now_);
  seen.began = now_;
  seen.by_name = true;
  Send(std::move(seen));
}

void ReconcilerWorld::Do(const core::RunStage& run) {
  Watched watched{
      .attempt = run.attempt, .stage = run.stage, .machine = MachineOnRecord(*job_.slice)};
  for (const HostRun& host : job_.stage->hosts) watched.hosts.push_back(host.host);
  watched_ = std::move(watched);
}

void ReconcilerWorld::Do(const core::StopStage& stop) {
  const bool same = watched_ && watched_->attempt == stop.attempt && watched_->stage == stop.stage;
  if (same) watched_->stopping = true;
}

void ReconcilerWorld::Do(const core::PassNotice& pass) {
  if (!job_.stage || pass.stage != job_.stage->id || core::IsSetup(pass.stage)) {
    Break("passes a notice to what does not run");
  }
  if (pass.attempt != job_.attempt) Break("passes a notice to another attempt");
}

void ReconcilerWorld::Do(const core::AbandonStage& abandon) {
  const bool same =
      watched_ && watched_->attempt == abandon.attempt && watched_->stage == abandon.stage;
  if (same) watched_.reset();
}

// --- observations ---

void ReconcilerWorld::Send(Observation seen) {
  if (faultless_) return messages_.push_back({.at = now_, .seen = std::move(seen)});
  if (odds_.Occurs(random_, Risk::kDelivery, 8)) return;  // lost
  if (odds_.Occurs(random_, Risk::kDelivery, 10))
    messages_.push_back({.at = now_ + seconds{random_.Below(300)}, .seen = seen});
  messages_.push_back({.at = now_ + seconds{random_.Below(20)}, .seen = std::move(seen)});
}

void ReconcilerWorld::DeliverOne() {
  if (messages_.empty()) return Decide(core::Tick{});
  const auto index = random_.Below(static_cast<int>(messages_.size()));
  const Message message = messages_[static_cast<std::size_t>(index)];
  messages_.erase(messages_.begin() + index);
  DecideDuringLook(message.seen);
}

/// A look that began before the decision is judged after it.
void ReconcilerWorld::DecideDuringLook(const Observation& seen) {
  const auto before = job_.slice;
  std::optional<core::SliceSeen> look;
  if (before && cloud_.reachable()) look = cloud_.Look(before->ref.name, now_);
  Decide(seen);
  const bool changed = before && job_.slice && job_.slice->ref == before->ref &&
                       (job_.slice->requested_at != before->requested_at ||
                        job_.slice->delete_requested_at != before->delete_requested_at ||
                        job_.slice->last_evidence_at != before->last_evidence_at);
  if (!look || !changed) return;
  look->began = now_ - base::Duration{1};
  Decide(*look);
}

/// What a list that was mixed up on the way says of a slice.
void ReconcilerWorld::Distort(core::SliceSeen& seen) {
  switch (listing_random_.Below(4)) {
    case 0:
      seen.nodes.clear();
      return;
    case 1:
      seen.queued.reset();
      return;
    case 2:
      seen.foreign = true;
      return;
    default:
      if (seen.queued) seen.queued->state = core::QueuedState::kSuspended;
      for (core::NodeSeen& node : seen.nodes) node.state = core::NodeState::kPreempted;
      return;
  }
}

/// A complete listing, which may omit what exists, or show it as lost, several times in a row.
core::SliceSeen ReconcilerWorld::List() {
  core::SliceSeen seen = cloud_.Look(job_.slice->ref.name, now_);
  seen.began = now_;
  if (faultless_ || seen.foreign) return seen;
  if (omissions_ == 0 && odds_.Occurs(listing_random_, Risk::kLateArrival, 3)) {
    omissions_ = 1 + listing_random_.Below(8);
  }
  if (omissions_ == 0) return seen;
  --omissions_;
  if (listing_random_.Percent(50)) {
    Distort(seen);
  } else {
    seen.nodes.clear();
    seen.queued.reset();
  }
  return seen;
}

void ReconcilerWorld::Look() {
  if (!job_.slice) return Decide(core::Tick{});
  if (!cloud_.reachable()) {
    return Decide(
        core::LookFailed{.slice = job_.slice->ref.name,
                         .error = {.code = Code::kUnavailable, .reason = Reason::kUnreachable}});
  }
  const core::SliceSeen seen = List();
  // The controller is suspended before it judges.
  if (!faultless_ && random_.Percent(2)) now_ += seconds{random_.Below(900)};
  // An observation may be repeated late. But listings do not overtake each other, so not one that
  // shows machines or nothing.
  const bool harmless = !seen.foreign && (seen.queued || !seen.nodes.empty()) &&
                        (seen.nodes.empty() || seen.nodes[0].hosts.empty());
  if (!faultless_ && harmless && random_.Percent(10)) Send(seen);
  Decide(seen);
}

/// Like the controller, deletes slices of abandoned requests.
void ReconcilerWorld::LookForAbandonedSlices() {
  if (!cloud_.reachable()) return;
  const auto abandoned = job_.abandoned;
  for (const core::AbandonedRequest& one : abandoned) {
    core::SliceSeen seen = cloud_.Look(one.ref.name, now_);
    seen.began = now_;
    const bool ours = !seen.foreign && (seen.queued || !seen.nodes.empty());
    if (ours) ledger_.Deletes(one.ref.name);
    if (ours) (void)cloud_.Delete(one.ref.name, now_);
    Decide(std::move(seen));
  }
}

void ReconcilerWorld::PollOperation() {
  if (!job_.slice || job_.slice->operations.empty()) return;
  if (!cloud_.OperationFailed(job_.slice->ref.name)) return;
  const core::OperationFailed failed{.slice = job_.slice->ref.name,
                                     .error = {.code = Code::kResourceExhausted,
                                               .message = "no more capacity",
                                               .reason = Reason::kStockout}};
  if (random_.Percent(20)) Send(failed);
  Decide(failed);
}

void ReconcilerWorld::ReportHost() {
  const bool current = watched_ && job_.stage && watched_->attempt == job_.attempt &&
                       watched_->stage == job_.stage->id && job_.slice;
  if (!current || watched_->hosts.empty()) return;
  const auto index = random_.Below(static_cast<int>(watched_->hosts.size()));
  const int host = watched_->hosts[static_cast<std::size_t>(index)];
  const HostRun run = StateOf(host);
  if (!broken_.empty()) return;
  const core::HostReport report{.attempt = watched_->attempt, .stage = watched_->stage, .run = run};
  if (!faultless_ && odds_.Occurs(random_, Risk::kDelivery, 20)) return Send(report);
  if (!faultless_ && odds_.Occurs(random_, Risk::kDelivery, 5)) Send(report);
  Decide(report);
}

/// The controller offers a task, sometimes by a record that has changed since.
void ReconcilerWorld::OfferTask() {
  const bool late = !faultless_ && worker_random_.Percent(20);
  auto task = queue_->Offer(job_, now_, late);
  if (!task) return Decide(core::Tick{});
  core::TaskOffered offer{.task = *std::move(task)};
  if (!faultless_ && worker_random_.Percent(10)) return Send(std::move(offer));
  Decide(std::move(offer));
}

/// The watchdog sees something, sometimes in an attempt that has ended.
void ReconcilerWorld::TriggerWatchdog() {
  const core::StageId stage = job_.stage->id;
  const int attempt = job_.attempt - (watchdog_random_.Percent(10) ? 1 : 0);
  ledger_.Alarmed(attempt);
  if (watchdog_random_.Percent(50)) {
    return Decide(core::Silence{
        .attempt = attempt, .since = now_ - seconds{watchdog_random_.Below(240)}, .stage = stage});
  }
  Decide(core::BadOutput{.attempt = attempt,
                         .host = watchdog_random_.Below(4),
                         .rule = watchdog_random_.Below(3),
                         .line = "a bad line",
                         .stage = stage});
}

/// What the executor sees of a host now.
HostRun ReconcilerWorld::StateOf(int host) {
  HostRun run{.host = host};
  const auto key = std::tuple{watched_->attempt, watched_->stage, host};
  auto found = processes_.find(key);
  const std::string machine = cloud_.MachineOf(job_.slice->ref.name);
  const bool there = !machine.empty() && machine == watched_->machine;
  if (!there && (found == processes_.end() || found->second.running)) {
    if (!faultless_ && random_.Percent(60)) return run;
    if (found != processes_.end())
      found->second = {.machine = found->second.machine, .running = false, .lost = true};
    else
      processes_[key] = {.machine = watched_->machine, .running = false, .lost = true};
    run.phase = HostPhase::kLost;
    run.settled = true;
    ledger_.Ended(watched_->attempt, core::IsCommand(watched_->stage), 0, /*lost=*/true);
    return run;
  }
  if (found == processes_.end()) return StartOn(host);
  Process& process = found->second;
  if (process.lapsed) return Lapsed(host);
  if (process.running && (faultless_ || watched_->stopping || random_.Percent(30))) Finish(process);
  run.phase = process.running ? HostPhase::kRunning
              : process.lost  ? HostPhase::kLost
                              : HostPhase::kExited;
  run.exit_code = process.exit_code;
  run.settled = watched_->stopping && !process.running;
  if (!faultless_ && odds_.Occurs(random_, Risk::kSliceFault, 3)) {
    run.notice = core::Notice{.kind = random_.Percent(50) ? core::Notice::Kind::kPreemption
                                                          : core::Notice::Kind::kMaintenance,
                              .imminent = true};
    ledger_.HostNoticed(job_.slice->ref.name);
  }
  return run;
}

HostRun ReconcilerWorld::Lapsed(int host) {
  return {.host = host,
          .phase = HostPhase::kLost,
          .error = Error{.code = Code::kAborted, .reason = Reason::kSetupLapsed},
          .settled = true};
}

HostRun ReconcilerWorld::StartOn(int host) {
  HostRun run{.host = host};
  const auto key = std::tuple{watched_->attempt, watched_->stage, host};
  if (watched_->stopping) {
    processes_[key] = {.machine = watched_->machine, .running = false, .exit_code = 143};
    run.phase = HostPhase::kExited;
    run.exit_code = 143;
    run.settled = true;
    ledger_.Ended(watched_->attempt, core::IsCommand(watched_->stage), 143, /*lost=*/false);
    return run;
  }
  if (!faultless_ && odds_.Occurs(random_, Risk::kHost, 10)) {
    run.error =
        Error{.code = Code::kUnavailable, .message = "refused", .reason = Reason::kHostRefused};
    return run;
  }
  const bool set_up = !core::IsSetup(watched_->stage) && core::CountSteps(job_.spec) > 0;
  if (set_up && !faultless_ && odds_.Occurs(random_, Risk::kHost, 2)) {
    // It says so until its setup has run again.
    processes_[key] = {.machine = watched_->machine, .running = false, .lapsed = true};
    ledger_.SetupLapsed(watched_->attempt);
    return Lapsed(host);
  }
  for (const auto& [other, process] : processes_) {
    const bool same =
        std::get<0>(other) == watched_->attempt && std::get<1>(other) == watched_->stage;
    if (!same && process.running && cloud_.MayBeAlive(process.machine)) {
      Break(fmt::format("{} of attempt {} starts while {} of attempt {} runs",
                        core::StageWord(watched_->stage), watched_->attempt,
                        core::StageWord(std::get<1>(other)), std::get<0>(other)));
      return run;
    }
  }
  processes_[key] = {.machine = watched_->machine};
  run.phase = HostPhase::kRunning;
  return run;
}

void ReconcilerWorld::Finish(Process& process) {
  process.running = false;
  process.exit_code = watched_->stopping ? 143 : 0;
  if (!faultless_ && odds_.Occurs(random_, Risk::kCommand, 25)) {
    constexpr std::array kCodes = {1, 75, 137, 0};
    process.exit_code = kCodes.at(static_cast<std::size_t>(random_.Below(4)));
    if (process.exit_code == 137) process.lost = true;
  }
  ledger_.Ended(watched_->attempt, core::IsCommand(watched_->stage), process.exit_code,
                process.lost);
}

void ReconcilerWorld::ChangeWish() {
  constexpr std::array kWishes = {Wish::kRun,    Wish::kRun,     Wish::kRun,   Wish::kCancel,
                                  Wish::kReboot, Wish::kRequeue, Wish::kDelete};
  job_.wish = kWishes.at(static_cast<std::size_t>(random_.Below(7)));
  job_.wish_new = true;
  ledger_.Wished(job_.wish);
  Decide(core::Tick{});
}

void ReconcilerWorld::Trace(const Job& before, const core::Step& step, const Observation& seen) {
  trace_.push_back(fmt::format("{} {} | {}", base::FormatDateTime(now_), core::Describe(seen),
                               core::Describe(before, step)));
  if (trace_.size() > 40) trace_.pop_front();
}

}  // namespace jobman::test
