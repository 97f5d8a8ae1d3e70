#include "tests/property/controller_world.hpp"
#include "jobman/core/slice_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tests/support/fake_slice_api.hpp"
#include "tests/support/values_of.hpp"

namespace jobman::test {

using core::Job;
using core::Wish;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

constexpr std::array kZones = {"us-central2-b", "europe-west4-a"};
constexpr base::Duration kLongestRest = hours{6};
/// In ten minutes with a silent zone or a dead host, when no other job needs requests.
constexpr int kMostWhileDamaged = 1'000;

/// Receives hook events.
class HookReceiver final : public ports::Notifier {
 public:
  using Tells = std::function<base::Task<base::Status>(ports::Message)>;
  explicit HookReceiver(Tells tells) : tells_(std::move(tells)) {}
  base::Task<base::Status> Tell(core::HookSpec, core::SmtpSpec, ports::Message message) override {
    return tells_(std::move(message));
  }

 private:
  Tells tells_;
};

}  // namespace

ControllerWorld::ControllerWorld(std::uint64_t seed, base::Path home)
    : random_(seed),
      odds_(seed),
      damage_(kDamages.at(
          static_cast<std::size_t>(Random(~seed).Below(static_cast<int>(kDamages.size()))))),
      paths_{.home = std::move(home)},
      way_(random_, odds_, store_),
      cloud_(std::make_shared<FaultyCloud>(random_, odds_, time_.clock())),
      hosts_(random_, odds_, time_.clock(), *cloud_),
      witness_(store_, *cloud_, hosts_, time_.clock(), paths_),
      notifier_(std::make_unique<HookReceiver>(
          [this](ports::Message message) { return TellHook(message); })) {
  way_.OnCommit(
      [this](const Job& before, const ports::Turn& turn) { witness_.Recorded(before, turn); });
  cloud_->OnDelete([this](const std::string& name, const FaultyCloud::Labels& labels) {
    witness_.Deletes(name, labels);
  });
  hosts_.OnStart([this](const ModelRun& run) { witness_.Starts(run); });
  permanent_errors_ = random_.Percent(15);
  if (permanent_errors_) cloud_->AllowPermanentErrors();
  for (int count = 3 + random_.Below(4); count > 0; --count) Submit(RandomSpec());
}

// --- jobs ---

core::RetrySpec ControllerWorld::RandomRetries() {
  core::RetrySpec retries{.preemption = {}, .failure = {}, .infra = {}};
  if (random_.Percent(30)) retries.failure = random_.Below(3);
  if (random_.Percent(20)) retries.infra = 3;
  retries.backoff = seconds{1};
  retries.backoff_cap = seconds{20};
  return retries;
}

core::JobSpec ControllerWorld::RandomSpec() {
  constexpr std::array kTypes = {"v4-8", "v4-16", "v4-32"};
  core::JobSpec spec;
  spec.name = "train";
  spec.tpu.accelerator = kTypes.at(static_cast<std::size_t>(random_.Below(3)));
  spec.tpu.num_slices = random_.Percent(25) ? 2 : 1;
  spec.tpu.project = "p";
  spec.tpu.zone = kZones.at(static_cast<std::size_t>(random_.Below(2)));
  spec.tpu.version = "tpu-ubuntu2204-base";
  if (random_.Percent(50)) spec.tpu.allocation_mode = core::AllocationMode::kTpuVm;
  spec.ssh.user = "ann";
  spec.command.cmd = "train";
  spec.command.grace = seconds{1 + random_.Below(20)};
  for (int step = random_.Below(3); step > 0; --step) {
    core::SetupStep setup{.name = "step", .run = "true", .required = random_.Percent(70)};
    if (random_.Percent(30)) setup.hosts = {.all = false, .numbers = {0}};
    if (random_.Percent(20)) setup.timeout = seconds{10};
    spec.setup.push_back(setup);
  }
  spec.retries = RandomRetries();
  if (random_.Percent(40)) {
    spec.group = "two";
    spec.max_running = 2;
  }
  if (random_.Percent(40)) {
    for (const core::HookEvent event : ValuesOf<core::HookEvent>()) {
      spec.hooks.push_back({.event = event, .command = "true"});
    }
  }
  if (random_.Percent(15)) {
    spec.watchdog.max_duration = seconds{60};
    constexpr std::array kActions = {core::WatchdogAction::kRestart,
                                     core::WatchdogAction::kNewSlice, core::WatchdogAction::kFail};
    spec.watchdog.on_max_duration = kActions.at(static_cast<std::size_t>(random_.Below(3)));
  }
  return spec;
}

