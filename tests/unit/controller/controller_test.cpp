#include "jobman/controller/controller.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <filesystem>

#include "jobman/base/strings.hpp"
#include "jobman/controller/local_socket.hpp"
#include "jobman/controller/shell_frames.hpp"
#include "jobman/controller/shell_messages.hpp"
#include "jobman/core/run_id.hpp"
#include "tests/support/fake_slice_api.hpp"
#include "tests/support/job_builder.hpp"
#include "tests/support/local_shell.hpp"
#include "tests/support/memory_store.hpp"
#include "tests/support/temp_dir.hpp"

namespace jobman::controller {
namespace {

using core::Job;
using core::JobId;
using testing::HasSubstr;

/// A clock that must not be used after the controller's end.
class WorldsClock final : public base::Clock {
 public:
  explicit WorldsClock(const base::Clock& clock) : clock_(clock) {}
  base::TimePoint Now() const override {
    EXPECT_FALSE(gone) << "something runs after the controller's end";
    return clock_.Now();
  }
  bool gone = false;

 private:
  const base::Clock& clock_;
};

/// A store that never answers a commit of job 1, like one behind a broken network.
class StuckStore final : public test::MemoryPorts {
 public:
  using MemoryPorts::MemoryPorts;
  base::Task<base::Status> Commit(ports::Turn turn, std::int64_t lease_token) override {
    if (turn.job.id.value == 1) co_await base::Sleep(std::chrono::hours{1});
    co_return co_await MemoryPorts::Commit(std::move(turn), lease_token);
  }
};

/// Counts what the controller asks of it.
class StoreWithCounts final : public test::MemoryPorts {
 public:
  using MemoryPorts::MemoryPorts;
  base::Task<base::Result<Job>> Get(JobId id) override {
    ++records;
    co_return co_await MemoryPorts::Get(id);
  }
  base::Task<base::Result<std::vector<ports::JobVersion>>> ActiveVersions() override {
    ++looks;
    co_return co_await MemoryPorts::ActiveVersions();
  }
  base::Task<base::Result<std::optional<ports::Lease>>> TakeLease(std::string holder,
                                                                  core::TimePoint now,
                                                                  base::Duration time) override {
    ++renewals;
    co_return co_await MemoryPorts::TakeLease(holder, now, time);
  }
  int records = 0;
  int looks = 0;
  int renewals = 0;
};

base::Task<base::Result<std::shared_ptr<ports::SliceApi>>> OpenSlowly(
    core::CloudSpec spec, std::shared_ptr<ports::SliceApi> api) {
  if (spec.endpoint == "slow") co_await base::Sleep(std::chrono::hours{1});
  co_return api;
}

/// A controller with a fake cloud, folders as hosts, and a store in memory. The clock follows the
/// loop's waits.
class ControllerTest : public testing::Test {
 protected:
  ControllerTest()
      : api_(std::make_shared<test::FakeSliceApi>(clock_)), shell_(dir_.path() / "hosts") {
    paths_.home = dir_.path() / "home";
    EXPECT_TRUE(base::EnsureDir(paths_.home).ok());
    StartController();
  }
  ~ControllerTest() override { StopController(); }

  Ports AllPorts() {
    Ports ports;
    ports.stores = store_.stores();
    ports.shell = &shell_;
    ports.clock = &worlds_clock_;
    ports.open_cloud = [this](core::CloudSpec) { return test::OpenAs(api_); };
    ports.public_key = [](const std::string&) -> base::Result<std::string> {
      return std::string{"ssh-ed25519 AAAA test"};
    };
    ports.read_public_key = ports.public_key;
    ports.ssh_port = [](const core::CloudSpec&) { return 22; };
    ports.get_env = [](const std::string&) { return std::optional<std::string>{}; };
    return ports;
  }

  void StartController() { StartController(AllPorts()); }
  void StartController(Ports ports) {
    Options options{.paths = paths_, .hot_poll = std::chrono::milliseconds{5}};
    options.idle_exit = idle_exit_;
    options.ssh_config = ssh_config_;
    options.policy.poll = std::chrono::milliseconds{50};
    options.policy.vanish_grace = std::chrono::milliseconds{100};
    options.policy.late_watch = std::chrono::seconds{1};
    loop_ = std::make_unique<asio::io_context>();
    controller_ = std::make_unique<Controller>(*loop_, std::move(ports), options);
    auto run = [](Controller* controller, std::optional<base::Status>* out) -> base::Task<void> {
      *out = co_await controller->Run();
    };
    ended_.reset();
    base::Spawn(loop_->get_executor(), run(controller_.get(), &ended_));
  }

