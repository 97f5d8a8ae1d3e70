// The command in containers of a real docker daemon, from `create` to the end of the job. All
// simulated hosts use one daemon, on a socket of the test's own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <memory>

#include "jobman/base/json.hpp"
#include "tests/e2e/place.hpp"
#include "tests/support/docker_daemon.hpp"

namespace jobman::test {
namespace {

using testing::HasSubstr;

class Docker : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    why_not_ = DockerDaemon::Missing();
    if (!why_not_.empty()) return;
    folder_ = std::make_unique<TempDir>();
    MakeBoxRoot(folder_->path().string());
    daemon_ = std::make_unique<DockerDaemon>();
    why_not_ = daemon_->Import(folder_->path().string());
  }
  static void TearDownTestSuite() {
    daemon_.reset();
    folder_.reset();
  }
  void SetUp() override {
    if (!why_not_.empty()) GTEST_SKIP() << why_not_;
  }
  /// Also those that a failed test has left.
  void TearDown() override {
    if (daemon_ == nullptr || IsSkipped()) return;
    EXPECT_EQ(daemon_->Docker("ps -aq | xargs -r docker -H " + daemon_->Address() + " rm -f"), "")
        << "no test leaves a container";
  }
  /// A simulator whose hosts may use the daemon.
  static void StartSim(Place& place, std::vector<std::string> more = {}) {
    more.insert(more.end(), {"--delays", "0", "--docker", daemon_->Folder("socket")});
    place.StartSim(more);
  }
  /// `jobman VERB` of a job of two hosts whose command runs in a container. /home there is the
  /// host's home.
  static Ran Job(Place& place, const std::string& verb, const std::string& cmd) {
    const std::string file =
        place.JobFile("boxed", 2, cmd,
                      "docker: {image: box, flags: [--network=host], mount_dirs: ['~/:/home']}\n"
                      "retries: {backoff: 500ms}\n");
    return place.Jobman({verb, file, "--set", "job.env_type=docker"});
  }
  static bool AreUp(Place& place, int attempt = 1) {
    return place.Until("the command to be up on both hosts", [&] {
      return place.Log(1, attempt, "run", 0).ends_with("up\n") &&
             place.Log(1, attempt, "run", 1).ends_with("up\n");
    });
  }
  /// The ids of the containers that run.
  static std::vector<std::string> Running() {
    std::vector<std::string> ids = base::Split(daemon_->Docker("ps -q"), '\n');
    std::erase(ids, "");
    std::sort(ids.begin(), ids.end());
    return ids;
  }
  /// None is left, not even one that has ended.
  static void ExpectNone() { EXPECT_EQ(daemon_->Docker("ps -aq"), ""); }
  static constexpr const char* kNode = "boxed-000001-a1";
  /// The first attempt runs until it is ended.
  static constexpr const char* kUntilLost =
      "[ $JOBMAN_ATTEMPT = 1 ] || { echo again; exit 0; }\n"
      "echo up; while :; do sleep 1; done";

  static inline std::string why_not_;
  static inline std::unique_ptr<TempDir> folder_;
  static inline std::unique_ptr<DockerDaemon> daemon_;
};

TEST_F(Docker, TheCommandRunsInAContainerOnEveryHost) {
  for (const std::vector<std::string>& sandbox :
       {std::vector<std::string>{}, std::vector<std::string>{"--no-sandbox"}}) {
    Place place;
    StartSim(place, sandbox);
    const Ran ran = Job(place, "run",
                        "ls /box; echo host $JOBMAN_HOST_INDEX >/home/mark\n"
                        "[ ! -e /home/fail ] || exit 7");
    EXPECT_EQ(ran.code, 0) << ran.All();
    for (int host = 0; host < 2; ++host) EXPECT_EQ(place.Log(1, 1, "run", host), "/box\n");
    const Ran marks = place.Jobman({"exec", "1", "--", "cat ~/mark"});
    EXPECT_THAT(marks.out, HasSubstr("host 0")) << marks.All();
    EXPECT_THAT(marks.out, HasSubstr("host 1"));
    ASSERT_EQ(place.Jobman({"exec", "1", "--", "touch ~/fail"}).code, 0);
    EXPECT_EQ(place.Jobman({"run", "1"}).code, 7) << "as the command ended";
    ExpectNone();
  }
}

TEST_F(Docker, CancelEndsACommandThatIgnoresTermAfterTheGrace) {
  Place place;
  StartSim(place);
  const Ran created = Job(place, "create",
                          "trap 'echo told' TERM; echo up\n"
                          "while :; do sleep 1; done");
  ASSERT_EQ(created.code, 0) << created.All();
  ASSERT_TRUE(AreUp(place));
  EXPECT_EQ(Running().size(), 2U);
  const Ran cancelled = place.Jobman({"cancel", "1", "--wait"});
  EXPECT_EQ(cancelled.code, 0) << cancelled.All();
  EXPECT_EQ(place.StateOf("1"), "CANCELLED");
  for (int host = 0; host < 2; ++host) {
    EXPECT_THAT(place.Log(1, 1, "run", host), testing::EndsWith("told\n")) << "TERM first";
  }
  ExpectNone();
}