core::JobId ControllerWorld::Submit(core::JobSpec spec) {
  Job job;
  job.name = spec.name;
  job.user = "ann";
  const bool fails_when_late =
      spec.watchdog.max_duration && spec.watchdog.on_max_duration == core::WatchdogAction::kFail;
  const bool limited = spec.retries.failure || spec.retries.infra || fails_when_late;
  job.spec = std::move(spec);
  const auto id = store_.Create(job, "source", time_.Now());
  jobs_.push_back(*id);
  if (limited) may_fail_.insert(*id);
  return *id;
}

std::vector<Job> ControllerWorld::Jobs() {
  std::vector<Job> jobs;
  for (const core::JobId id : jobs_) jobs.push_back(*store_.Get(id));
  return jobs;
}

controller::Ports ControllerWorld::ThePorts() {
  controller::Ports ports;
  ports.stores = ports::StoresOf(way_);
  ports.shell = &hosts_;
  ports.clock = const_cast<FakeClock*>(&time_.clock());
  ports.notifier = notifier_.get();
  ports.open_cloud = [this](core::CloudSpec) { return OpenAs(cloud_); };
  ports.public_key = [](const std::string&) -> base::Result<std::string> {
    return std::string{"ssh-ed25519 AAAA test"};
  };
  ports.read_public_key = ports.public_key;
  ports.ssh_port = [](const core::CloudSpec&) { return 22; };
  ports.get_env = [](const std::string&) { return std::optional<std::string>{}; };
  ports.random = [this] { return random_.Unit(); };
  return ports;
}

base::Task<base::Status> ControllerWorld::TellHook(ports::Message message) {
  base::Duration travel{random_.Below(500)};
  co_await base::Sleep(travel);
  if (faultless_ && damage_ == Damage::kFailingHook && message.event == "started") {
    co_return base::Internal("the hook is broken");
  }
  if (!faultless_ && odds_.Occurs(random_, Risk::kHook, 20))
    co_return base::Internal("the hook does not answer");
  witness_.Told(message.event_id);
  if (!faultless_ && odds_.Occurs(random_, Risk::kHook, 10))
    co_return base::Internal("the answer is lost");
  co_return base::Ok();
}

// --- controllers ---

void ControllerWorld::StartController() {
  controller::Options options{.paths = paths_};
  options.policy.provisioning_limit = minutes{10};
  options.unreachable_limit = seconds{60};
  auto life = std::make_unique<Life>();
  life->controller = std::make_unique<controller::Controller>(life->loop, ThePorts(), options);
  auto run = [](Life* self) -> base::Task<void> { self->ended = co_await self->controller->Run(); };
  base::Spawn(life->loop.get_executor(), run(life.get()));
  lives_.push_back(std::move(life));
}

/// Like SIGKILL. A successor on the same machine sees that the holder of the lease is dead; a
/// successor on another one waits until it has expired.
void ControllerWorld::Kill(std::size_t index, const char* why) {
  witness_.Tell(fmt::format("a controller is killed: {}", why));
  lives_.erase(lives_.begin() + static_cast<std::ptrdiff_t>(index));
  const auto lease = store_.CurrentLease();
  if (lives_.empty() && *lease && (faultless_ || random_.Percent(80))) {
    if (!store_.DropLease(**lease).ok())
      witness_.Break("the lease of a dead controller is not free");
  }
  start_at_ = time_.Now() + milliseconds{random_.Below(random_.Percent(10) ? 60'000 : 1'000)};
}