  void StopController() {
    if (!controller_) return;
    controller_->Stop();
    for (int i = 0; !ended_ && i < 1000; ++i) Turn();
    EXPECT_TRUE(ended_ && ended_->ok());
    Kill();
  }
  /// Like SIGKILL.
  void Kill() {
    controller_.reset();
    loop_.reset();
  }

  void Turn() {
    loop_->restart();
    loop_->run_for(std::chrono::milliseconds{5});
    clock_.Advance(std::chrono::milliseconds{5});
  }

  Job Submit(core::JobSpec spec) {
    Job job;
    job.name = spec.name;
    job.user = "ann";
    job.spec = std::move(spec);
    job.wake_at = clock_.Now();
    job.id = *store_.Create(job, "source", clock_.Now());
    return job;
  }

  core::JobSpec Spec(const std::string& cmd) {
    core::JobSpec spec;
    spec.name = "train";
    spec.tpu.accelerator = "v4-16";
    spec.tpu.project = "p";
    spec.tpu.zone = "us-central2-b";
    spec.tpu.version = "tpu-ubuntu2204-base";
    spec.ssh.user = "ann";
    spec.command.cmd = cmd;
    spec.command.grace = std::chrono::seconds{1};
    return spec;
  }

  /// The folder of the command's current run on a host.
  base::Path CommandDir(JobId id, int host) {
    const Job job = *store_.Get(id);
    const core::RunId run{.on = core::OnHost(*store_.StoreId(), job, host),
                          .what = core::CommandRun{.attempt = job.attempt}};
    const auto& address = job.slice->hosts[static_cast<std::size_t>(host)].external;
    return shell_.HomeOf(address) / ".jobman/runs" / core::FormatRunId(run);
  }

  template <class Condition>
  bool Until(Condition condition) {
    for (int i = 0; i < 12'000; ++i) {
      if (condition()) return true;
      Turn();
    }
    return false;
  }
  std::string StateOf(JobId id) { return std::string(core::StateName(store_.Get(id)->state)); }
  bool Reaches(JobId id, const std::string& state) {
    const bool reached = Until([&] { return StateOf(id) == state; });
    EXPECT_TRUE(reached) << "it is " << StateOf(id) << ": " << store_.Get(id)->why;
    return reached;
  }
  std::string LogOf(JobId id, int attempt, const std::string& stage, int host) {
    const auto log = base::ReadFile(paths_.LogPath(id.value, attempt, stage, host));
    return log.ok() ? *log : "(no log)";
  }

