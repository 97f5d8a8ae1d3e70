// Watching a stage's output.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "controller/stage_runner.hpp"
#include "jobman/controller/script_listener.hpp"
#include "jobman/core/task_end.hpp"
#include "tests/support/fake_slice_api.hpp"
#include "tests/support/sample_job.hpp"
#include "tests/support/temp_dir.hpp"

namespace jobman::controller {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using ::testing::ElementsAre;

/// Hosts on which the command runs for ever and writes what the test says.
class EndlessShell final : public ports::HostShell {
 public:
  base::Task<base::Result<int>> Run(ports::SharedTarget target, ports::RemoteCommand,
                                    ports::ByteSink out, ports::ByteSink err) override {
    if (!unplugged.empty() && unplugged == target->address) {
      base::Error refused{.code = base::Code::kUnavailable, .reason = base::Reason::kHostRefused};
      co_return refused;
    }
    JM_CO_TRY(out(kLogBegins));
    JM_CO_TRY(err("jobman: running\n"));
    for (const std::string& piece : output) {
      JM_CO_TRY(out(piece));
      co_await base::Yield();
    }
    co_await base::Sleep(std::chrono::hours{1});
    co_return 0;
  }
  void Drop(const ports::HostTarget&) override {}

  std::vector<std::string> output = {};
  std::string unplugged = {};
};

/// Vouches for both hosts at once, so that nothing waits for their keys.
class QuickApi final : public test::FakeSliceApi {
 public:
  using FakeSliceApi::FakeSliceApi;
  base::Task<base::Result<std::vector<core::HostKeys>>> GetHostKeys(core::Place,
                                                                    std::string) override {
    std::vector<core::HostKeys> keys = {{.host = 0, .keys = {{"ssh-ed25519", "AAAA"}}},
                                        {.host = 1, .keys = {{"ssh-ed25519", "BBBB"}}}};
    co_return keys;
  }
};

class OutputWatchTest : public testing::Test {
 protected:
  OutputWatchTest() {
    options_.paths.home = dir_.path();
    ports_.shell = &shell_;
    ports_.clock = &clock_;
    ports_.open_cloud = [this](core::CloudSpec) {
      return test::OpenAs(std::make_shared<QuickApi>(clock_));
    };
    ports_.ssh_port = [](const core::CloudSpec&) { return 22; };
    job_ = test::SampleJob("train");
    job_.id = core::JobId{1};
    job_.attempt = 1;
    job_.slice = test::SampleSlice("train-000001-a1");
    job_.stage = core::Stage{.name = "run",
                             .hosts = {{.host = 0, .phase = core::HostPhase::kRunning},
                                       {.host = 1, .phase = core::HostPhase::kRunning}},
                             .started_at = clock_.Now()};
    job_.spec.watchdog.bad_output = {{.match = "ERROR"}};
    job_.spec.watchdog.no_output = milliseconds{300};  // in real time
  }
  ~OutputWatchTest() override {
    runner_.reset();
    Turn(milliseconds{0});
  }

