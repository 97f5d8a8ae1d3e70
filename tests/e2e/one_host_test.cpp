// One of several hosts fails, although the slice is READY.
#include <thread>

#include "tests/e2e/rehearsal.hpp"

namespace jobman::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class OneHost : public Rehearsal {
 protected:
  static void SetUpTestSuite() { StartSuite({"--host-limit", Place::kHostLimit}); }
};

class OneHostOfFour : public RehearsalInEachWay {
 protected:
  static void SetUpTestSuite() { StartSuite({"--host-limit", Place::kHostLimit}); }
  /// It is named, the others are stopped, and the job continues on a new slice.
  void IsNamedAndItsSliceReplacedAfter(const std::vector<std::string>& actions) {
    Rehearsal::CreateAndRun(way().Settings(), 4 / way().nodes, way().nodes);
    if (HasFatalFailure()) return;
    const std::string node = Slice() + (way().nodes > 1 ? "-0" : "");
    for (const std::string& action : actions) Sim({"host", node + "/1", action});
    ASSERT_TRUE(Reaches("SUCCEEDED"));
    EXPECT_THAT(History(), HasSubstr("host 1 was lost in run: "));
    for (int host = 0; host < 4; ++host) EXPECT_EQ(Log(2, host), "attempt 2\n");
    EXPECT_EQ(Spent(), "preemption 0, failure 0, infra 1");
    EXPECT_EQ(Creates(), 2 * way().Requests());
    EXPECT_THAT(Cloud(), Not(HasSubstr(Slice(1))));
  }
};

TEST_P(OneHostOfFour, IsDead) {
  IsNamedAndItsSliceReplacedAfter({"kill"});
}
TEST_P(OneHostOfFour, CannotBeReached) {
  // Real open connections would hang too, but here the kernel keeps answering.
  IsNamedAndItsSliceReplacedAfter({"cut", "hangup"});
}

INSTANTIATE_TEST_SUITE_P(Ways, OneHostOfFour, kEachWay, NameOf);

/// Only the time without an answer counts, not the time before.
TEST_F(OneHost, IsFollowedAgainAfterABrokenConnection) {
  Create("echo up; until [ -e ~/go ]; do sleep 0.5; done; echo end", {}, 2);
  ASSERT_TRUE(place().Until("the command to run", [&] { return Log(1, 1) == "up\n"; }));
  std::this_thread::sleep_for(std::chrono::seconds{14});  // more than --host-limit
  Sim({"host", Slice() + "/1", "hangup"});
  ASSERT_EQ(Jobman({"exec", id(), "--", "touch ~/go"}).code, 0);
  ASSERT_TRUE(Reaches("SUCCEEDED"));
  EXPECT_EQ(Log(1, 1), "up\nend\n");
  EXPECT_EQ(Attempt(), 1);
  EXPECT_EQ(Spent(), "preemption 0, failure 0, infra 0");
}

TEST_F(OneHost, WithAFailingCommandEndsTheOthers) {
  Create("echo up; [ $JOBMAN_HOST_INDEX != 1 ] || exit 7; sleep 600", {}, 4);
  ASSERT_TRUE(Reaches("FAILED"));
  EXPECT_EQ(ExitCode(), 7);
  EXPECT_TRUE(WhySays("run ended with exit code 7 on host 1"));
  const Ran left = Jobman({"exec", id(), "--", "pgrep -f '[s]leep 600' || echo none"});
  EXPECT_THAT(left.out, HasSubstr("host 2 | none")) << left.All();
}

}  // namespace
}  // namespace jobman::test
