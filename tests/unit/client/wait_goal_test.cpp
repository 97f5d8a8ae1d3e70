#include "jobman/client/wait_goal.hpp"

#include "tests/unit/client/client_world.hpp"

namespace jobman::client {
namespace {

class WaitGoalTest : public test::ClientWorld {
 protected:
  /// Moves the job to a state, as a controller does.
  core::Job Move(core::Job job, core::JobState state) {
    ports::Turn turn{.job = *store_.Get(job.id)};
    turn.job.wish_new = false;
    turn.job.state = std::move(state);
    turn.events = {
        {.job = job.id, .kind = "state", .subject = std::string(core::StateName(turn.job.state))}};
    EXPECT_TRUE(store_.Commit(turn, 0).ok());
    return *store_.Get(job.id);
  }
  core::Job Running() { return Move(Put(test::JobBuilder().Build()), core::Running{}); }
  WaitGoal Begin(std::vector<std::string> words, const core::Job& job) {
    WaitGoal goal(std::move(words));
    EXPECT_TRUE(goal.Begin(Context(), {job.id}).ok());
    return goal;
  }
  bool Settled(WaitGoal& goal, const core::Job& job) {
    const auto settled = goal.Settled(Context(), job);
    EXPECT_TRUE(settled.ok());
    return settled.ok() && *settled;
  }
};

TEST_F(WaitGoalTest, SaysWhatItIs) {
  EXPECT_EQ(WaitGoal({}).Text(), "to be over");
  EXPECT_EQ(WaitGoal({"RUNNING", kDone}).Text(), "to be RUNNING or DONE");
  EXPECT_EQ(WaitGoal({"RUNNING", kDone}).Words(), "RUNNING or DONE");
}

TEST_F(WaitGoalTest, WithoutWordsAnyFinalStateIsReached) {
  const core::Job job = Running();
  WaitGoal goal = Begin({}, job);
  EXPECT_FALSE(Settled(goal, job));
  const core::Job failed = Move(job, core::Done{.outcome = core::Outcome::kFailed});
  EXPECT_TRUE(Settled(goal, failed));
  EXPECT_TRUE(goal.Reached(failed));
}

TEST_F(WaitGoalTest, TheStateThatAJobIsInCountsAtOnce) {
  const core::Job job = Running();
  WaitGoal goal = Begin({"QUEUED", "RUNNING"}, job);
  EXPECT_TRUE(Settled(goal, job));
  EXPECT_TRUE(goal.Reached(job));
}

TEST_F(WaitGoalTest, ACommandThatNoHostRunsYetIsNotRunning) {
  WaitGoal goal({"RUNNING"});
  core::Job job = Move(Put(test::JobBuilder().Build()), core::Provisioning{});
  ASSERT_TRUE(goal.Begin(Context(), {job.id}).ok());
  job.stage = core::Stage{.name = "run", .hosts = {{.host = 0}}};
  ASSERT_TRUE(store_.Commit({.job = job}, 0).ok());
  job = Move(job, core::Running{});
  EXPECT_FALSE(Settled(goal, job));
  job.stage->hosts[0].phase = core::HostPhase::kRunning;
  ASSERT_TRUE(store_.Commit({.job = job}, 0).ok());
  EXPECT_TRUE(Settled(goal, *store_.Get(job.id)));
}

TEST_F(WaitGoalTest, TheFamiliarWordsNameStates) {
  const core::Job setup = Move(Running(), core::Setup{});
  WaitGoal running = Begin({"RUNNING"}, setup);
  EXPECT_FALSE(Settled(running, setup)) << "the word for SETUP, too, in other tools";
  const core::Job waits = Move(setup, core::BackingOff{});
  WaitGoal queueing = Begin({"QUEUEING"}, waits);
  EXPECT_TRUE(Settled(queueing, waits));
}

TEST_F(WaitGoalTest, ACommandThatNoHostEverRanWasNotRunning) {
  WaitGoal goal({"RUNNING"});
  core::Job job = Move(Put(test::JobBuilder().Build()), core::Provisioning{});
  ASSERT_TRUE(goal.Begin(Context(), {job.id}).ok());
  job = Move(Move(job, core::Running{}), core::BackingOff{});
  EXPECT_FALSE(Settled(goal, job));
  ports::Turn turn{.job = job};
  turn.exits = {{.job = job.id, .attempt = 1, .stage = "run", .host = 0, .exit_code = 1}};
  ASSERT_TRUE(store_.Commit(turn, 0).ok());
  EXPECT_TRUE(Settled(goal, *store_.Get(job.id))) << "now one has";
}

TEST_F(WaitGoalTest, DoneIsReachedWithEveryOutcome) {
  for (const auto outcome : {core::Outcome::kSucceeded, core::Outcome::kFailed,
                             core::Outcome::kCancelled, core::Outcome::kDeleted}) {
    const core::Job ended = Move(Running(), core::Done{.outcome = outcome});
    WaitGoal goal = Begin({kDone}, ended);
    EXPECT_TRUE(Settled(goal, ended));
    EXPECT_TRUE(goal.Reached(ended));
  }
}

TEST_F(WaitGoalTest, AJobThatIsOverInAnotherStateIsSettledButHasNotReachedIt) {
  const core::Job job = Running();
  WaitGoal goal = Begin({"FAILED"}, job);
  const core::Job ended = Move(job, core::Done{});
  EXPECT_TRUE(Settled(goal, ended));
  EXPECT_FALSE(goal.Reached(ended));
}

TEST_F(WaitGoalTest, AStateThatCameAndWentBetweenTwoLooksCounts) {
  const core::Job job = Running();
  for (const auto& [word, state] :
       std::vector<std::pair<std::string, core::JobState>>{{"BACKOFF", core::BackingOff{}},
                                                           {"QUEUEING", core::BackingOff{}},
                                                           {"SUCCEEDED", core::Done{}},
                                                           {kDone, core::Done{}}}) {
    WaitGoal goal = Begin({word}, job);
    Move(job, state);
    const core::Job now = Move(job, core::Cancelling{});
    EXPECT_TRUE(Settled(goal, now)) << word;
    EXPECT_TRUE(goal.Reached(now)) << word;
  }
}

TEST_F(WaitGoalTest, AStateFromBeforeTheWaitDoesNotCount) {
  const core::Job now = Move(Running(), core::BackingOff{});
  WaitGoal goal = Begin({"RUNNING"}, now);
  EXPECT_FALSE(Settled(goal, now));
  EXPECT_FALSE(Settled(goal, Move(now, core::BackingOff{})));
}

TEST_F(WaitGoalTest, AJobWithANewWishWillLeaveItsState) {
  const core::Job job = Running();
  WaitGoal goal = Begin({"RUNNING"}, job);
  ASSERT_TRUE(
      store_.SetWish(job.id, core::Wish::kReboot, core::SetupWish::kAsNeeded, clock_.Now()).ok());
  EXPECT_FALSE(Settled(goal, *store_.Get(job.id)));
  EXPECT_TRUE(Settled(goal, Move(job, core::Running{})));
}

}  // namespace
}  // namespace jobman::client
