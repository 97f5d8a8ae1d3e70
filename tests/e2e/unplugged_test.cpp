// The API is unplugged (connection refused) in every state of a job: nothing is deleted, nothing is
// lost, `why` says so, and the job continues when the API is back. JOBMAN_OUTAGE is the length in
// seconds; for a long test by hand: JOBMAN_OUTAGE=60 e2e_unplugged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "jobman/base/env.hpp"
#include "jobman/base/strings.hpp"
#include "tests/e2e/api_cable.hpp"
#include "tests/e2e/place.hpp"

namespace jobman::test {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kDefaultOutage = 3;
constexpr const char* kSilence = "the cloud has not answered";

std::chrono::seconds Outage() {
  const auto text = base::GetEnv("JOBMAN_OUTAGE");
  const auto given = text ? base::ParseNumber(*text) : std::nullopt;
  return std::chrono::seconds{given.value_or(kDefaultOutage)};
}

class Unplugged : public testing::Test {
 protected:
  void SetUp() override {
    place_.StartSim({"--delays", "0"});
    const auto sim = base::ParseJson(base::ReadFile(place_.home() / "sim" / "sim.json").value());
    ssh_port_ = std::to_string(base::GetInt(*sim, "ssh_port"));
    const std::string endpoint = base::GetString(*sim, "endpoint");
    const auto port = base::ParseNumber(endpoint.substr(endpoint.rfind(':') + 1));
    cable_ = std::make_unique<ApiCable>(static_cast<int>(port.value()));
    place_.StartController({"--poll", "1", "--host-limit", Place::kHostLimit});
  }
  void TearDown() override {
    if (!cable_) return;
    cable_->PlugIn();
    EXPECT_EQ(place_.Jobman({"delete", "job", "--wait"}).code, 0);
    EXPECT_THAT(place_.Sim({"status"}).out, HasSubstr("no nodes, no queued resources"));
  }

  void Create(const std::string& cmd, const std::string& more = {}) {
    const std::string file =
        place_.JobFile("job", 2, cmd, more + "ssh: {port: " + ssh_port_ + "}\n");
    const Ran ran =
        place_.Jobman({"--endpoint", cable_->endpoint(), "create", file, "--set", "tpu.project=sim",
                       "--set", "cloud.token_file=" + place_.SimTokenFile().string()});
    ASSERT_EQ(ran.code, 0) << ran.All();
  }
  /// How many calls of a method reached the simulator.
  std::int64_t Calls(const std::string& method) {
    const auto log = base::ParseJson(place_.Sim({"requests"}).out);
    return log.ok() ? base::GetInt(base::GetMember(*log, "counts"), method) : -1;
  }
  std::int64_t Deletes() { return Calls("queuedResources.delete") + Calls("nodes.delete"); }

  /// Unplugs the cable: during the outage the job stays in this state, says so, and deletes
  /// nothing.
  void SitOut(const std::string& state) {
    const std::int64_t deletes = Deletes();
    place_.Until("why to tell of the outage", [&] {
      return base::Contains(place_.Jobman({"why", "job"}).out, kSilence);
    });
    const auto end = std::chrono::steady_clock::now() + Outage();
    while (std::chrono::steady_clock::now() < end && !HasFailure()) {
      ASSERT_EQ(place_.StateOf("job"), state) << place_.Jobman({"history", "job"}).out;
    }
    const Ran why = place_.Jobman({"why", "job"});
    EXPECT_THAT(why.out, testing::AllOf(HasSubstr("so the slice is left alone: "),
                                        HasSubstr("(gave up after")));
    EXPECT_THAT(why.out, HasSubstr("Connection refused"));
    EXPECT_EQ(Deletes(), deletes) << place_.Sim({"requests"}).out;
  }
  /// Plugs the cable in: the job succeeds, with this many slices requested in all.
  void GoesOn(int slices) {
    cable_->PlugIn();
    ASSERT_TRUE(place_.Reaches("job", "SUCCEEDED", 120));
    EXPECT_EQ(Calls("queuedResources.create"), slices);
    EXPECT_EQ(place_.Show("job")["attempt"], slices);
    place_.Until("why to tell nothing of the outage", [&] {
      return !base::Contains(place_.Jobman({"why", "job"}).out, kSilence);
    });
  }
  /// Ends the command that waits for the file ~/go, using SSH only.
  void Go() {
    const Ran ran = place_.Jobman({"exec", "job", "--", "touch ~/go"});
    EXPECT_EQ(ran.code, 0) << ran.All();
  }

