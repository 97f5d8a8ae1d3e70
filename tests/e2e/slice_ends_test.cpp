// A slice that is in use comes to its end, or is out of use for a while.
#include "jobman/base/strings.hpp"
#include "tests/e2e/rehearsal.hpp"

namespace jobman::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// What is ordered from the simulator for node SLICE, or for NAME, its full name.
struct End {
  const char* name;
  std::vector<std::string> order;
};

class SliceEnds : public RehearsalInBothModes {
 protected:
  /// Each: the husk is deleted, the job runs on a new slice, and only `retries.preemption` pays.
  void IsReplacedAfter(std::vector<std::string> order) {
    CreateAndRun({Mode()});
    if (HasFatalFailure()) return;
    const std::string full =
        "projects/local-project/locations/us-central2-b/" + Kind() + "/" + Slice();
    for (std::string& word : order) {
      if (word == "SLICE") word = Slice();
      if (word == "NAME") word = full;
    }
    Sim(order);
    ASSERT_TRUE(Reaches("SUCCEEDED"));
    EXPECT_EQ(Log(2), "attempt 2\n");
    EXPECT_THAT(History(),
                AllOf(HasSubstr("slice " + Slice() + " "), HasSubstr("during run: trying again")));
    EXPECT_EQ(Spent(), "preemption 1, failure 0, infra 0");
    EXPECT_EQ(Creates(), 2);
    EXPECT_THAT(Cloud(), AllOf(Not(HasSubstr(Slice(1))), HasSubstr(Slice(2))));
  }
};

TEST_P(SliceEnds, Preempted) {
  IsReplacedAfter({"preempt", "SLICE"});
}
TEST_P(SliceEnds, PreemptedByWayOfRepairing) {
  IsReplacedAfter({"preempt", "SLICE", "--as", "repairing", "--for", "1s"});
}
TEST_P(SliceEnds, PreemptedWithoutARecord) {
  IsReplacedAfter({"preempt", "SLICE", "--as", "gone"});
}
TEST_P(SliceEnds, Terminated) {
  IsReplacedAfter({"terminate", "SLICE"});
}
TEST_P(SliceEnds, Stopped) {
  IsReplacedAfter({"stop", "SLICE"});
}
TEST_P(SliceEnds, DeletedBySomebodyElse) {
  IsReplacedAfter({"delete", "NAME"});
}

/// On demand: nothing is deleted, nothing else is asked for. It lasts longer than a host may be
/// silent whose slice is READY.
class SliceStays : public RehearsalInBothModes {
 protected:
  void Run() {
    CreateAndRun(
        {Mode(), "tpu.pricing=ondemand", "setup=[{name: mark, run: echo set up $JOBMAN_ATTEMPT}]"});
  }
  void IsTheSame() {
    EXPECT_EQ(Log(2), "attempt 2\n");
    EXPECT_EQ(Creates(), 1);
    EXPECT_EQ(Deletes(), 0);
    EXPECT_THAT(Cloud(), HasSubstr(Slice(1)));
  }
};

TEST_P(SliceStays, AMaintenanceWithNewAddresses) {
  Run();
  const auto before = place().Show(id())["slice"]["hosts"];
  Sim({"maintain", Slice(), "--for", "10s"});
  EXPECT_TRUE(WhySays("the cloud says READY, UNHEALTHY_MAINTENANCE"));
  ASSERT_TRUE(Reaches("SUCCEEDED"));
  IsTheSame();
  EXPECT_EQ(Log(2, 0, "setup-0-mark"), "set up 2\n");
  EXPECT_NE(place().Show(id())["slice"]["hosts"], before);
  EXPECT_EQ(Spent(), "preemption 0, failure 0, infra 0");
}

TEST_P(SliceStays, ARepair) {
  Run();
  Sim({"repair", Slice(), "--for", "10s"});
  EXPECT_TRUE(WhySays("the cloud says REPAIRING"));
  ASSERT_TRUE(Reaches("SUCCEEDED"));
  IsTheSame();
  EXPECT_EQ(Spent(), "preemption 0, failure 0, infra 1") << "the run was lost";
}

TEST_P(SliceStays, HealthAndStateThatNobodyKnowsLeaveARunAlone) {
  Run();
  Sim({"show", Slice(), "state=FROZEN"});
  EXPECT_TRUE(WhySays("the cloud says FROZEN"));
  Sim({"show", Slice(), "state=null", "health=UNHEALTHY_MAINTENANCE"});
  EXPECT_TRUE(WhySays("the cloud says READY, UNHEALTHY_MAINTENANCE"));
  Sim({"show", Slice(), "health=null"});
  EXPECT_EQ(StateOf(), "RUNNING");
  EXPECT_EQ(Attempt(), 1);
  EXPECT_EQ(Deletes(), 0);
}

INSTANTIATE_TEST_SUITE_P(Modes, SliceEnds, kBothModes, ModeName);
INSTANTIATE_TEST_SUITE_P(Modes, SliceStays, kBothModes, ModeName);

}  // namespace
}  // namespace jobman::test
