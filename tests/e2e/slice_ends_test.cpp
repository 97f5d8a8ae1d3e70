// A slice in use is lost, or unavailable for a while.
#include <map>
#include <string>
#include <vector>

#include "tests/e2e/rehearsal.hpp"

namespace jobman::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class InUse : public RehearsalSideBySide {
 protected:
  using RehearsalSideBySide::RehearsalSideBySide;
  void EveryHostRanAgain() {
    for (int host = 0; host < way().nodes; ++host) EXPECT_EQ(Log(2, host), "attempt 2\n");
  }
  void IsAnotherSlice() {
    EXPECT_THAT(Cloud(), AllOf(Not(HasSubstr(Slice(1))), HasSubstr(Slice(2))));
  }
};

class SliceEnds : public InUse {
 protected:
  /// Commands to the simulator about NODE, or NAME of the request. After each, the lost slice is
  /// deleted, the job runs on a new slice, and only `retries.preemption` is used.
  void IsReplacedAfter(const std::vector<std::string>& order) {
    CreateAndRunEach();
    Each([&] { Sim(Filled(order)); });
    Each([&] {
      ASSERT_TRUE(Reaches("SUCCEEDED"));
      EveryHostRanAgain();
      EXPECT_THAT(History(), AllOf(HasSubstr("slice " + Slice() + " "),
                                   HasSubstr("during run: trying again")));
      EXPECT_EQ(Spent(), "preemption 1, failure 0, infra 0");
      IsAnotherSlice();
    });
    EXPECT_EQ(Creates(), 2 * Requests());
  }

 private:
  std::vector<std::string> Filled(std::vector<std::string> order) const {
    for (std::string& word : order) {
      if (word == "NODE") word = way().Node(Slice());
      if (word == "NAME") word = way().Resource(Slice());
    }
    return order;
  }
};

TEST_F(SliceEnds, Preempted) {
  IsReplacedAfter({"preempt", "NODE"});
}
TEST_F(SliceEnds, PreemptedAfterRepairing) {
  IsReplacedAfter({"preempt", "NODE", "--as", "repairing", "--for", "1s"});
}
TEST_F(SliceEnds, PreemptedWithoutARecord) {
  IsReplacedAfter({"preempt", "NODE", "--as", "gone"});
}
TEST_F(SliceEnds, Terminated) {
  IsReplacedAfter({"terminate", "NODE"});
}
TEST_F(SliceEnds, Stopped) {
  IsReplacedAfter({"stop", "NODE"});
}
TEST_F(SliceEnds, DeletedBySomebodyElse) {
  IsReplacedAfter({"delete", "NAME"});
}

/// The cloud lends the slice for a short time. The job goes on with a new one.
class SliceIsLent : public InUse {
 protected:
  static constexpr const char* kUntold = "command.on_notice.signal=none";
  SliceIsLent()
      : InUse({kQueued,
               kQueuedTwo,
               {.name = "QueuedUntold", .setting = kUntold},
               {.name = "QueuedTwoUntold", .nodes = 2, .setting = kUntold}}) {}
};

/// The command is told before the end, or, if it is not to be told, loses its hosts.
TEST_F(SliceIsLent, AndTheJobGoesOnAfterItsTime) {
  // Each job in one step: the time of a slice begins with its request.
  Each([&] {
    CreateAndRun(way().Settings({"tpu.max_run_duration=45s"}), 1, way().nodes);
    if (HasFatalFailure()) return;
    EXPECT_TRUE(WhySays("the cloud lends the slice for "));
  });
  Each([&] {
    ASSERT_TRUE(Reaches("SUCCEEDED"));
    EveryHostRanAgain();
    EXPECT_THAT(History(), HasSubstr("its run duration of 45s end"));
    if (way().setting == nullptr) {
      EXPECT_THAT(History(), HasSubstr("notice of preemption (its run duration of 45s ends at "));
    }
    EXPECT_EQ(Spent(), "preemption 1, failure 0, infra 0");
    IsAnotherSlice();
  });
  EXPECT_EQ(Creates(), 2 * Requests());
}