  Place place_;
  std::string ssh_port_;
  std::unique_ptr<ApiCable> cable_;
};

constexpr const char* kUntilGo = "while [ ! -e ~/go ]; do sleep 0.5; done; echo gone";

TEST_F(Unplugged, RequestingARequestThatCannotBeSent) {
  cable_->PullOut();
  Create("echo done");
  ASSERT_TRUE(place_.Reaches("job", "REQUESTING"));
  SitOut("REQUESTING");
  GoesOn(1);
}

TEST_F(Unplugged, RequestingARequestWhoseAnswerIsLost) {
  cable_->PullOutAfter("POST /v2/");
  Create("echo done");
  ASSERT_TRUE(place_.Reaches("job", "REQUESTING"));
  SitOut("REQUESTING");
  EXPECT_THAT(place_.Sim({"status"}).out, HasSubstr("job-000001-a1"));
  GoesOn(1);
}

TEST_F(Unplugged, QueuedWhileTheLastSliceIsBeingDeleted) {
  Create("echo done");
  ASSERT_TRUE(place_.Reaches("job", "SUCCEEDED"));
  ASSERT_EQ(place_.Sim({"set", "delays.delete=2s"}).code, 0);
  cable_->PullOutAfter("DELETE /v2/");
  ASSERT_EQ(place_.Sim({"preempt", "job-000001-a1"}).code, 0);
  ASSERT_TRUE(place_.Until("the dead slice to be given up", [&] { return Deletes() > 0; }));
  ASSERT_EQ(place_.Jobman({"resume", "job"}).code, 0);
  ASSERT_TRUE(place_.Reaches("job", "QUEUED"));
  SitOut("QUEUED");
  GoesOn(2);
}

TEST_F(Unplugged, WaitingInTheCloudsQueue) {
  ASSERT_EQ(place_.Sim({"set", "stock.us-central2-b/v4=0"}).code, 0);
  Create("echo done");
  ASSERT_TRUE(place_.Reaches("job", "WAITING"));
  cable_->PullOut();
  SitOut("WAITING");
  ASSERT_EQ(place_.Sim({"set", "stock.us-central2-b/v4=64"}).code, 0);
  GoesOn(1);
}

TEST_F(Unplugged, ProvisioningASliceThatBecomesReadyMeanwhile) {
  ASSERT_EQ(place_.Sim({"set", "delays.provision=10s"}).code, 0);
  Create("echo done");
  ASSERT_TRUE(place_.Reaches("job", "PROVISIONING"));
  cable_->PullOut();
  SitOut("PROVISIONING");
  GoesOn(1);
}

TEST_F(Unplugged, SetupGoesOn) {
  Create("echo done", std::string("setup: [{name: wait, run: 'echo up; ") + kUntilGo + "'}]\n");
  // Then the hosts' keys have been fetched.
  for (const int host : {0, 1}) {
    ASSERT_TRUE(place_.Until("the step to be up",
                             [&] { return place_.Log(1, 1, "setup-0-wait", host) == "up\n"; }));
  }
  cable_->PullOut();
  SitOut("SETUP");
  Go();
  GoesOn(1);
  EXPECT_EQ(place_.Log(1, 1, "setup-0-wait", 1), "up\ngone\n");
}

TEST_F(Unplugged, RunningGoesOnAndEndsWithoutTheApi) {
  Create(std::string("echo up; ") + kUntilGo);
  ASSERT_TRUE(
      place_.Until("the command to be up", [&] { return place_.Log(1, 1, "run", 1) == "up\n"; }));
  cable_->PullOut();
  SitOut("RUNNING");
  Go();
  ASSERT_TRUE(place_.Reaches("job", "SUCCEEDED"));
  EXPECT_EQ(place_.Log(1, 1, "run", 0), "up\ngone\n");
  EXPECT_EQ(place_.Log(1, 1, "run", 1), "up\ngone\n");
  GoesOn(1);
}

TEST_F(Unplugged, BackoffWithASliceThatCannotBeDeleted) {
  Create(std::string("[ $JOBMAN_ATTEMPT = 2 ] || ") + kUntilGo);
  ASSERT_TRUE(place_.Reaches("job", "RUNNING"));
  cable_->PullOutAt("DELETE /v2/");
  ASSERT_EQ(place_.Sim({"preempt", "job-000001-a1"}).code, 0);
  ASSERT_TRUE(place_.Reaches("job", "BACKOFF"));
  SitOut("BACKOFF");
  EXPECT_EQ(Deletes(), 0);
  GoesOn(2);
}

TEST_F(Unplugged, CancellingARequest) {
  ASSERT_EQ(place_.Sim({"set", "stock.us-central2-b/v4=0"}).code, 0);
  Create("echo done");
  ASSERT_TRUE(place_.Reaches("job", "WAITING"));
  cable_->PullOut();
  ASSERT_EQ(place_.Jobman({"cancel", "job"}).code, 0);
  ASSERT_TRUE(place_.Reaches("job", "CANCELLING"));
  SitOut("CANCELLING");
  EXPECT_THAT(place_.Sim({"status"}).out, HasSubstr("job-000001-a1"));
  cable_->PlugIn();
  ASSERT_TRUE(place_.Reaches("job", "CANCELLED"));
  EXPECT_EQ(Calls("queuedResources.create"), 1);
  EXPECT_THAT(place_.Sim({"status"}).out, HasSubstr("no nodes, no queued resources"));
}

TEST_F(Unplugged, CancellingARunNeedsNoApi) {
  Create(std::string("echo up; ") + kUntilGo);
  for (int host = 0; host < 2; ++host) {
    ASSERT_TRUE(place_.Until("the command to be up",
                             [&] { return place_.Log(1, 1, "run", host) == "up\n"; }));
  }
  cable_->PullOut();
  ASSERT_EQ(place_.Jobman({"cancel", "job", "--wait"}).code, 0);
  EXPECT_EQ(place_.StateOf("job"), "CANCELLED");
  SitOut("CANCELLED");
  cable_->PlugIn();
  EXPECT_THAT(place_.Sim({"status"}).out, HasSubstr("job-000001-a1"));
}

TEST_F(Unplugged, DeletingHappensWhenTheApiIsBack) {
  Create("echo done");
  ASSERT_TRUE(place_.Reaches("job", "SUCCEEDED"));
  cable_->PullOut();
  ASSERT_EQ(place_.Jobman({"delete", "job"}).code, 0);
  ASSERT_TRUE(place_.Reaches("job", "DELETING"));
  SitOut("DELETING");
  EXPECT_THAT(place_.Sim({"status"}).out, HasSubstr("job-000001-a1"));
  cable_->PlugIn();
  ASSERT_TRUE(place_.Reaches("job", "DELETED"));
}

TEST_F(Unplugged, SucceededKeepsItsSliceAndItsHostsCanBeUsed) {
  Create("echo done");
  ASSERT_TRUE(place_.Reaches("job", "SUCCEEDED"));
  cable_->PullOut();
  SitOut("SUCCEEDED");
  Go();
  GoesOn(1);
  EXPECT_THAT(place_.Sim({"status"}).out, HasSubstr("job-000001-a1"));
  EXPECT_EQ(Deletes(), 0);
}

}  // namespace
}  // namespace jobman::test