void ControllerWorld::CollectEnded() {
  std::erase_if(lives_, [&](const auto& life) {
    if (!life->ended) return false;
    const bool refused = !life->ended->ok();
    if (!refused) witness_.Break("a controller ends without a reason");
    if (refused) witness_.Tell("a controller ends: " + life->ended->error().ToString());
    start_at_ = time_.Now() + milliseconds{random_.Below(2'000)};
    return true;
  });
}

void ControllerWorld::SendToSleep() {
  if (lives_.empty()) return;
  Life& life = *lives_[static_cast<std::size_t>(random_.Below(static_cast<int>(lives_.size())))];
  const seconds pause{random_.Below(120)};
  witness_.Paused(pause);
  life.asleep_until = time_.Now() + pause;
  witness_.Tell("a controller falls asleep until " + base::FormatRfc3339(life.asleep_until));
}

// --- time ---

void ControllerWorld::Turn() {
  if (RunSomeone()) return CollectEnded();
  const base::TimePoint now = time_.Now();
  const bool awake = std::any_of(lives_.begin(), lives_.end(),
                                 [&](const auto& life) { return life->asleep_until <= now; });
  if (!awake && now >= start_at_) return StartController();
  PassTime();
}

/// Runs one handler of a controller that is awake, if there is any.
bool ControllerWorld::RunSomeone() {
  const std::size_t first = lives_.empty() ? 0 : random_.Next() % lives_.size();
  for (std::size_t nth = 0; nth < lives_.size(); ++nth) {
    const std::size_t index = (first + nth) % lives_.size();
    Life& life = *lives_[index];
    if (life.asleep_until > time_.Now()) continue;
    if (!VirtualTime::RunOne(life.loop)) continue;
    ++steps_;
    if (way_.TakeKilled()) {
      Kill(index, "around a commit");
      return true;
    }
    if (!faultless_ && odds_.Occurs(random_, Risk::kCrash, 1, 3000))
      Kill(index, "between two handlers");
    return true;
  }
  return false;
}

void ControllerWorld::PassTime() {
  const int most = random_.Percent(40) ? 50 : 800;
  const bool leap = random_.Below(faultless_ ? 1000 : 200) == 0;
  const base::Duration time =
      leap ? base::Duration{seconds{random_.Below(40)}} : base::Duration{1 + random_.Below(most)};
  if (leap) witness_.Paused(time);
  time_.Pass(time);
  hosts_.Settle();
  cloud_->Settle();
  hosts_.Settle();
  for (const auto& life : lives_) VirtualTime::LookAtTimers(life->loop);
  CountRequests();
  if (!faultless_) CauseEvents();
}

void ControllerWorld::CountRequests() {
  if (time_.Now() - minute_began_ < minutes{1}) return;
  minute_began_ = time_.Now();
  most_requests_ = std::max(most_requests_, cloud_->requests() - requests_before_);
  requests_before_ = cloud_->requests();
}

// --- events ---

void ControllerWorld::CauseEvents() {
  const auto chance = [&](Risk risk, int of_thousand) {
    return odds_.Occurs(random_, risk, of_thousand, 1000);
  };
  if (chance(Risk::kSliceFault, 12)) witness_.Tell("fault: " + cloud_->HarmOne());
  if (chance(Risk::kSilence, 3)) hosts_.UnplugOne();
  if (chance(Risk::kTakenName, 2)) TakeName();
  if (chance(Risk::kCrash, 3)) SendToSleep();
  const bool heard = cloud_->reachable();
  if (heard ? chance(Risk::kSilence, 2) : random_.Percent(1)) {
    cloud_->SetReachable(!cloud_->reachable());
    witness_.CloudSilent(!cloud_->reachable());
    witness_.Tell(cloud_->reachable() ? "the cloud answers" : "the cloud is silent");
  }
  if (way_.full() ? random_.Percent(2) : chance(Risk::kStore, 2)) way_.SetFull(!way_.full());
  if (random_.Below(1000) >= 6) return;
  constexpr std::array kWishes = {Wish::kRun,    Wish::kRun,     Wish::kRun,    Wish::kReboot,
                                  Wish::kReboot, Wish::kRequeue, Wish::kCancel, Wish::kDelete};
  ChangeWish(kWishes.at(static_cast<std::size_t>(random_.Below(8))));
}

void ControllerWorld::ChangeWish(Wish wish) {
  const auto index = static_cast<std::size_t>(random_.Below(static_cast<int>(jobs_.size())));
  witness_.Wished(jobs_[index]);
  witness_.Tell(fmt::format("job {}: wish {}", jobs_[index].value, static_cast<int>(wish)));
  const auto setup = random_.Percent(10) ? core::SetupWish::kRedo : core::SetupWish::kAsNeeded;
  if (!store_.SetWish(jobs_[index], wish, setup, time_.Now()).ok())
    witness_.Break("a wish is not accepted");
}

/// Somebody else takes the next slice name of a job, without labels or with those of another store.
void ControllerWorld::TakeName() {
  const auto jobs = Jobs();
  const Job& job = jobs[static_cast<std::size_t>(random_.Below(static_cast<int>(jobs.size())))];
  core::SliceRef ref{.mode = job.spec.tpu.allocation_mode,
                     .place = {.project = "p", .zone = job.spec.tpu.zone},
                     .name = core::SliceName(job, job.attempt + 1),
                     .nodes = job.spec.tpu.num_slices};
  const auto parts = core::PartsOf(ref);
  ref = parts[static_cast<std::size_t>(random_.Below(static_cast<int>(parts.size())))];
  FaultyCloud::Labels labels;
  if (random_.Percent(50)) labels = core::OwnerLabels(job, "another");
  cloud_->AddForeign(ref, labels);
}

// --- the walk ---

bool ControllerWorld::Walk(std::int64_t steps) {
  const auto held = [&] { return witness_.broken().empty(); };
  while (steps_ < steps && held()) Turn();
  EndFaults();
  LeaveDamage();
  if (held() && !UntilRest()) witness_.Tell("jobs do not rest");
  if (held()) CheckDamaged();
  Mend();
  if (held() && !UntilRest()) witness_.Tell("jobs do not rest");
  for (const Job& job : Jobs()) {
    if (held()) witness_.CheckRest(job, MayFail(job.id));
  }
  if (held()) DeleteAll();
  return held();
}

void ControllerWorld::EndFaults() {
  faultless_ = true;
  cloud_->EndFaults();
  hosts_.EndFaults();
  way_.EndFaults();
  witness_.CloudSilent(false);
  witness_.Tell("no more faults");
  while (!lives_.empty()) Kill(lives_.size() - 1, "the last time");
  foreign_ = cloud_->Names(/*foreign=*/true);
}

std::string ControllerWorld::Conditions() const {
  switch (damage_) {
    case Damage::kNone:
      return odds_.Text();
    case Damage::kSilentZone:
      return odds_.Text() + "; in the end a zone is silent";
    case Damage::kDeadHost:
      return odds_.Text() + "; in the end a host is dead";
    case Damage::kFailingHook:
      return odds_.Text() + "; in the end the hooks for started fail";
  }
  return {};
}

void ControllerWorld::LeaveDamage() {
  const std::string zone = kZones.at(static_cast<std::size_t>(random_.Below(2)));
  const std::string host = damage_ == Damage::kDeadHost ? hosts_.KillOne() : std::string{};
  if (damage_ == Damage::kSilentZone) cloud_->SetSilentZone(zone);
  for (const Job& job : Jobs()) {
    if (damage_ == Damage::kSilentZone && job.spec.tpu.zone == zone) damaged_.insert(job.id);
    const auto runs = hosts_.RunsOf(job.id);
    const bool on_host = std::any_of(runs.begin(), runs.end(), [&](const ModelRun* run) {
      return !host.empty() && run->machine == host;
    });
    if (on_host) damaged_.insert(job.id);
  }
}

/// Affected jobs say why they wait, look again, and do not flood the cloud; the other jobs rest.
void ControllerWorld::CheckDamaged() {
  for (const Job& job : Jobs()) {
    if (!damaged_.contains(job.id)) witness_.CheckRest(job, MayFail(job.id));
    if (!damaged_.contains(job.id) || !core::NeedsCare(job)) continue;
    if (job.why.empty()) witness_.Break("an affected job does not say why it waits");
    if (!job.wake_at) witness_.Break("an affected job does not look again");
  }
  const int before = cloud_->requests();
  const base::TimePoint end = time_.Now() + minutes{10};
  while (!damaged_.empty() && time_.Now() < end && witness_.broken().empty()) Turn();
  if (cloud_->requests() - before > kMostWhileDamaged) {
    witness_.Break(
        fmt::format("{} requests in ten minutes of damage", cloud_->requests() - before));
  }
}

void ControllerWorld::Mend() {
  damaged_.clear();
  cloud_->SetSilentZone("");
  hosts_.PlugAll();
}

bool ControllerWorld::AllRest() {
  const auto jobs = Jobs();
  const bool told = store_.Waiting().value_or({}).empty();
  return told && std::all_of(jobs.begin(), jobs.end(), [&](const Job& job) {
           if (damaged_.contains(job.id)) return true;
           const bool settled = !job.slice || job.slice->phase == core::SlicePhase::kCreated;
           return core::IsFinal(job.state) && !job.wish_new && settled && job.abandoned.empty();
         });
}

bool ControllerWorld::UntilRest() {
  const base::TimePoint latest = time_.Now() + kLongestRest;
  while (time_.Now() < latest && witness_.broken().empty()) {
    if (AllRest()) return true;
    Turn();
  }
  return false;
}

/// Deletes all jobs; then the cloud must hold exactly what is not ours.
void ControllerWorld::DeleteAll() {
  for (const core::JobId id : jobs_) {
    if (!store_.SetWish(id, Wish::kDelete, core::SetupWish::kAsNeeded, time_.Now()).ok())
      witness_.Break("a wish is not accepted");
  }
  if (!UntilRest()) return witness_.Break("liveness: the deleted jobs do not rest");
  for (const Job& job : Jobs()) witness_.CheckRest(job, false);
  for (int second = 0; second < 100; ++second) PassTime();
  witness_.CheckNothingLeft();
  for (const std::string& name : cloud_->Names(/*foreign=*/true)) std::erase(foreign_, name);
  if (!foreign_.empty()) witness_.Break(foreign_.front() + " is gone, which is not ours");
}

}  // namespace jobman::test
