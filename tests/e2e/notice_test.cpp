// The command is told when the cloud announces preemption or maintenance. In a slice of two nodes
// only one has a notice.
#include "tests/e2e/rehearsal.hpp"

namespace jobman::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string LineOf(const std::string& kind, const std::string& text, bool imminent = true) {
  return std::string(R"({"imminent":)") + (imminent ? "true" : "false") + R"(,"kind":")" + kind +
         R"(","text":")" + text + "\"}\n";
}

/// Attempt 1 runs `told` on the signal; the next prints the reason of its restart.
std::string OnNotice(const std::string& told, const std::string& signal = "TERM",
                     const std::string& meanwhile = {}) {
  return "exec 2>/dev/null\n"
         "if [ $JOBMAN_ATTEMPT != 1 ]; then\n"
         "  echo $JOBMAN_ATTEMPT $JOBMAN_RESTART_REASON $(ls $JOBMAN_CHECKPOINT_DIR); exit 0\n"
         "fi\n"
         "trap '" +
         told + "' " + signal + "\necho up\n" + meanwhile + "while :; do sleep 1; done";
}

/// Logs the notice, leaves a file on the disk, and ends.
std::string Saves(int code) {
  return "touch $JOBMAN_CHECKPOINT_DIR/saved; cat $JOBMAN_NOTICE_FILE; exit " +
         std::to_string(code);
}

/// Two hosts per node.
class Notice : public RehearsalSideBySide {
 protected:
  int Hosts() const { return 2 * way().nodes; }
  bool EveryHostSays(const std::string& text) {
    return place().Until("every host to say " + text, [&] {
      for (int host = 0; host < Hosts(); ++host) {
        if (Log(1, host) != text) return false;
      }
      return true;
    });
  }
  void Run(const std::string& cmd, const std::vector<std::string>& more = {}) {
    Each([&] { Create(cmd, way().Settings(more), 2); });
    Each([&] { ASSERT_TRUE(EveryHostSays("up\n")); });
  }
  /// The notice comes long before the preemption.
  void AreToBePreempted() {
    Each([&] { Sim({"preempt", way().Node(Slice()), "--notice", "10m"}); });
  }
};

TEST_F(Notice, APreemptionIsToldToEveryHostAndCostsNoFailure) {
  Run(OnNotice(Saves(3)));
  AreToBePreempted();
  Each([&] {
    ASSERT_TRUE(Reaches("SUCCEEDED"));
    for (int host = 0; host < Hosts(); ++host) {
      EXPECT_THAT(Log(1, host), HasSubstr(LineOf("preemption", "TRUE")));
      EXPECT_EQ(Log(2, host), "2 preempted\n") << "new machines, new disks";
    }
    EXPECT_EQ(Spent(), "preemption 1, failure 0, infra 0");
    EXPECT_THAT(Cloud(), AllOf(Not(HasSubstr(Slice(1))), HasSubstr(Slice(2))));
    EXPECT_THAT(History(), HasSubstr("notice of preemption (TRUE)"));
  });
  EXPECT_EQ(Creates(), 2 * Requests());
}

TEST_F(Notice, MaintenanceIsToldToEveryHostAndAwaitedOnTheSameSlice) {
  Run(OnNotice(Saves(1)));
  Each([&] { Sim({"maintain", way().Node(Slice()), "--notice", "15s", "--for", "1s"}); });
  Each([&] {
    ASSERT_TRUE(Reaches("SUCCEEDED"));
    for (int host = 0; host < Hosts(); ++host) {
      EXPECT_THAT(Log(1, host), HasSubstr(LineOf("maintenance", "TERMINATE_ON_HOST_MAINTENANCE")));
      EXPECT_EQ(Log(2, host), "2 maintenance saved\n") << "the same disks";
    }
    EXPECT_EQ(Spent(), "preemption 1, failure 0, infra 0");
  });
  EXPECT_EQ(Creates(), Requests());
  EXPECT_EQ(Deletes(), 0);
}

/// Announced by the node, not by its hosts.
TEST_F(Notice, PendingMaintenanceIsOnlyToldUntilItIsOngoing) {
  const std::string pending = LineOf("maintenance", "PENDING", false);
  const auto show = [&](const std::string& status) {
    Sim({"show", way().Node(Slice()), "upcomingMaintenance.maintenanceStatus=" + status});
  };
  Run(OnNotice("tail -n 1 $JOBMAN_NOTICE_FILE; exit 0", "TERM",
               "until [ -s $JOBMAN_NOTICE_FILE ]; do sleep 0.5; done\ncat $JOBMAN_NOTICE_FILE\n"));
  Each([&] { show("PENDING"); });
  Each([&] {
    ASSERT_TRUE(EveryHostSays("up\n" + pending));
    EXPECT_TRUE(WhySays("the cloud announces maintenance"));
    EXPECT_EQ(StateOf(), "RUNNING");
  });
  Each([&] { show("ONGOING"); });
  Each([&] {
    ASSERT_TRUE(Reaches("SUCCEEDED"));
    EXPECT_TRUE(EveryHostSays("up\n" + pending + LineOf("maintenance", "ONGOING")));
    EXPECT_EQ(Attempt(), 1);
  });
  EXPECT_EQ(Deletes(), 0);
}

TEST_F(Notice, TheSignalIsTheUsersChoiceAndExitCodeZeroIsSuccess) {
  Run(OnNotice(Saves(0), "USR1"), {"command.on_notice.signal=USR1"});
  AreToBePreempted();
  Each([&] {
    ASSERT_TRUE(Reaches("SUCCEEDED"));
    EXPECT_EQ(Attempt(), 1);
    EXPECT_EQ(Spent(), "preemption 0, failure 0, infra 0");
  });
}

/// One host takes longer than command.grace, which does not apply here, although the others have
/// ended.
TEST_F(Notice, EveryHostHasTheGraceOfANotice) {
  Run(
      OnNotice("if [ $JOBMAN_HOST_INDEX = 0 ]; then trap \"\" TERM; sleep 8; fi\n"
               "echo saved; exit 75"));
  AreToBePreempted();
  Each([&] {
    ASSERT_TRUE(Reaches("SUCCEEDED"));
    for (int host = 0; host < Hosts(); ++host) EXPECT_EQ(Log(1, host), "up\nsaved\n");
    EXPECT_EQ(Spent(), "preemption 1, failure 0, infra 0");
  });
}

/// The command gets no signal, and goes on until the user lets the maintenance begin.
TEST_F(Notice, TheUserBeginsTheMaintenance) {
  Run("[ $JOBMAN_ATTEMPT != 1 ] || { echo up; sleep 600; }", {"command.on_notice.signal=none"});
  Each([&] { Sim({"maintain", way().Node(Slice()), "--notice", "1h"}); });
  Each([&] {
    EXPECT_TRUE(WhySays("the cloud announces maintenance"));
    const Ran ran = Jobman({"maintain", id()});
    EXPECT_EQ(ran.code, 0) << ran.All();
    EXPECT_THAT(ran.out, HasSubstr("maintenance of node " + way().Node(Slice()) + " begins"));
  });
  Each([&] { ASSERT_TRUE(Reaches("SUCCEEDED")); });
  EXPECT_EQ(Creates(), Requests()) << "the same slices";
  EXPECT_EQ(Deletes(), 0);
}

}  // namespace
}  // namespace jobman::test
