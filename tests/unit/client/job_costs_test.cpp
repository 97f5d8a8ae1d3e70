#include "jobman/client/job_costs.hpp"

#include <gmock/gmock.h>

#include "tests/unit/client/client_world.hpp"

namespace jobman::client {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr base::TimePoint kBegin = {};
constexpr base::TimePoint kLookedAt = kBegin + 100h;

ports::Event Line(base::Duration after, int attempt, std::string kind, std::string subject,
                  std::string text = {}) {
  return {.at = kBegin + after,
          .job = {42},
          .attempt = attempt,
          .kind = std::move(kind),
          .subject = std::move(subject),
          .text = std::move(text)};
}
ports::Event State(base::Duration after, int attempt, std::string word) {
  return Line(after, attempt, "state", std::move(word));
}

HeldTime Held(int attempt, base::Duration from, base::Duration to) {
  return {.attempt = attempt, .from = kBegin + from, .to = kBegin + to};
}

/// A slice is asked for at 0h, and READY at 2h.
std::vector<ports::Event> Started() {
  return {State(0h, 1, "REQUESTING"), Line(0h, 1, "effect", "CreateSlice", "train-a1"),
          State(1h, 1, "WAITING"), State(2h, 1, "SETUP"), State(3h, 1, "RUNNING")};
}

std::vector<HeldTime> TimesOf(const std::vector<ports::Event>& journal,
                              const core::Job& job = test::JobBuilder().Build()) {
  return HeldTimes(job, journal, {}, kLookedAt);
}

TEST(HeldTimes, BeginWithTheFirstStageAndEndWithTheDeletion) {
  auto journal = Started();
  journal.push_back(State(5h, 1, "SUCCEEDED"));
  journal.push_back(State(9h, 1, "DELETING"));
  journal.push_back(Line(9h, 1, "effect", "DeleteSlice", "train-a1"));
  journal.push_back(State(10h, 1, "DELETED"));
  EXPECT_THAT(TimesOf(journal), ElementsAre(Held(1, 2h, 9h))) << "it was kept after the end";
}

TEST(HeldTimes, GoOnWhileTheSliceIsOnRecord) {
  core::Job job = test::WithHosts(test::JobBuilder().Build(), 4);
  EXPECT_THAT(TimesOf(Started(), job), ElementsAre(Held(1, 2h, 100h)));
}

TEST(HeldTimes, WaitingForASliceCostsNothing) {
  EXPECT_THAT(TimesOf({State(0h, 1, "REQUESTING"), State(1h, 1, "WAITING")}), IsEmpty());
  EXPECT_THAT(TimesOf({}), IsEmpty());
}

TEST(HeldTimes, EachSliceCountsAfterAPreemption) {
  auto journal = Started();
  journal.push_back(State(4h, 1, "BACKOFF"));
  journal.push_back(Line(4h, 1, "effect", "DeleteSlice", "train-a1"));
  journal.push_back(State(5h, 2, "REQUESTING"));
  journal.push_back(Line(5h, 2, "effect", "CreateSlice", "train-a2"));
  journal.push_back(State(7h, 2, "RUNNING"));
  journal.push_back(Line(8h, 2, "effect", "DeleteSlice", "train-a1"));
  journal.push_back(Line(8h, 1, "hook", "preempted"));
  journal.push_back(Line(9h, 2, "effect", "DeleteSlice", "train-a2"));
  EXPECT_THAT(TimesOf(journal), ElementsAre(Held(1, 2h, 4h), Held(2, 7h, 9h)))
      << "what else is told of the first one does not matter";
}

TEST(HeldTimes, ASliceThatIsKeptPassesToTheNextAttempt) {
  auto journal = Started();
  journal.push_back(State(4h, 1, "CANCELLED"));
  journal.push_back(State(6h, 2, "PROVISIONING"));
  journal.push_back(State(6h, 2, "RUNNING"));
  journal.push_back(Line(7h, 2, "effect", "DeleteSlice", "train-a1"));
  EXPECT_THAT(TimesOf(journal), ElementsAre(Held(1, 2h, 6h), Held(2, 6h, 7h)));
}

TEST(HeldTimes, ANodeOfTheUsersIsHeldUntilTheJobIsOver) {
  core::Job job = test::WithHosts(test::JobBuilder().Build(), 1);
  job.spec.tpu.existing = "mine";
  EXPECT_THAT(TimesOf({State(1h, 1, "RUNNING"), State(3h, 1, "FAILED")}, job),
              ElementsAre(Held(1, 1h, 3h)));
}

TEST(HeldTimes, OfAttemptsWithoutAJournalOnlyTheMostIsKnown) {
  core::Job job = test::JobBuilder().Build();
  job.state = core::Done{};
  job.since = kBegin + 8h;
  const std::vector<ports::AttemptRecord> attempts = {
      {.attempt = 1, .started_at = kBegin + 1h, .ended_at = kBegin + 4h},
      {.attempt = 2, .started_at = kBegin + 5h}};
  HeldTime first = Held(1, 1h, 4h);
  HeldTime second = Held(2, 5h, 8h);
  first.at_most = second.at_most = true;
  EXPECT_THAT(HeldTimes(job, {}, attempts, kLookedAt), ElementsAre(first, second));
}

class CostsOfJobTest : public test::ClientWorld {};

TEST_F(CostsOfJobTest, AreTimesTimesPrices) {
  core::Job job = test::JobBuilder().Build();
  const auto id = store_.Create(job, "", clock_.Now());
  job = *store_.Get(*id);
  job.wish_new = false;
  ports::Turn turn{.job = job};
  turn.events = {State(2h, 1, "RUNNING"), Line(4h, 1, "effect", "DeleteSlice", "train-a1")};
  turn.attempts = {{.attempt = 1, .zone = "us-central2-b", .started_at = kBegin}};
  ASSERT_TRUE(store_.Commit(turn, 0).ok());
  const auto costs =
      Await(CostsOfJob(store_.stores().jobs, *id, kLookedAt, &core::BuiltInPrices()));
  ASSERT_TRUE(costs.ok());
  ASSERT_EQ(costs->size(), 1U);
  EXPECT_DOUBLE_EQ(costs->front().Hours(), 2);
  EXPECT_NEAR(costs->front().Dollars().value_or(0), 2 * 16 * 3.22, 0.001);
  EXPECT_NEAR(costs->front().DollarsOnDemand().value_or(0), 2 * 16 * 3.22, 0.001);
  EXPECT_FALSE(costs->front().simulated);
}

TEST(Costs, AreCutWhereTheQuestionBeginsAndAtMidnight) {
  HeldCost cost{.held = Held(1, 20h, 53h), .per_hour = 2};
  EXPECT_THAT(CostsSince({cost}, kBegin + 60h), IsEmpty());
  const auto since = CostsSince({cost}, kBegin + 21h);
  ASSERT_EQ(since.size(), 1U);
  EXPECT_EQ(since[0].held, Held(1, 21h, 53h));
  const auto days = CutByDay(since);
  ASSERT_EQ(days.size(), 3U);
  EXPECT_EQ(days[0].held, Held(1, 21h, 24h));
  EXPECT_EQ(days[1].held, Held(1, 24h, 48h));
  EXPECT_EQ(days[2].held, Held(1, 48h, 53h));
  EXPECT_DOUBLE_EQ(*days[2].Dollars(), 10);
  cost.per_hour.reset();
  EXPECT_FALSE(cost.Dollars());
}

}  // namespace
}  // namespace jobman::client
