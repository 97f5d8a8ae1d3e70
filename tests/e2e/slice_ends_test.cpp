// A slice in use is lost, or unavailable for a while.
#include "jobman/base/strings.hpp"
#include "tests/e2e/rehearsal.hpp"

namespace jobman::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class InUse : public RehearsalInEachWay {
 protected:
  void EveryHostRanAgain() {
    for (int host = 0; host < way().nodes; ++host) EXPECT_EQ(Log(2, host), "attempt 2\n");
  }
};

class SliceEnds : public InUse {
 protected:
  /// Commands to the simulator about NODE, or NAME of the request. After each, the lost slice is
  /// deleted, the job runs on a new slice, and only `retries.preemption` is used.
  void IsReplacedAfter(std::vector<std::string> order) {
    CreateAndRun();
    if (HasFatalFailure()) return;
    for (std::string& word : order) {
      if (word == "NODE") word = way().Node(Slice());
      if (word == "NAME") word = way().Resource(Slice());
    }
    Sim(order);
    ASSERT_TRUE(Reaches("SUCCEEDED"));
    EveryHostRanAgain();
    EXPECT_THAT(History(),
                AllOf(HasSubstr("slice " + Slice() + " "), HasSubstr("during run: trying again")));
    EXPECT_EQ(Spent(), "preemption 1, failure 0, infra 0");
    EXPECT_EQ(Creates(), 2 * way().Requests());
    EXPECT_THAT(Cloud(), AllOf(Not(HasSubstr(Slice(1))), HasSubstr(Slice(2))));
  }
};

TEST_P(SliceEnds, Preempted) {
  IsReplacedAfter({"preempt", "NODE"});
}
TEST_P(SliceEnds, PreemptedAfterRepairing) {
  IsReplacedAfter({"preempt", "NODE", "--as", "repairing", "--for", "1s"});
}
TEST_P(SliceEnds, PreemptedWithoutARecord) {
  IsReplacedAfter({"preempt", "NODE", "--as", "gone"});
}
TEST_P(SliceEnds, Terminated) {
  IsReplacedAfter({"terminate", "NODE"});
}
TEST_P(SliceEnds, Stopped) {
  IsReplacedAfter({"stop", "NODE"});
}
TEST_P(SliceEnds, DeletedBySomebodyElse) {
  IsReplacedAfter({"delete", "NAME"});
}

/// The cloud lends the slice for a short time. The job goes on with a new one.
class SliceIsLent : public InUse {
 protected:
  void GoesOnAfterItsTime(std::vector<std::string> more) {
    more.emplace_back("tpu.max_run_duration=30s");
    CreateAndRun(std::move(more));
    if (HasFatalFailure()) return;
    EXPECT_TRUE(WhySays("the cloud lends the slice for "));
    ASSERT_TRUE(Reaches("SUCCEEDED"));
    EveryHostRanAgain();
    EXPECT_THAT(History(), HasSubstr("its run duration of 30s end"));
    EXPECT_EQ(Spent(), "preemption 1, failure 0, infra 0");
    EXPECT_EQ(Creates(), 2);
    EXPECT_THAT(Cloud(), AllOf(Not(HasSubstr(Slice(1))), HasSubstr(Slice(2))));
  }
};

TEST_P(SliceIsLent, TheCommandIsToldBeforeTheEnd) {
  GoesOnAfterItsTime({});
  EXPECT_THAT(History(), HasSubstr("notice of preemption (its run duration of 30s ends at "));
}
TEST_P(SliceIsLent, TheCloudTakesItAway) {
  GoesOnAfterItsTime({"command.on_notice.signal=none"});
}

/// On demand: nothing is deleted, nothing else is requested. It lasts longer than a host of a READY
/// slice may be silent.
class SliceStays : public InUse {
 protected:
  static void SetUpTestSuite() { StartSuite({"--host-limit", Place::kHostLimit}); }
  void Run() {
    CreateAndRun(
        {"tpu.pricing=ondemand", "setup=[{name: mark, run: echo set up $JOBMAN_ATTEMPT}]"});
  }
  void IsTheSame() {
    EveryHostRanAgain();
    EXPECT_EQ(Creates(), way().Requests());
    EXPECT_EQ(Deletes(), 0);
    EXPECT_THAT(Cloud(), HasSubstr(Slice(1)));
  }
};

TEST_P(SliceStays, MaintenanceWithNewAddresses) {
  Run();
  const auto before = place().Show(id())["slice"]["hosts"];
  Sim({"maintain", way().Node(Slice()), "--for", "15s"});
  EXPECT_TRUE(WhySays("the cloud says READY, UNHEALTHY_MAINTENANCE"));
  ASSERT_TRUE(Reaches("SUCCEEDED"));
  IsTheSame();
  EXPECT_EQ(Log(2, 0, "setup-0-mark"), "set up 2\n");
  EXPECT_NE(place().Show(id())["slice"]["hosts"], before);
  EXPECT_EQ(Spent(), "preemption 0, failure 0, infra 0");
}

TEST_P(SliceStays, ARepair) {
  Run();
  Sim({"repair", way().Node(Slice()), "--for", "15s"});
  EXPECT_TRUE(WhySays("the cloud says REPAIRING"));
  ASSERT_TRUE(Reaches("SUCCEEDED"));
  IsTheSame();
  EXPECT_EQ(Spent(), "preemption 0, failure 0, infra 1") << "the run was lost";
}

TEST_P(SliceStays, UnknownHealthAndStateLeaveARunAlone) {
  Run();
  Sim({"show", way().Node(Slice()), "state=FROZEN"});
  EXPECT_TRUE(WhySays("the cloud says FROZEN"));
  Sim({"show", way().Node(Slice()), "state=null", "health=UNHEALTHY_MAINTENANCE"});
  EXPECT_TRUE(WhySays("the cloud says READY, UNHEALTHY_MAINTENANCE"));
  Sim({"show", way().Node(Slice()), "health=null"});
  EXPECT_EQ(StateOf(), "RUNNING");
  EXPECT_EQ(Attempt(), 1);
  EXPECT_EQ(Deletes(), 0);
}

TEST_P(SliceStays, NothingIsStartedOnAnUnhealthyNode) {
  Run();
  Sim({"show", way().Node(Slice()), "health=UNHEALTHY_TPU"});
  EXPECT_TRUE(WhySays("the cloud says READY, UNHEALTHY_TPU"));
  EXPECT_EQ(StateOf(), "RUNNING") << "what runs goes on";
  ASSERT_EQ(Jobman({"reboot", id()}).code, 0);
  EXPECT_TRUE(WhySays("slice " + Slice() + " is READY, UNHEALTHY_TPU"));
  EXPECT_EQ(StateOf(), "PROVISIONING");
  Sim({"show", way().Node(Slice()), "health=null"});
  ASSERT_TRUE(Reaches("SUCCEEDED"));
  IsTheSame();
}

INSTANTIATE_TEST_SUITE_P(Ways, SliceEnds, kEachWay, NameOf);
INSTANTIATE_TEST_SUITE_P(Ways, SliceIsLent, testing::Values(kQueued, kQueuedTwo), NameOf);
INSTANTIATE_TEST_SUITE_P(Ways, SliceStays, kEachWay, NameOf);

}  // namespace
}  // namespace jobman::test
