#include "jobman/client/wait_for_jobs.hpp"

#include <gmock/gmock.h>

#include "tests/unit/client/client_world.hpp"

namespace jobman::client {
namespace {

using testing::ElementsAre;

class WaitForJobsTest : public test::ClientWorld {
 protected:
  WaitForJobsTest() {
    on_pause_ = [this] {
      ++pauses_;
      clock_.Advance(std::chrono::seconds{10});
      return pauses_ < 100;
    };
  }
  core::Job Running(const std::string& name = "train") {
    core::Job job = test::JobBuilder(name).Build();
    job.state = core::Running{};
    return Put(std::move(job));
  }
  void End(core::Job job, const std::string& why = "done") {
    job.state = core::Done{};
    job.why = why;
    Change(job);
  }
  static WaitFor UntilAtRest() {
    return {.settled = [](const core::Job& job) -> base::Result<bool> { return AtRest(job); },
            .goal = "to be over"};
  }

  int pauses_ = 0;
};

TEST_F(WaitForJobsTest, ReturnsTheJobsInTheOrderGivenAsTheyWereWhenTheySettled) {
  const core::Job first = Running();
  const core::Job second = Running("eval");
  HoldLease();
  on_pause_ = [&] {
    clock_.Advance(std::chrono::seconds{10});
    if (++pauses_ == 1) End(second, "second is done");
    if (pauses_ == 2) {
      core::Job again = *store_.Get(second.id);
      again.state = core::Running{};
      Change(again);
      End(first, "first is done");
    }
    return pauses_ < 100;
  };
  const auto jobs = WaitForJobs(Context(), {first.id, second.id}, UntilAtRest());
  ASSERT_TRUE(jobs.ok()) << jobs.error().ToString();
  ASSERT_EQ(jobs->size(), 2U);
  EXPECT_EQ(jobs->at(0).why, "first is done");
  EXPECT_EQ(jobs->at(1).why, "second is done");
  EXPECT_EQ(pauses_, 2);
}

TEST_F(WaitForJobsTest, SettledJobsNeedNoControllerAndNoPause) {
  const core::Job job = Running();
  End(job);
  EXPECT_TRUE(WaitForJobs(Context(), {job.id}, UntilAtRest()).ok());
  EXPECT_EQ(pauses_, 0);
}

TEST_F(WaitForJobsTest, AJobThatIsSettledIsLookedAtNoMore) {
  const core::Job over = Running();
  End(over);
  const core::Job job = Running("eval");
  HoldLease();
  std::vector<std::int64_t> looks;
  const WaitFor wait{.settled = [&](const core::Job& seen) -> base::Result<bool> {
    looks.push_back(seen.id.value);
    return AtRest(seen);
  }};
  on_pause_ = [&] {
    clock_.Advance(std::chrono::seconds{10});
    End(job);
    return ++pauses_ < 100;
  };
  ASSERT_TRUE(WaitForJobs(Context(), {over.id, job.id}, wait).ok());
  EXPECT_THAT(looks, ElementsAre(over.id.value, job.id.value, job.id.value));
}

TEST_F(WaitForJobsTest, AnUnchangedStoreIsReadOnceASecond) {
  const core::Job job = Running();
  HoldLease();
  int looks = 0;
  const WaitFor wait{.settled = [&looks](const core::Job&) -> base::Result<bool> {
    ++looks;
    return false;
  }};
  on_pause_ = [&] {
    clock_.Advance(std::chrono::milliseconds{100});
    return ++pauses_ < 25;
  };
  EXPECT_FALSE(WaitForJobs(Context(), {job.id}, wait).ok());
  EXPECT_EQ(looks, 3) << "at 0, 1 and 2 s";
}

TEST_F(WaitForJobsTest, TheTimeoutNamesTheJobsThatAreNotSettled) {
  const core::Job over = Running();
  End(over);
  const core::Job job = Running("eval");
  HoldLease();
  WaitFor wait = UntilAtRest();
  wait.timeout = std::chrono::minutes{1};
  const auto late = WaitForJobs(Context(), {over.id, job.id}, wait);
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.error().code, base::Code::kDeadlineExceeded);
  EXPECT_EQ(late.error().message, "waited 1m for job 000002 to be over");
  EXPECT_EQ(late.error().hint, "jobman why 000002 shows what it waits for");
  EXPECT_EQ(pauses_, 6);
}

TEST_F(WaitForJobsTest, EndsForAJobThatTheControllerLeavesAlone) {
  const core::Job job = Running();
  HoldLease();
  on_pause_ = [&] {
    clock_.Advance(std::chrono::seconds{10});
    const ports::JobVersion now{.id = job.id, .version = store_.Get(job.id)->version};
    EXPECT_TRUE(store_.SetAside(now, "its record contradicts itself", 0).ok());
    return ++pauses_ < 100;
  };
  const auto jobs = WaitForJobs(Context(), {job.id}, UntilAtRest());
  ASSERT_FALSE(jobs.ok());
  EXPECT_EQ(jobs.error().code, base::Code::kFailedPrecondition);
  EXPECT_EQ(jobs.error().message, "job 000001: its record contradicts itself");
  EXPECT_EQ(pauses_, 1);
}

TEST_F(WaitForJobsTest, InterruptedTheJobsGoOn) {
  const core::Job one = Running();
  const core::Job two = Running("eval");
  HoldLease();
  on_pause_ = {};
  const auto ended = WaitForJobs(Context(), {one.id, two.id}, UntilAtRest());
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().code, base::Code::kCancelled);
  EXPECT_EQ(ended.error().message, "the wait was interrupted; jobs 000001, 000002 go on");
}

TEST_F(WaitForJobsTest, InterruptedADeleteGoesOn) {
  const core::Job job = Running();
  HoldLease();
  ASSERT_TRUE(
      store_.SetWish(job.id, core::Wish::kDelete, core::SetupWish::kAsNeeded, clock_.Now()).ok());
  on_pause_ = {};
  const auto ended = WaitForJobs(Context(), {job.id}, UntilAtRest());
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().message, "the wait was interrupted; job 000001 is still being deleted");
}

TEST_F(WaitForJobsTest, AnErrorOfTheStoreOrTheGoalEndsTheWait) {
  const core::Job job = Running();
  HoldLease();
  EXPECT_EQ(WaitForJobs(Context(), {{77}}, UntilAtRest()).error().code, base::Code::kNotFound);
  const WaitFor broken{.settled = [](const core::Job&) -> base::Result<bool> {
    return base::Error{.code = base::Code::kDataLoss};
  }};
  EXPECT_EQ(WaitForJobs(Context(), {job.id}, broken).error().code, base::Code::kDataLoss);
}

TEST_F(WaitForJobsTest, AJobIsAtRestWhenItIsOverAndItsSliceIsGoneOrKept) {
  core::Job job = test::WithHosts(test::JobBuilder().Build(), 1);
  job.wish_new = false;
  EXPECT_FALSE(AtRest(job));
  job.state = core::Done{};
  EXPECT_TRUE(AtRest(job)) << "the slice is kept";
  job.slice->phase = core::SlicePhase::kDeleting;
  EXPECT_FALSE(AtRest(job));
  job.slice.reset();
  EXPECT_TRUE(AtRest(job));
  job.wish_new = true;
  EXPECT_FALSE(AtRest(job));
}

}  // namespace
}  // namespace jobman::client
