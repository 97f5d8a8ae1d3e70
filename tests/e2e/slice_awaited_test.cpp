// A request was accepted, and its slice is long in coming, or does not come.
#include "jobman/base/time.hpp"
#include "tests/e2e/rehearsal.hpp"

namespace jobman::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// What is given up after six seconds here is given up after an hour by a controller of its own.
class SliceAwaited : public RehearsalInBothModes {
 protected:
  static void SetUpTestSuite() { StartSuite({"--provisioning-limit", "6"}); }
  /// The request is given up and made anew, at no cost.
  void ComesAnew(const std::string& why) {
    ASSERT_TRUE(Reaches("SUCCEEDED"));
    EXPECT_THAT(History(), AllOf(HasSubstr(why), HasSubstr(": trying again in ")));
    EXPECT_EQ(Attempt(), 2);
    EXPECT_EQ(Creates(), 2);
    EXPECT_EQ(Spent(), "preemption 0, failure 0, infra 0");
    EXPECT_THAT(Cloud(), Not(HasSubstr(Slice(1))));
  }
};
class QueueAwaited : public SliceAwaited {};

TEST_P(QueueAwaited, NoCapacityForADirectNode) {
  Sim({"fault", "nodes.create", "stockout"});
  Create("true", {kDirect});
  ComesAnew("There is no more capacity in the zone \"us-central2-b\"");
}

TEST_P(QueueAwaited, ARequestThatFailsWithAnInternalError) {
  Sim({"fault", "queuedResources.create", "opaque"});
  Create("true");
  ComesAnew("an internal error has occurred");
}

TEST_P(QueueAwaited, DaysInTheQueue) {
  Sim({"fault", "queuedResources.create", "waits_forever"});
  Create("true");
  EXPECT_TRUE(WhySays("capacity for v4-8 in us-central2-b, for 3"));  // seconds so far
  EXPECT_EQ(StateOf(), "WAITING");
  EXPECT_EQ(Creates(), 1);
  EXPECT_EQ(Deletes(), 0) << "it keeps its place";
  Sim({"calm"});
  ASSERT_TRUE(Reaches("SUCCEEDED"));
  EXPECT_EQ(Attempt(), 1);
}

TEST_P(QueueAwaited, ValidUntilADurationIsOver) {
  Sim({"fault", "queuedResources.create", "waits_forever"});
  Create("true", {"tpu.valid_until=10s"});
  EXPECT_TRUE(WhySays("tpu.valid_until leaves it "));
  ComesAnew("slice " + Slice() + " found no capacity within tpu.valid_until, 10s");
}

TEST_P(QueueAwaited, ValidUntilATimeThatPasses) {
  Sim({"fault", "queuedResources.create", "waits_forever"});
  const auto now = std::chrono::time_point_cast<base::Duration>(std::chrono::system_clock::now());
  const std::string until = base::FormatRfc3339(now + std::chrono::seconds{15});
  Create("true", {"tpu.valid_until=" + until});
  EXPECT_TRUE(WhySays("tpu.valid_until leaves it "));
  ASSERT_TRUE(Reaches("FAILED"));
  EXPECT_EQ(ExitCode(), 4);
  EXPECT_THAT(Jobman({"why", id()}).out,
              AllOf(HasSubstr("tpu.valid_until, " + until + ", has passed"),
                    HasSubstr("create the job again with a later tpu.valid_until")));
  EXPECT_EQ(Creates(), 1);
  ASSERT_TRUE(place().Until("the husk to be deleted", [&] { return Deletes() > 0; }));
  EXPECT_EQ(Jobman({"resume", id(), "--wait"}).code, 4) << "it would be refused";
  EXPECT_EQ(Creates(), 1);
}

TEST_P(SliceAwaited, CreatingWithoutAnEnd) {
  Sim({"fault", "*.create", "provisions_forever"});
  Create("true", {Mode()});
  EXPECT_TRUE(WhySays("PROVISIONING"));
  ASSERT_TRUE(Reaches("SUCCEEDED"));
  EXPECT_THAT(History(), HasSubstr("slice " + Slice() + " was not ready within 6s: trying again"));
  EXPECT_EQ(Spent(), "preemption 0, failure 0, infra 1");
  EXPECT_EQ(Creates(), 2);
  EXPECT_THAT(Cloud(), Not(HasSubstr(Slice(1))));
}

class SliceRepaired : public RehearsalInBothModes {};

TEST_P(SliceRepaired, BeforeItWasReady) {
  Sim({"fault", "*.create", "provisions_forever"});
  Create("true", {Mode()});
  ASSERT_TRUE(Reaches("PROVISIONING"));
  Sim({"show", Slice(), "state=REPAIRING"});
  if (Direct()) {  // a queued resource that is not ACTIVE speaks for its nodes
    EXPECT_TRUE(WhySays("slice " + Slice() + " is REPAIRING"));
  }
  Sim({"calm"});
  Sim({"show", Slice(), "state=null"});
  ASSERT_TRUE(Reaches("SUCCEEDED"));
  EXPECT_EQ(Attempt(), 1);
  EXPECT_EQ(Deletes(), 0);
}

TEST_P(SliceAwaited, NotFoundRightAfterItsCreate) {
  Sim({"set", "guesses.create_visible_after=3s"});
  Create("true", {Mode()});
  ASSERT_TRUE(Reaches("SUCCEEDED"));
  Sim({"set", "guesses.create_visible_after=0"});
  EXPECT_EQ(Attempt(), 1);
  EXPECT_EQ(Creates(), 1);
  EXPECT_EQ(Deletes(), 0);
}

// libcurl sends a request again by itself when a connection that was kept ends under it, and a
// listing may be sooner than the answer: whatever is lost, there is one slice.
TEST_P(SliceAwaited, ACreateWhoseAnswerIsLost) {
  Sim({"fault", "*.create", "drop_reply", "--times", "10"});
  Create("true", {Mode()});
  ASSERT_TRUE(Reaches("SUCCEEDED"));
  EXPECT_THAT(Cloud(), AllOf(HasSubstr(Slice(1)), Not(HasSubstr(Slice(2)))));
  EXPECT_EQ(Attempt(), 1);
  EXPECT_EQ(Deletes(), 0);
}

INSTANTIATE_TEST_SUITE_P(Modes, SliceAwaited, kBothModes, ModeName);
INSTANTIATE_TEST_SUITE_P(Modes, SliceRepaired, kBothModes, ModeName);
INSTANTIATE_TEST_SUITE_P(Once, QueueAwaited, testing::Values("queued-resources"), ModeName);

}  // namespace
}  // namespace jobman::test
