// Two controllers never act on one job.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "jobman/base/strings.hpp"
#include "tests/e2e/api_cable.hpp"
#include "tests/e2e/place.hpp"

namespace jobman::test {
namespace {

using testing::HasSubstr;

constexpr int kTryLater = 75;

/// A slow command whose log shows that it ran once.
constexpr const char* kSlowLines =
    "echo start >>~/starts; i=1; while [ $i -le 400 ]; do echo \"line $i\"; "
    "sleep 0.05; i=$((i+1)); done";

std::string FourHundredLines() {
  std::string text;
  for (int i = 1; i <= 400; ++i) text += "line " + std::to_string(i) + "\n";
  return text;
}

class SeveralControllers : public testing::Test {
 protected:
  void SetUp() override { place_.StartSim({"--delays", "0"}); }

  /// How many calls of a method reached the simulator.
  std::int64_t Calls(const std::string& method) {
    const auto log = base::ParseJson(place_.Sim({"requests"}).out);
    return log.ok() ? base::GetInt(base::GetMember(*log, "counts"), method) : -1;
  }
  void WakeUpAndSeeItEnd(pid_t controller) {
    ASSERT_EQ(kill(controller, SIGCONT), 0);
    EXPECT_EQ(place_.EndOf(controller), kTryLater);
    EXPECT_EQ(place_.Jobman({"controller", "status"}).code, 0) << "the other controller runs";
  }
  std::string StartsOn(const std::string& job) {
    return place_.Jobman({"exec", job, "-q", "-w", "0", "--", "cat ~/starts"}).out;
  }

  Place place_;
};

TEST_F(SeveralControllers, OfManyStartedAtOnceOneStays) {
  std::vector<pid_t> started;
  for (int i = 0; i < 6; ++i) started.push_back(place_.Start({"controller", "run"}));
  ASSERT_TRUE(place_.Until("one to hold the lease", [this] {
    return place_.Jobman({"controller", "status"}).code == 0;
  }));
  ASSERT_EQ(place_.Jobman({"run", place_.JobFile("once", 2, "echo start >>~/starts")}).code, 0);
  EXPECT_EQ(Calls("queuedResources.create"), 1);
  EXPECT_EQ(StartsOn("once"), "start\n");
  ASSERT_EQ(place_.Jobman({"controller", "stop"}).code, 0);
  std::vector<int> codes;
  for (const pid_t pid : started) codes.push_back(place_.EndOf(pid));
  EXPECT_EQ(std::count(codes.begin(), codes.end(), 0), 1) << "the one that was told to stop";
  EXPECT_EQ(std::count(codes.begin(), codes.end(), kTryLater), 5);
}

TEST_F(SeveralControllers, ASuspendedControllerDoesNothingAfterATakeover) {
  const pid_t sleeper = place_.StartController({"--poll", "1", "--lease", "5"});
  ASSERT_EQ(place_.Jobman({"create", place_.JobFile("long", 2, kSlowLines)}).code, 0);
  ASSERT_TRUE(place_.Until("some lines to be here", [&] {
    return base::Contains(place_.Log(1, 1, "run", 1), "line 20\n");
  }));
  ASSERT_TRUE(place_.PutToSleep(sleeper));
  place_.StartController({"--poll", "1"});
  ASSERT_TRUE(place_.Until("the other one to bring more lines", [&] {
    return base::Contains(place_.Log(1, 1, "run", 1), "line 150\n");
  }));
  WakeUpAndSeeItEnd(sleeper);
  ASSERT_EQ(place_.Jobman({"wait", "long", "--for=succeeded"}).code, 0);
  for (const int host : {0, 1}) EXPECT_EQ(place_.Log(1, 1, "run", host), FourHundredLines());
  EXPECT_EQ(StartsOn("long"), "start\n");
  EXPECT_EQ(Calls("queuedResources.create"), 1);
}

TEST_F(SeveralControllers, ASuspendedControllerLeavesALaterAttemptAlone) {
  const pid_t sleeper = place_.StartController({"--poll", "1", "--lease", "5"});
  ASSERT_EQ(place_.Jobman({"create", place_.JobFile("again", 2, kSlowLines)}).code, 0);
  ASSERT_TRUE(place_.Until("some lines to be here",
                           [&] { return base::Contains(place_.Log(1, 1, "run", 1), "line 5\n"); }));
  // Suspended in the middle: the wish is stored, its work may have begun.
  ASSERT_EQ(place_.Jobman({"reboot", "again"}).code, 0);
  ASSERT_TRUE(place_.PutToSleep(sleeper));
  place_.StartController({"--poll", "1"});
  ASSERT_TRUE(place_.Until("the second attempt to run",
                           [&] { return base::Contains(place_.Log(1, 2, "run", 1), "line 5\n"); }));
  WakeUpAndSeeItEnd(sleeper);
  ASSERT_EQ(place_.Jobman({"wait", "again", "--for=succeeded"}).code, 0);
  for (const int host : {0, 1}) EXPECT_EQ(place_.Log(1, 2, "run", host), FourHundredLines());
  EXPECT_EQ(StartsOn("again"), "start\nstart\n");
}

/// The API behind a cable that can hold a request until its sender has lost the lease, which is as
/// late as an effect can be.
class LateRequest : public SeveralControllers {
 protected:
  void SetUp() override {
    SeveralControllers::SetUp();
    const std::string endpoint = place_.SimEndpoint();
    const auto port = base::ParseNumber(endpoint.substr(endpoint.rfind(':') + 1));
    cable_ = std::make_unique<ApiCable>(static_cast<int>(port.value()));
    const auto sim = base::ParseJson(*base::ReadFile(place_.home() / "sim" / "sim.json"));
    const std::string more =
        "ssh: {port: " + std::to_string(base::GetInt(*sim, "ssh_port")) + "}\n";
    sleeper_ = place_.StartController({"--poll", "1", "--lease", "5"});
    cable_->HoldUp("POST /v2/");
    const Ran ran = place_.Jobman({"--endpoint", cable_->endpoint(), "create",
                                   place_.JobFile("late", 1, "echo start >>~/starts", more),
                                   "--set", "tpu.project=sim", "--set",
                                   "cloud.token_file=" + place_.SimTokenFile().string()});
    ASSERT_EQ(ran.code, 0) << ran.All();
    ASSERT_TRUE(place_.Until("the create to be on its way", [&] { return cable_->Holds(); }));
    ASSERT_TRUE(place_.PutToSleep(sleeper_));
  }
  void LetItArrive() {
    const auto before = Calls("queuedResources.create");
    cable_->LetGo();
    ASSERT_TRUE(place_.Until("the late create to arrive",
                             [&] { return Calls("queuedResources.create") > before; }));
    WakeUpAndSeeItEnd(sleeper_);
  }
  std::string Slices() { return place_.Sim({"status"}).out; }
  bool NothingIsLeft() {
    return place_.Until("nothing to be left", [this] {
      return base::Contains(Slices(), "no nodes, no queued resources");
    });
  }