/// On demand: nothing is deleted, nothing else is requested. It lasts longer than a host of a READY
/// slice may be silent.
class SliceStays : public InUse {
 protected:
  static void SetUpTestSuite() { StartSuite({"--host-limit", Place::kHostLimit}); }
  void Run() {
    CreateAndRunEach(
        {"tpu.pricing=ondemand", "setup=[{name: mark, run: echo set up $JOBMAN_ATTEMPT}]"});
  }
  void RunsAgainAndSucceeds() {
    ASSERT_TRUE(Reaches("SUCCEEDED"));
    EveryHostRanAgain();
    EXPECT_THAT(Cloud(), HasSubstr(Slice(1)));
  }
  void SlicesAreTheSame() {
    EXPECT_EQ(Creates(), Requests());
    EXPECT_EQ(Deletes(), 0);
  }
};

TEST_F(SliceStays, MaintenanceWithNewAddresses) {
  Run();
  std::map<std::string, base::Json> before;
  Each([&] {
    before[id()] = place().Show(id())["slice"]["hosts"];
    Sim({"maintain", way().Node(Slice()), "--for", "30s"});
    EXPECT_TRUE(WhySays("the cloud says READY, UNHEALTHY_MAINTENANCE"));
  });
  Each([&] {
    RunsAgainAndSucceeds();
    EXPECT_EQ(Log(2, 0, "setup-0-mark"), "set up 2\n");
    EXPECT_NE(place().Show(id())["slice"]["hosts"], before[id()]);
    EXPECT_EQ(Spent(), "preemption 0, failure 0, infra 0");
  });
  SlicesAreTheSame();
}

TEST_F(SliceStays, ARepair) {
  Run();
  Each([&] {
    Sim({"repair", way().Node(Slice()), "--for", "30s"});
    EXPECT_TRUE(WhySays("the cloud says REPAIRING"));
  });
  Each([&] {
    RunsAgainAndSucceeds();
    EXPECT_EQ(Spent(), "preemption 0, failure 0, infra 1") << "the run was lost";
  });
  SlicesAreTheSame();
}

TEST_F(SliceStays, UnknownHealthAndStateLeaveARunAlone) {
  Run();
  Each([&] {
    Sim({"show", way().Node(Slice()), "state=FROZEN"});
    EXPECT_TRUE(WhySays("the cloud says FROZEN"));
    Sim({"show", way().Node(Slice()), "state=null", "health=UNHEALTHY_MAINTENANCE"});
    EXPECT_TRUE(WhySays("the cloud says READY, UNHEALTHY_MAINTENANCE"));
    Sim({"show", way().Node(Slice()), "health=null"});
    EXPECT_EQ(StateOf(), "RUNNING");
    EXPECT_EQ(Attempt(), 1);
  });
  EXPECT_EQ(Deletes(), 0);
}

TEST_F(SliceStays, NothingIsStartedOnAnUnhealthyNode) {
  Run();
  Each([&] {
    Sim({"show", way().Node(Slice()), "health=UNHEALTHY_TPU"});
    EXPECT_TRUE(WhySays("the cloud says READY, UNHEALTHY_TPU"));
    EXPECT_EQ(StateOf(), "RUNNING") << "what runs goes on";
    ASSERT_EQ(Jobman({"reboot", id()}).code, 0);
    EXPECT_TRUE(WhySays("slice " + Slice() + " is READY, UNHEALTHY_TPU"));
    EXPECT_EQ(StateOf(), "PROVISIONING");
    Sim({"show", way().Node(Slice()), "health=null"});
  });
  Each([&] { RunsAgainAndSucceeds(); });
  SlicesAreTheSame();
}

}  // namespace
}  // namespace jobman::test