TEST_F(Docker, AnotherControllerAdoptsTheContainers) {
  Place place;
  StartSim(place);
  place.StartController({"--poll", "1"});
  const Ran created =
      Job(place, "create", "echo up; while [ ! -e /home/go ]; do sleep 0.5; done\necho done");
  ASSERT_EQ(created.code, 0) << created.All();
  ASSERT_TRUE(AreUp(place));
  const std::vector<std::string> containers = Running();
  EXPECT_EQ(containers.size(), 2U);
  place.KillController();
  place.StartController({"--poll", "1"});
  ASSERT_EQ(place.Jobman({"exec", "1", "--", "true"}).code, 0);
  EXPECT_EQ(Running(), containers) << "neither ended nor begun anew";
  ASSERT_EQ(place.Jobman({"exec", "1", "--", "touch ~/go"}).code, 0);
  ASSERT_TRUE(place.Reaches("1", "SUCCEEDED"));
  EXPECT_EQ(place.Show("1")["attempt"], 1);
  for (int host = 0; host < 2; ++host) EXPECT_EQ(place.Log(1, 1, "run", host), "up\ndone\n");
  ExpectNone();
}

/// On another machine nothing of the first one runs: the simulator ends a host's containers with
/// it.
TEST_F(Docker, APreemptionLeadsToContainersOnOtherMachines) {
  Place place;
  StartSim(place);
  place.StartController({"--poll", "1"});
  ASSERT_EQ(Job(place, "create", kUntilLost).code, 0);
  ASSERT_TRUE(AreUp(place));
  ASSERT_EQ(place.Sim({"preempt", kNode}).code, 0);
  ASSERT_TRUE(place.Reaches("1", "SUCCEEDED"));
  EXPECT_EQ(place.Show("1")["attempt"], 2);
  for (int host = 0; host < 2; ++host) {
    EXPECT_EQ(place.Log(1, 2, "run", host), "again\n");
    EXPECT_THAT(place.Log(1, 2, "setup-0-docker", host), testing::Not(HasSubstr("(no log)")))
        << "new machines are set up";
  }
  ExpectNone();
}

TEST_F(Docker, AHostThatRestartsLosesItsContainer) {
  Place place;
  StartSim(place);
  place.StartController({"--poll", "1"});
  ASSERT_EQ(Job(place, "create", kUntilLost).code, 0);
  ASSERT_TRUE(AreUp(place));
  const std::string host = std::string(kNode) + "/1";
  ASSERT_EQ(place.Sim({"host", host, "kill"}).code, 0);
  ASSERT_EQ(place.Sim({"host", host, "boot"}).code, 0);
  ASSERT_TRUE(place.Reaches("1", "SUCCEEDED"));
  EXPECT_EQ(place.Show("1")["attempt"], 2);
  EXPECT_EQ(place.Show("1")["slice"]["name"], kNode) << "the same machines";
  for (int each = 0; each < 2; ++each) EXPECT_EQ(place.Log(1, 2, "run", each), "again\n");
  ExpectNone();
}

TEST_F(Docker, ContainersOfAKilledSimulatorEndWithTheNextUp) {
  Place place;
  StartSim(place);
  ASSERT_EQ(Job(place, "create", kUntilLost).code, 0);
  ASSERT_TRUE(AreUp(place));
  ASSERT_EQ(place.Jobman({"controller", "stop"}).code, 0);
  const auto file = base::ParseJson(base::ReadFile(place.home() / "sim/sim.json").value_or(""));
  ASSERT_TRUE(file.ok());
  const auto pid = static_cast<pid_t>(base::GetInt(*file, "pid"));
  ASSERT_GT(pid, 1);
  kill(pid, SIGKILL);
  ASSERT_TRUE(
      place.Until("the simulator to be gone", [&] { return place.Sim({"status"}).code != 0; }));
  EXPECT_EQ(Running().size(), 2U) << "so that there is something to end";
  StartSim(place);
  ExpectNone();
}

TEST_F(Docker, ASocketWithoutADaemonIsRefused) {
  Place place;
  const base::Path file = place.path() / "no socket";
  ASSERT_TRUE(base::WriteFileAtomic(file, "").ok());
  const Ran up = place.Sim({"up", "--docker", file.string()});
  EXPECT_EQ(up.code, 1);
  EXPECT_THAT(up.err, HasSubstr("--docker " + file.string() + ": no docker daemon answers: "));
  EXPECT_THAT(up.err, HasSubstr("docker version"));
}

/// Without docker too.
TEST(NoDocker, ASocketThatDoesNotExistIsRefused) {
  Place place;
  const Ran up = place.Sim({"up", "--docker", "/nowhere/docker.sock"});
  EXPECT_EQ(up.code, 1);
  EXPECT_THAT(up.err, HasSubstr("--docker /nowhere/docker.sock: No such file or directory"));
  EXPECT_THAT(up.err, HasSubstr("start the docker daemon"));
}

}  // namespace
}  // namespace jobman::test