  std::unique_ptr<ApiCable> cable_;
  pid_t sleeper_ = 0;
};

TEST_F(LateRequest, ACreateFindsTheSliceOfItsSuccessor) {
  place_.StartController({"--poll", "1"});
  ASSERT_EQ(place_.Jobman({"wait", "late", "--for=succeeded"}).code, 0);
  LetItArrive();
  EXPECT_EQ(StartsOn("late"), "start\n");
  EXPECT_EQ(place_.Show("late")["attempt"], 1);
  ASSERT_EQ(place_.Jobman({"delete", "late", "--wait"}).code, 0);
  EXPECT_THAT(Slices(), HasSubstr("no nodes, no queued resources"));
}

TEST_F(LateRequest, ACreateOfADeletedJobIsWatchedFor) {
  // The wish is stored before the successor starts, so the successor never requests the slice.
  ASSERT_EQ(place_.Jobman({"delete", "late", "--wait"}).code, 0);
  LetItArrive();
  EXPECT_TRUE(NothingIsLeft()) << "the successor deletes what it watches for";
  EXPECT_THAT(base::ReadFile(place_.home() / "controller.log").value(),
              HasSubstr("deleting slice late-000001-a1 of an abandoned request"));
  EXPECT_EQ(Calls("queuedResources.create"), 1);
}

TEST_F(LateRequest, ACreateAfterTheJobsEndIsFoundByGc) {
  place_.StartController({"--poll", "1"});
  ASSERT_EQ(place_.Jobman({"wait", "late", "--for=succeeded"}).code, 0);
  ASSERT_EQ(place_.Jobman({"delete", "late", "--wait"}).code, 0);
  // It repeats the successor's request. A service that has forgotten that one creates a slice that
  // no job wants.
  ASSERT_EQ(place_.Sim({"set", "guesses.request_id_deduplicates=false"}).code, 0);
  LetItArrive();
  EXPECT_THAT(Slices(), HasSubstr("late-000001-a1"));
  EXPECT_EQ(place_.Jobman({"gc", "--yes"}).code, 0);
  EXPECT_TRUE(NothingIsLeft());
}

TEST_F(SeveralControllers, TwentyTicksAtOnceDoTheWorkOnce) {
  const std::string file = place_.JobFile("ticked", 2, "echo start >>~/starts; sleep 3");
  ASSERT_EQ(place_.Jobman({"create", file}).code, 0);
  ASSERT_EQ(place_.Jobman({"controller", "stop"}).code, 0);
  for (int round = 0; round < 4; ++round) {
    std::vector<pid_t> ticks;
    for (int i = 0; i < 20; ++i) ticks.push_back(place_.Start({"tick", "--bound", "2"}));
    for (const pid_t tick : ticks) EXPECT_EQ(place_.EndOf(tick), 0);
  }
  ASSERT_TRUE(place_.Until("the ticks to bring it to its end", [&] {
    EXPECT_EQ(place_.Jobman({"tick"}).code, 0);
    return place_.StateOf("ticked") == "SUCCEEDED";
  }));
  EXPECT_EQ(Calls("queuedResources.create"), 1);
  EXPECT_EQ(StartsOn("ticked"), "start\n");
}

TEST_F(SeveralControllers, TicksLeaveTheWorkToARunningController) {
  place_.StartController({"--poll", "1"});
  ASSERT_EQ(place_.Jobman({"create", place_.JobFile("calm", 2, kSlowLines)}).code, 0);
  const Ran before = place_.Jobman({"controller", "status"});
  for (int i = 0; i < 20; ++i) {
    const Ran tick = place_.Jobman({"tick"});
    EXPECT_EQ(tick.code, 0) << tick.All();
    EXPECT_EQ(tick.All(), "");
  }
  EXPECT_EQ(place_.Jobman({"controller", "status"}).out, before.out);
  ASSERT_EQ(place_.Jobman({"wait", "calm", "--for=succeeded"}).code, 0);
  EXPECT_EQ(place_.Log(1, 1, "run", 1), FourHundredLines());
  EXPECT_EQ(Calls("queuedResources.create"), 1);
}

TEST_F(SeveralControllers, ATickEndsInTimeAlthoughTheApiDoesNotAnswer) {
  ASSERT_EQ(place_.Jobman({"create", place_.JobFile("stuck", 1, "sleep 600")}).code, 0);
  ASSERT_TRUE(place_.Reaches("stuck", "RUNNING"));
  ASSERT_EQ(place_.Jobman({"controller", "stop"}).code, 0);
  const auto sim = base::ParseJson(*base::ReadFile(place_.home() / "sim" / "sim.json"));
  const auto pid = static_cast<pid_t>(base::GetInt(*sim, "pid"));
  ASSERT_EQ(kill(pid, SIGSTOP), 0);
  const auto began = std::chrono::steady_clock::now();
  const Ran tick = place_.Jobman({"tick", "--bound", "3"});
  const auto took = std::chrono::steady_clock::now() - began;
  ASSERT_EQ(kill(pid, SIGCONT), 0);
  EXPECT_EQ(tick.code, 0) << tick.All();
  EXPECT_LT(took, std::chrono::seconds{20}) << "without the bound it would wait for minutes";
  EXPECT_EQ(place_.StateOf("stuck"), "RUNNING");
  EXPECT_EQ(place_.Jobman({"delete", "stuck", "--wait"}).code, 0);
}

/// cron and systemd are stand-ins; what they run is real, with as little around it as they give.
TEST(ControllerService, AControllerComesBackByTheLinesOfTheCrontab) {
  Place place;
  const base::Path tools = place.path() / "a bin";
  const std::string kept = (place.path() / "crontab").string();
  ASSERT_TRUE(base::EnsureDir(tools).ok());
  const auto tool = [&tools](const char* name, const std::string& does) {
    ASSERT_TRUE(base::WriteFileAtomic(tools / name, "#!/bin/sh\n" + does + "\n", 0755).ok());
  };
  tool("systemctl", "echo 'Failed to connect to bus' >&2; exit 1");
  tool("crontab", "case $1 in -l) cat '" + kept + "' ;; -) cat >'" + kept + "' ;; esac");
  ASSERT_TRUE(base::WriteFileAtomic(kept, "0 3 * * * mine\n").ok());
  const std::string path = getenv("PATH");
  setenv("PATH", (tools.string() + ":" + path).c_str(), 1);

  const Ran installed = place.Jobman({"controller", "install", "--yes"});
  EXPECT_EQ(installed.code, 0) << installed.All();
  EXPECT_EQ(place.Jobman({"controller", "stop"}).code, 0);
  ASSERT_EQ(place.Jobman({"controller", "status"}).code, 3);

  const std::string crontab = base::ReadFile(kept).value();
  const std::size_t line = crontab.find("@reboot ");
  ASSERT_NE(line, std::string::npos) << crontab;
  const std::size_t begin = line + std::string("@reboot ").size();
  const std::string command = crontab.substr(begin, crontab.find('\n', begin) - begin);
  for (const char* when : {"after a reboot", "while it runs"}) {
    const Ran ran = RunProgram({"env", "-i", "HOME=/nonexistent", "/bin/sh", "-c", command});
    EXPECT_EQ(ran.code, 0) << when;
    EXPECT_EQ(ran.All(), "") << when << ": cron would send mail";
    EXPECT_EQ(place.Jobman({"controller", "status"}).code, 0) << when;
  }
  EXPECT_EQ(place.Jobman({"controller", "uninstall"}).code, 0);
  EXPECT_EQ(base::ReadFile(kept).value(), "0 3 * * * mine\n");
  setenv("PATH", path.c_str(), 1);
}

}  // namespace
}  // namespace jobman::test