  void Start() {
    StageHooks hooks;
    hooks.report = [this](core::HostReport report) { reports_.push_back(std::move(report)); };
    hooks.observed = [this](core::Observation seen) {
      if (const auto* bad = std::get_if<core::BadOutput>(&seen)) {
        bad_.push_back(std::to_string(bad->host) + ": " + bad->line);
      }
      if (const auto* silence = std::get_if<core::Silence>(&seen)) {
        silent_since_ = silence->since;
      }
      const auto* line = std::get_if<core::TaskOutput>(&seen);
      if (line != nullptr && line->rule) told_.push_back(*line->rule);
      if (line != nullptr && !line->commit.empty()) commits_.push_back(line->commit);
    };
    hooks.trouble = [] {};
    hooks.cloud_answers = [] { return true; };
    hooks.slice_ready = [] { return true; };
    runner_ =
        std::make_unique<StageRunner>(StageContext{.executor = loop_.get_executor(),
                                                   .ports = ports_,
                                                   .options = options_,
                                                   .access = access_,
                                                   .job = std::make_shared<const core::Job>(job_),
                                                   .hooks = std::move(hooks),
                                                   .transfers = std::make_shared<base::Gate>(1)});
    Turn(milliseconds{0});
  }
  void Turn(base::Duration passes) {
    clock_.Advance(passes);
    for (int i = 0; i < 100; ++i) {
      loop_.restart();
      loop_.poll();
    }
  }
  /// Waits until the watch has looked for silence again, which it does four times a second.
  bool BecomesSilent() {
    for (int i = 0; i < 1000 && !silent_since_; ++i) {
      loop_.restart();
      loop_.run_for(milliseconds{5});
    }
    return silent_since_.has_value();
  }
  void MakeItATask() {
    job_.spec.queue = core::QueueSpec{.enabled = true, .config = "/tasks.yaml"};
    job_.stage->id = core::TaskStage{.task = "lr1", .run = 3};
    job_.stage->name = "task-lr1-3";
    job_.stage->task = core::TaskInHand{.queue = core::QueueId{7}, .definition = {.id = "lr1"}};
  }
  static std::string LineFor(std::size_t rule) {
    const core::TaskOutputRule& one = core::TaskOutputRules()[rule];
    return std::string(one.match) + " x " + std::string(one.then) + "\n";
  }
  base::Path LogPath(int host) { return options_.paths.LogPath(1, 1, "run", host); }
  void WriteLog(int host, const std::string& text) {
    ASSERT_TRUE(base::EnsureDir(LogPath(host).parent_path()).ok());
    ASSERT_TRUE(base::WriteFileAtomic(LogPath(host), text).ok());
  }