  test::TempDir dir_;
  test::FakeClock clock_;
  WorldsClock worlds_clock_{clock_};
  std::optional<base::Duration> idle_exit_ = {};
  bool ssh_config_ = false;
  std::shared_ptr<test::FakeSliceApi> api_;
  test::LocalShell shell_;
  test::StoreInMemory store_;
  base::StatePaths paths_;
  std::unique_ptr<asio::io_context> loop_;
  std::unique_ptr<Controller> controller_;
  std::optional<base::Status> ended_;
};

TEST_F(ControllerTest, RunsSetupThenTheCommandAndFetchesLogsAndExitCodes) {
  core::JobSpec spec = Spec("echo host $JOBMAN_HOST_INDEX of $JOBMAN_NUM_HOSTS; cat ~/made");
  spec.setup = {{.name = "make", .run = "echo made >~/made"}};
  const Job job = Submit(spec);
  ASSERT_TRUE(Reaches(job.id, "SUCCEEDED"));
  EXPECT_EQ(LogOf(job.id, 1, "run", 0), "host 0 of 2\nmade\n");
  EXPECT_EQ(LogOf(job.id, 1, "run", 1), "host 1 of 2\nmade\n");
  const auto exits = *store_.Exits(job.id);
  EXPECT_EQ(exits.size(), 4u);
  EXPECT_EQ(api_->created().size(), 1u);
  EXPECT_THAT(api_->created()[0].tpu.metadata.at("ssh-keys"),
              HasSubstr("ann:ssh-ed25519 AAAA ann"));
  EXPECT_EQ(api_->created()[0].tpu.labels.at("jobman-job"), "000001");
}

TEST_F(ControllerTest, AFailingHostFailsTheJobWithItsExitCodeAndStopsTheOthers) {
  const Job job = Submit(Spec("[ $JOBMAN_HOST_INDEX = 0 ] && exit 7; exec sleep 600"));
  ASSERT_TRUE(Reaches(job.id, "FAILED"));
  const auto done = std::get<core::Done>(store_.Get(job.id)->state);
  EXPECT_EQ(done.exit_code, 7);
  EXPECT_THAT(store_.Get(job.id)->why, HasSubstr("host 0"));
}

TEST_F(ControllerTest, CancelKeepsTheSliceAndResumeUsesItAgain) {
  const Job job = Submit(Spec("[ $JOBMAN_ATTEMPT = 2 ] || exec sleep 600"));
  ASSERT_TRUE(Reaches(job.id, "RUNNING"));
  ASSERT_TRUE(
      store_.SetWish(job.id, core::Wish::kCancel, core::SetupWish::kAsNeeded, clock_.Now()).ok());
  ASSERT_TRUE(Reaches(job.id, "CANCELLED"));
  EXPECT_TRUE(store_.Get(job.id)->slice.has_value());
  ASSERT_TRUE(
      store_.SetWish(job.id, core::Wish::kRun, core::SetupWish::kAsNeeded, clock_.Now()).ok());
  ASSERT_TRUE(Reaches(job.id, "SUCCEEDED"));
  EXPECT_EQ(api_->created().size(), 1u);
  EXPECT_EQ(store_.Get(job.id)->attempt, 2);
}

TEST_F(ControllerTest, APreemptedSliceIsDeletedAndReplaced) {
  const Job job = Submit(Spec("[ $JOBMAN_ATTEMPT = 2 ] || exec sleep 600"));
  ASSERT_TRUE(Reaches(job.id, "RUNNING"));
  api_->Preempt(store_.Get(job.id)->slice->ref.name);
  ASSERT_TRUE(Reaches(job.id, "SUCCEEDED"));
  EXPECT_EQ(api_->created().size(), 2u);
  ASSERT_TRUE(
      store_.SetWish(job.id, core::Wish::kDelete, core::SetupWish::kAsNeeded, clock_.Now()).ok());
  ASSERT_TRUE(Reaches(job.id, "DELETED"));
  EXPECT_TRUE(api_->Leftovers().empty());
}

TEST_F(ControllerTest, NamesForOpenSshComeAndGoWithTheSlice) {
  StopController();
  ssh_config_ = true;
  StartController();
  const auto named = [this] {
    return base::Contains(base::ReadFile(paths_.SshConfig()).value_or(""), "Host jobman-1 ");
  };
  const Job job = Submit(Spec("exec sleep 600"));
  ASSERT_TRUE(Reaches(job.id, "RUNNING"));
  EXPECT_TRUE(Until(named));
  ASSERT_TRUE(
      store_.SetWish(job.id, core::Wish::kDelete, core::SetupWish::kAsNeeded, clock_.Now()).ok());
  ASSERT_TRUE(Reaches(job.id, "DELETED"));
  EXPECT_TRUE(Until([&] { return !named(); }));
}

TEST_F(ControllerTest, ANewControllerSeesTheQueuedResourcesOfAZoneWhoseFirstJobHasNone) {
  core::JobSpec direct = Spec("exec sleep 600");
  direct.tpu.allocation_mode = core::AllocationMode::kTpuVm;
  const Job first = Submit(direct);
  const Job second = Submit(Spec("exec sleep 600"));
  ASSERT_TRUE(Reaches(first.id, "RUNNING"));
  ASSERT_TRUE(Reaches(second.id, "RUNNING"));
  Kill();
  clock_.Advance(std::chrono::minutes{1});  // its lease expires
  StartController();
  const int looks = api_->CountCalls("ListNodes");
  ASSERT_TRUE(Until([&] { return api_->CountCalls("ListNodes") > looks + 3; }));
  EXPECT_EQ(StateOf(second.id), "RUNNING") << store_.Get(second.id)->why;
  EXPECT_EQ(store_.Get(second.id)->attempt, 1);
}

TEST_F(ControllerTest, TheCommandIsToldOfMaintenanceAndRunsAgainAfterIt) {
  const Job job =
      Submit(Spec("[ $JOBMAN_ATTEMPT = 1 ] || exit 0\n"
                  "exec 2>/dev/null; trap 'cat $JOBMAN_NOTICE_FILE; exit 3' TERM; touch ~/up\n"
                  "while :; do sleep 0.2; done"));
  const auto home = [&](int host) {
    return shell_.HomeOf(store_.Get(job.id)->slice->hosts[static_cast<std::size_t>(host)].external);
  };
  ASSERT_TRUE(Reaches(job.id, "RUNNING"));
  ASSERT_TRUE(
      Until([&] { return base::FileSize(home(0) / "up") && base::FileSize(home(1) / "up"); }));
  const std::string slice = store_.Get(job.id)->slice->ref.name;
  api_->Announce(slice, core::Notice{.text = "PENDING"});
  const auto told = [&](int host) {
    return base::ReadFile(CommandDir(job.id, host) / "notices").value_or("");
  };
  const std::string pending =
      "{\"imminent\":false,\"kind\":\"maintenance\",\"text\":\"PENDING\"}\n";
  ASSERT_TRUE(Until([&] { return told(0) == pending && told(1) == pending; }));
  EXPECT_EQ(StateOf(job.id), "RUNNING");
  api_->Announce(slice, core::Notice{.imminent = true, .text = "ONGOING"});
  ASSERT_TRUE(Reaches(job.id, "BACKOFF"));
  const std::string ongoing = "{\"imminent\":true,\"kind\":\"maintenance\",\"text\":\"ONGOING\"}\n";
  for (const int host : {0, 1}) EXPECT_EQ(LogOf(job.id, 1, "run", host), pending + ongoing);
  api_->MoveNode(slice);
  api_->Announce(slice, {});
  ASSERT_TRUE(Reaches(job.id, "SUCCEEDED"));
  EXPECT_EQ(store_.Get(job.id)->spent.preemption, 1);
  EXPECT_EQ(api_->created().size(), 1u);
}

/// A slice appears although its request was abandoned.
TEST_F(ControllerTest, ASliceOfAnAbandonedRequestIsDeletedAndNoOtherSlice) {
  const Job job = Submit(Spec("sleep 60"));
  ASSERT_TRUE(Until([&] { return StateOf(job.id) == "RUNNING"; }));
  core::SliceRequest late{.ref = store_.Get(job.id)->slice->ref, .tpu = job.spec.tpu};
  late.tpu.labels = core::OwnerLabels(job, *store_.StoreId());
  late.ref.name = "train-000001-a0";
  ports::AttemptRecord ended{.attempt = 0,
                             .slice = late.ref.name,
                             .zone = late.ref.place.zone,
                             .ended_at = job.created_at};
  ASSERT_TRUE(store_.Commit({.job = *store_.Get(job.id), .attempts = {ended}}, 0).ok());
  core::SliceRequest other = late;
  other.ref.name = "train-000001-a8";
  other.tpu.labels["jobman-store"] = "another";
  core::SliceRequest unknown = late;
  unknown.ref.name = "train-000077-a1";
  unknown.tpu.labels["jobman-job"] = "000077";
  core::SliceRequest ahead = late;
  ahead.ref.name = "train-000001-a2";
  for (const auto& request : {late, other, unknown, ahead}) {
    base::Spawn(loop_->get_executor(), [](auto api, auto what) -> base::Task<void> {
      (void)co_await api->Create(what);
    }(api_, request));
  }
  const auto left = [&](const std::string& name) {
    const auto all = api_->Leftovers();
    return std::any_of(all.begin(), all.end(),
                       [&](const auto& one) { return base::Contains(one, name); });
  };
  ASSERT_TRUE(Until([&] { return api_->created().size() == 5; }));
  EXPECT_TRUE(Until([&] { return !left("a0"); }));
  EXPECT_THAT(api_->calls(), testing::Contains("Delete train-000001-a0"));
  EXPECT_TRUE(left("a1")) << "the job's own";
  EXPECT_TRUE(left("a8")) << "another store's";
  EXPECT_TRUE(left("a2")) << "on no record of this store, which may be a copy";
  EXPECT_TRUE(left("train-000077")) << "of a job that this store does not know: for gc";
  EXPECT_EQ(StateOf(job.id), "RUNNING");
}

/// Also when the job has ended, and no other job has its slice there.
TEST_F(ControllerTest, ASliceOfAnAbandonedRequestOfTheLastJobIsDeleted) {
  api_->AddFault({.call = "Create", .error = {.code = base::Code::kUnavailable}, .times = 1000});
  const Job job = Submit(Spec("sleep 60"));
  ASSERT_TRUE(Reaches(job.id, "REQUESTING"));
  const core::SliceRef ref = store_.Get(job.id)->slice->ref;
  ASSERT_TRUE(
      store_.SetWish(job.id, core::Wish::kCancel, core::SetupWish::kAsNeeded, clock_.Now()).ok());
  ASSERT_TRUE(Reaches(job.id, "CANCELLED"));
  ASSERT_FALSE(store_.Get(job.id)->slice);
  StopController();
  StartController();  // it is on record
  api_->ForgetFaults();
  core::SliceRequest late{.ref = ref, .tpu = job.spec.tpu};
  late.tpu.labels = core::OwnerLabels(job, *store_.StoreId());
  base::Spawn(loop_->get_executor(), [](auto api, auto what) -> base::Task<void> {
    (void)co_await api->Create(what);
  }(api_, late));
  ASSERT_TRUE(Until([&] { return !api_->created().empty(); }));
  EXPECT_TRUE(Until([&] { return api_->Leftovers().empty(); }));
  EXPECT_TRUE(Until([&] { return store_.Get(job.id)->abandoned.empty(); }));
  EXPECT_EQ(StateOf(job.id), "CANCELLED");
}

TEST_F(ControllerTest, AnUnreachableCloudDeletesNothingAndTheJobGoesOn) {
  const Job job = Submit(Spec("while [ ! -e ~/go ]; do sleep 0.2; done"));
  ASSERT_TRUE(Reaches(job.id, "RUNNING"));
  api_->SetReachable(false);
  for (int i = 0; i < 100; ++i) Turn();
  EXPECT_EQ(StateOf(job.id), "RUNNING");
  EXPECT_EQ(api_->CountCalls("Delete"), 0);
  api_->SetReachable(true);
  const Job now = *store_.Get(job.id);
  for (const auto& host : now.slice->hosts) {
    ASSERT_TRUE(base::EnsureDir(shell_.HomeOf(host.external)).ok());
    ASSERT_TRUE(base::WriteFileAtomic(shell_.HomeOf(host.external) / "go", "").ok());
  }
  EXPECT_TRUE(Reaches(job.id, "SUCCEEDED"));
}

TEST_F(ControllerTest, AKilledControllerIsReplacedWithoutRunningAnythingTwice) {
  const Job job =
      Submit(Spec("echo started >>~/starts; for i in 1 2 3 4 5; do echo $i; sleep 0.1; done"));
  ASSERT_TRUE(Reaches(job.id, "RUNNING"));
  Kill();
  clock_.Advance(std::chrono::minutes{1});  // its lease expires
  StartController();
  ASSERT_TRUE(Reaches(job.id, "SUCCEEDED"));
  EXPECT_EQ(LogOf(job.id, 1, "run", 0), "1\n2\n3\n4\n5\n");
  const std::string home = store_.Get(job.id)->slice->hosts[0].external;
  EXPECT_EQ(*base::ReadFile(shell_.HomeOf(home) / "starts"), "started\n");
}

TEST_F(ControllerTest, AnyNumberOfWaitingJobsInAZoneCostsTwoListCallsPerLook) {
  api_->SetStock("us-central2-b", "v4-16", 0);
  std::vector<Job> jobs;
  for (int i = 0; i < 5; ++i) jobs.push_back(Submit(Spec("true")));
  for (const Job& job : jobs) ASSERT_TRUE(Reaches(job.id, "WAITING"));
  for (int i = 0; i < 5; ++i) Turn();
  const std::size_t before = api_->calls().size();
  for (int i = 0; i < 100; ++i) Turn();
  const std::vector<std::string> since(api_->calls().begin() + static_cast<std::ptrdiff_t>(before),
                                       api_->calls().end());
  EXPECT_FALSE(since.empty());
  EXPECT_THAT(since, testing::Each(testing::StartsWith("List")));
}

TEST_F(ControllerTest, AStockoutOfADirectCreateIsFoundInItsOperation) {
  api_->SetStock("us-central2-b", "v4-16", 0);
  core::JobSpec spec = Spec("true");
  spec.tpu.allocation_mode = core::AllocationMode::kTpuVm;
  const Job job = Submit(spec);
  ASSERT_TRUE(Reaches(job.id, "BACKOFF"));
  EXPECT_THAT(store_.Get(job.id)->why, HasSubstr("no more capacity"));
  EXPECT_EQ(store_.Get(job.id)->spent.infra, 0);
}

TEST_F(ControllerTest, AMissingSecretIsNamedWithTheCure) {
  core::JobSpec spec = Spec("true");
  spec.command.secrets = {{.name = "WANDB_API_KEY"}};
  const Job job = Submit(spec);
  ASSERT_TRUE(Until(
      [&] { return core::IsFinal(store_.Get(job.id)->state) || StateOf(job.id) == "BACKOFF"; }));
  EXPECT_THAT(store_.Get(job.id)->why, HasSubstr("WANDB_API_KEY"));
}

TEST_F(ControllerTest, ASuspendedControllerWritesAndRequestsNothingAfterATakeover) {
  const Job job = Submit(Spec("until [ -e ~/go ]; do sleep 0.2; done; echo late"));
  ASSERT_TRUE(Reaches(job.id, "RUNNING"));
  const auto home = shell_.HomeOf(store_.Get(job.id)->slice->hosts[0].external);
  ASSERT_TRUE(Until([&] { return base::FileSize(CommandDir(job.id, 0) / "pid"); }));
  clock_.Advance(std::chrono::minutes{1});
  ASSERT_TRUE(*store_.TakeLease("another", clock_.Now(), std::chrono::hours{1}));
  const Job before = *store_.Get(job.id);
  ASSERT_TRUE(
      store_.SetWish(job.id, core::Wish::kDelete, core::SetupWish::kAsNeeded, clock_.Now()).ok());
  ASSERT_TRUE(base::WriteFileAtomic(home / "go", "").ok());
  ASSERT_TRUE(Until([&] { return ended_.has_value(); }));
  EXPECT_EQ(ended_->error().reason, base::Reason::kLeaseLost);
  EXPECT_EQ(LogOf(job.id, 1, "run", 0), "");
  EXPECT_EQ(api_->CountCalls("Delete"), 0);
  EXPECT_EQ(store_.Get(job.id)->version, before.version + 1) << "only the wish";
  Kill();
}

TEST_F(ControllerTest, TwoControllersNeverWorkAtOnce) {
  Turn();
  asio::io_context loop;
  Controller second(loop, AllPorts(), {.paths = paths_});
  const auto ended = base::RunTask(loop, second.Run());
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().code, base::Code::kAborted);
}

/// With a running job there are timers, calls and runs of every kind.
TEST_F(ControllerTest, NothingRunsAfterItsDestruction) {
  core::JobSpec spec = Spec("exec sleep 600");
  spec.watchdog.no_output = std::chrono::minutes{1};
  spec.hooks = {{.event = core::HookEvent::kStarted, .command = "true"}};
  const Job job = Submit(spec);
  for (int lived = 1; lived < 60; ++lived) {
    for (int i = 0; i < lived; ++i) Turn();
    controller_.reset();
    worlds_clock_.gone = true;
    for (int i = 0; i < 10; ++i) Turn();
    worlds_clock_.gone = false;
    ASSERT_TRUE(ended_) << "waiters are told";
    EXPECT_EQ(ended_->error().code, base::Code::kCancelled);
    clock_.Advance(std::chrono::minutes{1});  // its lease expires
    StartController();
  }
  EXPECT_EQ(StateOf(job.id), "RUNNING");
}

TEST_F(ControllerTest, AStoreThatDoesNotAnswerForOneJobDelaysNoOtherJob) {
  StopController();
  StuckStore stuck(store_);
  Ports ports = AllPorts();
  ports.stores = ports::StoresOf(stuck);
  const Job first = Submit(Spec("true"));
  const Job second = Submit(Spec("true"));
  StartController(std::move(ports));
  ASSERT_TRUE(Reaches(second.id, "SUCCEEDED"));
  EXPECT_EQ(StateOf(first.id), "QUEUED");
  Kill();
}

/// A renewal changes the store, which is then looked at: ids and versions only.
TEST_F(ControllerTest, ARenewalOfTheLeaseReadsNoRecord) {
  StopController();
  StoreWithCounts counting(store_);
  Ports ports = AllPorts();
  ports.stores = ports::StoresOf(counting);
  const std::vector<Job> jobs = {Submit(Spec("exec sleep 600")), Submit(Spec("exec sleep 600"))};
  StartController(std::move(ports));
  for (const Job& job : jobs) ASSERT_TRUE(Reaches(job.id, "RUNNING"));
  const int records = counting.records;
  EXPECT_GE(records, 2);
  for (int renewal = 0; renewal < 2; ++renewal) {
    const int renewals = counting.renewals;
    const int looks = counting.looks;
    clock_.Advance(Options{}.lease_time / 3);
    ASSERT_TRUE(Until([&] { return counting.renewals > renewals && counting.looks > looks; }));
  }
  EXPECT_EQ(counting.records, records);
  Kill();
}

/// As a local simulator that must be started first. The lease is renewed meanwhile.
TEST_F(ControllerTest, ACloudThatIsSlowToOpenDelaysNoOtherJob) {
  StopController();
  Ports ports = AllPorts();
  ports.open_cloud = [this](core::CloudSpec spec) { return OpenSlowly(std::move(spec), api_); };
  core::JobSpec slow = Spec("true");
  slow.cloud.endpoint = "slow";
  const Job first = Submit(slow);
  const Job second = Submit(Spec("true"));
  StartController(std::move(ports));
  ASSERT_TRUE(Reaches(second.id, "SUCCEEDED"));
  EXPECT_EQ(StateOf(first.id), "REQUESTING");
  Kill();
}

TEST_F(ControllerTest, AJobThatCannotBeReadDelaysNoOtherJob) {
  const Job first = Submit(Spec("exec sleep 600"));
  ASSERT_TRUE(Reaches(first.id, "RUNNING"));
  store_.MakeUnreadable(first.id);
  const Job second = Submit(Spec("true"));
  ASSERT_TRUE(Reaches(second.id, "SUCCEEDED"));
  EXPECT_THAT(store_.List({}).value()[0].why, HasSubstr("written by a newer jobman"));
  EXPECT_EQ(api_->CountCalls("Delete"), 0);
}

TEST_F(ControllerTest, AControllerGoesIdleWhenItsJobsAreErased) {
  StopController();
  idle_exit_ = std::chrono::seconds{2};
  StartController();
  const Job job = Submit(Spec("exec sleep 600"));
  ASSERT_TRUE(Reaches(job.id, "RUNNING"));
  store_.Lose(job.id);
  ASSERT_TRUE(Until([&] { return ended_.has_value(); }));
  EXPECT_TRUE(ended_->ok());
}

TEST_F(ControllerTest, ACommandOfAnotherProcessRunsOnItsShellAndKeepsIt) {
  StopController();
  idle_exit_ = std::chrono::seconds{2};
  StartController();
  // The socket of the first one may still be there.
  auto socket = ConnectTo(paths_.ShellSocket());
  ASSERT_TRUE(Until([&] {
    if (!socket.ok()) socket = ConnectTo(paths_.ShellSocket());
    return socket.ok();
  })) << socket.error().ToString();
  const auto give = [&](const std::string& frames) {
    EXPECT_EQ(::send(socket->get(), frames.data(), frames.size(), MSG_NOSIGNAL),
              std::ssize(frames));
  };
  std::string asks, begins;
  const ShellRequest request{.target = {.address = "h0"}, .command = "echo there"};
  AppendFrame(asks, FrameType::kRequest, Encode(request));
  give(asks);
  for (int i = 0; i < 600; ++i) Turn();
  EXPECT_FALSE(ended_) << "it is idle for three seconds but for the command";
  AppendFrame(begins, FrameType::kGo, {});
  AppendFrame(begins, FrameType::kInput, {});
  give(begins);
  ASSERT_TRUE(Until([&] { return ended_.has_value(); }));
  std::string answer(4096, '\0');
  EXPECT_GT(::recv(socket->get(), answer.data(), answer.size(), MSG_DONTWAIT), 0);
  EXPECT_THAT(answer, HasSubstr("there\n"));
}

}  // namespace
}  // namespace jobman::controller
