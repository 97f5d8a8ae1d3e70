// What a new controller must do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobman/core/describe.hpp"
#include "tests/support/job_builder.hpp"
#include "tests/support/reconciling.hpp"

namespace jobman::core {
namespace {

using test::JobBuilder;
using test::Reconciling;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Implied(const Job& job) {
  std::vector<std::string> names;
  for (const Effect& effect : ImpliedEffects(job)) names.push_back(Describe(effect));
  return names;
}

TEST(ReconcileRestart, ARequestOfAnEarlierControllerIsLookedForBeforeItIsRepeated) {
  Reconciling r(JobBuilder().Build());
  r.Tick();
  EXPECT_THAT(Implied(r.job()), IsEmpty());
  EXPECT_THAT(r.Absent().Absent().effects(), ElementsAre("CreateSlice train-000042-a1"));
}

TEST(ReconcileRestart, ARunningStageIsFollowedAgain) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning();
  EXPECT_THAT(Implied(r.job()), ElementsAre("RunStage run of attempt 1"));
}

/// What an earlier controller sent to the hosts is not known.
TEST(ReconcileRestart, AStageThatIsTakenOverIsMarked) {
  Reconciling r(JobBuilder().Build());
  r.Tick().Answered().Ready(2);
  EXPECT_FALSE(r.The<RunStage>().again);
  const auto effects = ImpliedEffects(r.job());
  ASSERT_EQ(effects.size(), 1u);
  EXPECT_TRUE(std::get<RunStage>(effects[0]).again);
}

TEST(ReconcileRestart, AStageThatIsBeingStoppedIsStoppedAgain) {
  Reconciling r(JobBuilder().Build());
  r.ToRunning().WishFor(Wish::kCancel);
  EXPECT_THAT(Implied(r.job()),
              ElementsAre("RunStage run of attempt 1", "StopStage run of attempt 1"));
}

TEST(ReconcileRestart, ADeleteIsRepeated) {
  Reconciling r(JobBuilder().Build());
  r.ToDone().WishFor(Wish::kDelete);
  EXPECT_THAT(Implied(r.job()), ElementsAre("DeleteSlice train-000042-a1"));
}

TEST(ReconcileRestart, AFinishedJobNeedsNothing) {
  Reconciling r(JobBuilder().Build());
  EXPECT_THAT(Implied(r.ToDone().job()), IsEmpty());
}

}  // namespace
}  // namespace jobman::core