  test::TempDir dir_;
  test::FakeClock clock_;
  asio::io_context loop_;
  EndlessShell shell_;
  Ports ports_;
  Options options_{.policy = {.store_id = "store1"}};
  Clouds clouds_{ports_};
  HostAccess access_{ports_, clouds_};
  core::Job job_;
  std::unique_ptr<StageRunner> runner_;
  std::vector<core::HostReport> reports_;
  std::vector<std::string> bad_;
  std::vector<int> told_;             ///< rules of a task's output
  std::vector<std::string> commits_;  ///< that it says it has
  std::optional<core::TimePoint> silent_since_;
};

TEST_F(OutputWatchTest, ABadLineIsReportedAtOnce) {
  shell_.output = {"fine\nan ER", "ROR here\nERROR\n"};
  Start();
  EXPECT_THAT(bad_, ElementsAre("0: an ERROR here", "1: an ERROR here"));
  EXPECT_EQ(*base::ReadFile(LogPath(0)), "fine\nan ERROR here\nERROR\n");
}

TEST_F(OutputWatchTest, ALineThatSaysHowATaskEndsIsToldAndLaterOnlyAStrongerOne) {
  MakeItATask();
  job_.spec.watchdog.bad_output.clear();
  const auto last = core::TaskOutputRules().size() - 1;
  ASSERT_GT(last, 0u);
  shell_.output = {"fine\n", LineFor(last), LineFor(last), LineFor(0), LineFor(last)};
  Start();
  EXPECT_THAT(told_, ElementsAre(static_cast<int>(last), 0)) << "of both hosts together";
}

TEST_F(OutputWatchTest, TheCommitOfATaskIsToldOnce) {
  const std::string commit(40, 'a');
  const std::string line = "jobman: ~/maxtext has main of https://x/y.git, commit ";
  MakeItATask();
  job_.stage->task->definition.url = "https://x/y.git";
  shell_.output = {"commit\n", line + commit + "\n", line + std::string(40, 'b') + "\n"};
  Start();
  EXPECT_THAT(commits_, ElementsAre(commit)) << "of both hosts together";
}

TEST_F(OutputWatchTest, ATaskWithoutRepositoryHasNoCommitWhateverItPrints) {
  MakeItATask();
  shell_.output = {"jobman: it, commit " + std::string(40, 'a') + "\n"};
  Start();
  EXPECT_THAT(commits_, ElementsAre());
}

TEST_F(OutputWatchTest, OfATaskARuleThatWasRecordedIsNotToldAgain) {
  MakeItATask();
  job_.stage->task->rule = 0;
  shell_.output = {LineFor(0), LineFor(core::TaskOutputRules().size() - 1)};
  Start();
  EXPECT_THAT(told_, ElementsAre());
}

TEST_F(OutputWatchTest, TheCommandsOutputIsNotJudgedAsATasks) {
  shell_.output = {LineFor(0)};
  Start();
  EXPECT_THAT(told_, ElementsAre());
}

TEST_F(OutputWatchTest, TheLogOfATaskLiesInTheTasksFolder) {
  MakeItATask();
  shell_.output = {"an ERROR here\n"};
  Start();
  EXPECT_EQ(*base::ReadFile(options_.paths.TaskLogPath(7, "lr1", {.number = 3, .job = 1}, 0)),
            "an ERROR here\n");
  EXPECT_THAT(bad_, ElementsAre("0: an ERROR here", "1: an ERROR here"));
  Turn(minutes{1});
  EXPECT_TRUE(BecomesSilent());
}

TEST_F(OutputWatchTest, LinesThatAnEarlierControllerDidNotScanAreRead) {
  WriteLog(0, "fine\nERROR 1\n");
  WriteLog(1, "ERROR 2\nfine\nhalf an ER");
  job_.stage->hosts[1].scanned = 13;
  shell_.output = {"ROR\n"};
  Start();
  EXPECT_THAT(bad_, testing::UnorderedElementsAre("0: ERROR 1", "1: half an ERROR"));
}

/// Reading a gap of terabytes would take days.
TEST_F(OutputWatchTest, TheGapOfALogIsPassedOver) {
  constexpr std::int64_t kEnd = std::int64_t{1} << 40;
  WriteLog(0, "fine\nERR");
  ASSERT_TRUE(
      base::WriteFileAtomic(LogPath(0).string() + ".gap", fmt::format("8 {}\n", kEnd)).ok());
  base::AppendFile log = *base::AppendFile::Open(LogPath(0));
  ASSERT_TRUE(log.Extend(kEnd).ok());
  ASSERT_TRUE(log.Append("OR\nERROR 3\n").ok());
  Start();
  EXPECT_THAT(bad_, ElementsAre("0: ERROR 3"));
}

TEST_F(OutputWatchTest, ThePositionIsReported) {
  shell_.output = {std::string(1000, '.') + "\n", std::string((1 << 20) - 1, '.') + "\n", "x"};
  Start();
  std::int64_t scanned = 0;
  for (const auto& report : reports_) scanned = std::max(scanned, report.run.scanned);
  EXPECT_EQ(scanned, 1001 + (1 << 20));
}

TEST_F(OutputWatchTest, SilenceIsReportedWithItsBeginning) {
  shell_.output = {"fine\n"};
  const core::TimePoint spoke = clock_.Now();
  Start();
  Turn(minutes{1});
  ASSERT_TRUE(BecomesSilent());
  EXPECT_EQ(silent_since_, spoke);
}

TEST_F(OutputWatchTest, AHostWithoutAConnectionIsNotSilent) {
  shell_.unplugged = "203.0.113.7";
  Start();
  Turn(minutes{5});
  for (int i = 0; i < 60; ++i) {
    loop_.restart();
    loop_.run_for(milliseconds{10});
  }
  EXPECT_FALSE(silent_since_);
}

TEST_F(OutputWatchTest, TheModificationTimeOfTheLogCounts) {
  WriteLog(1, "fine\n");
  struct stat written = {};
  ASSERT_EQ(::stat(LogPath(1).c_str(), &written), 0);
  const auto spoke = base::FromMillis(std::int64_t{written.st_mtim.tv_sec} * 1000 +
                                      written.st_mtim.tv_nsec / 1'000'000);
  clock_.Set(spoke + minutes{30});
  job_.stage->started_at = spoke - std::chrono::hours{1};
  Start();
  Turn(milliseconds{1500});
  ASSERT_TRUE(BecomesSilent());
  EXPECT_EQ(*silent_since_, spoke);
}

}  // namespace
}  // namespace jobman::controller
