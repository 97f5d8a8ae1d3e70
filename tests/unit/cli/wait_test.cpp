// jobman wait: what it waits for, and its exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobman/controller/controller.hpp"
#include "tests/support/cli_world.hpp"

namespace jobman::test {
namespace {

using core::Outcome;
using testing::HasSubstr;

core::Done Failed(int exit_code) {
  return {.outcome = Outcome::kFailed, .exit_code = exit_code};
}

/// Moves a job to a state, as a controller does.
void Move(test::MemoryStore& store, std::int64_t id, core::JobState state, const std::string& why) {
  ports::Turn turn{.job = *store.Get({id})};
  turn.job.wish_new = false;
  turn.job.state = std::move(state);
  turn.job.why = why;
  turn.events = {{.job = {id},
                  .kind = "state",
                  .subject = std::string(core::StateName(turn.job.state)),
                  .text = why}};
  ASSERT_TRUE(store.Commit(turn, 0).ok());
}

class Wait : public testing::Test {
 protected:
  Wait() {
    world_.fill = [this](test::MemoryStore& store) {
      for (const char* name : {"train", "eval"}) {
        ASSERT_TRUE(store.Create(core::Job{.name = name}, "", {}).ok());
        Move(store, name[0] == 't' ? 1 : 2, core::Running{}, "the command runs");
      }
      const auto now = world_.clock.Now();
      ASSERT_TRUE(store.TakeLease(controller::LeaseHolder(), now, std::chrono::hours{1}).ok());
    };
    world_.on_pause = [this](test::MemoryStore& store) {
      world_.clock.Advance(std::chrono::seconds{10});
      return static_cast<std::size_t>(++pauses_) <= steps_.size()
                 ? (steps_[static_cast<std::size_t>(pauses_) - 1](store), true)
                 : false;
    };
  }
  /// Six jobs of a sweep: the first is QUEUED, the others run.
  void FillWithSweep() {
    world_.fill = [this](test::MemoryStore& store) {
      for (int i = 1; i <= 6; ++i) {
        ASSERT_TRUE(store.Create(core::Job{.name = "sweep-" + std::to_string(i)}, "", {}).ok());
        if (i > 1) Move(store, i, core::Running{}, "the command runs");
      }
      const auto now = world_.clock.Now();
      ASSERT_TRUE(store.TakeLease(controller::LeaseHolder(), now, std::chrono::hours{1}).ok());
    };
  }
  /// What happens while the command waits: one step per pause.
  void Then(std::function<void(test::MemoryStore&)> step) { steps_.push_back(std::move(step)); }
  void Nothing() {
    Then([](test::MemoryStore&) {});
  }

  CliWorld world_;
  std::vector<std::function<void(test::MemoryStore&)>> steps_;
  int pauses_ = 0;
};

TEST_F(Wait, WithoutAStateEndsWithTheWorstExitCodeOfTheJobs) {
  Then([](auto& store) { Move(store, 1, core::Done{}, "done"); });
  Then([](auto& store) { Move(store, 2, Failed(7), "exit code 7 on host 0"); });
  const auto ended = world_.Run({"wait", "train", "eval"});
  EXPECT_EQ(ended.exit_code, 7);
  EXPECT_THAT(ended.out, HasSubstr("job 000001 (train) is SUCCEEDED: done\n"));
  EXPECT_THAT(ended.out, HasSubstr("job 000002 (eval) is FAILED: exit code 7 on host 0\n"));
  EXPECT_THAT(ended.err, HasSubstr("    0s  000001 train  RUNNING       the command runs\n"));
  EXPECT_THAT(ended.err, HasSubstr("    0s  000002 eval   RUNNING       the command runs\n"));
  EXPECT_THAT(ended.err, testing::Not(HasSubstr("exit code 7"))) << "is said once";
}

TEST_F(Wait, OfSeveralJobsThoseThatDidNotSucceedAreNamedLast) {
  FillWithSweep();
  Then([](auto& store) {
    Move(store, 2, Failed(7), "exit code 7 on host 0");
    for (const int id : {1, 3, 4, 5, 6}) Move(store, id, core::Done{}, "done");
  });
  const auto ended = world_.Run({"wait", "sweep-*"});
  EXPECT_EQ(ended.exit_code, 7);
  EXPECT_THAT(ended.err, testing::EndsWith("note: 1 of 6 jobs did not succeed: job 000002 "
                                           "(sweep-2); jobman why 000002\n"));
  pauses_ = 0;
  EXPECT_THAT(world_.Run({"wait", "sweep-*", "-q"}).err, testing::IsEmpty());
  pauses_ = 0;
  EXPECT_THAT(world_.Run({"wait", "sweep-*", "--for=done"}).err,
              testing::Not(HasSubstr("did not succeed")));
  pauses_ = 0;
  EXPECT_THAT(world_.Run({"wait", "1", "3"}).err, testing::Not(HasSubstr("did not succeed")));
}

TEST_F(Wait, EachJobIsShownAsSoonAsItIsOver) {
  Then([](auto& store) { Move(store, 2, core::Done{}, "done"); });
  const auto ended = world_.Run({"wait", "1", "2"});
  EXPECT_EQ(ended.exit_code, 130);
  EXPECT_EQ(ended.out, "job 000002 (eval) is SUCCEEDED: done\n");
  pauses_ = 0;
  EXPECT_EQ(world_.Run({"wait", "1", "2", "-q"}).out, "") << "for a script, only when all are";
}

TEST_F(Wait, ForAWishAnEndIsSaidOnceToo) {
  Then([](auto& store) { Move(store, 2, core::Cancelling{}, "stopping"); });
  Then([](auto& store) {
    Move(store, 2, core::Done{.outcome = Outcome::kCancelled}, "cancelled");
    Move(store, 1, core::Done{.outcome = Outcome::kCancelled}, "cancelled");
  });
  const auto ended = world_.Run({"cancel", "1", "2", "--wait"});
  EXPECT_EQ(ended.out,
            "job 000001 (train) is CANCELLED: cancelled\n"
            "job 000002 (eval) is CANCELLED: cancelled\n");
  EXPECT_EQ(ended.err, "   10s  000002 eval   CANCELLING    stopping\n");
}

TEST_F(Wait, SaysOnceAMinuteWhatItWaitsFor) {
  for (int i = 0; i < 13; ++i) Nothing();  // of ten seconds each
  Then([](auto& store) { Move(store, 1, core::Done{}, "done"); });
  const std::string err = world_.Run({"wait", "1"}).err;
  EXPECT_THAT(err, HasSubstr("    1m  RUNNING for "));
  EXPECT_THAT(err, HasSubstr("    2m  RUNNING for "));
  EXPECT_THAT(err, HasSubstr(": waits for the next stage; next: jobman why 000001\n"));
  EXPECT_THAT(err, testing::Not(HasSubstr("    3m")));
}

TEST_F(Wait, OnATerminalTheLineIsRewrittenInPlace) {
  world_.around.err_tty = true;
  world_.around.term = "xterm";
  for (int i = 0; i < 3; ++i) Nothing();
  Then([](auto& store) { Move(store, 1, core::Done{}, "done"); });
  Nothing();
  Then([](auto& store) { Move(store, 2, core::Done{}, "done"); });
  const std::string err = world_.Run({"wait", "1", "2"}).err;
  EXPECT_THAT(err, HasSubstr("2 of 2 jobs to go: 000001 train RUNNING "));
  EXPECT_THAT(err, HasSubstr("1 of 2 jobs to go: 000002 eval RUNNING "));
  EXPECT_THAT(err, HasSubstr("\r\x1b[2K"));
}

TEST_F(Wait, ANextStepThatTheLiveLineHasNoRoomForIsSaidOnceAboveIt) {
  const auto before = world_.fill;
  world_.fill = [&before](test::MemoryStore& store) {
    before(store);
    core::BackingOff waits;
    waits.error.hint = "delete slices that you do not need, or ask for more quota in that zone";
    Move(store, 1, waits, "the quota is used up");
  };
  world_.around = {.err_tty = true, .ioctl_width = 80, .term = "xterm", .locale = "C.UTF-8"};
  for (int i = 0; i < 4; ++i) Nothing();
  const std::string err = world_.Run({"wait", "1"}).err;
  const std::string next =
      "        next: delete slices that you do not need, or ask for more quota in that\n"
      "        zone\n";
  EXPECT_THAT(err, HasSubstr(next));
  EXPECT_EQ(err.find(next), err.rfind(next)) << "once";
  EXPECT_THAT(err, testing::Not(HasSubstr("; next:"))) << err;
  pauses_ = 0;
  world_.around.ioctl_width = 200;
  EXPECT_THAT(world_.Run({"wait", "1"}).err, HasSubstr("; next: delete slices"));
}

TEST_F(Wait, OfManyJobsTheLiveLineCountsTheStates) {
  FillWithSweep();
  world_.around.err_tty = true;
  world_.around.term = "xterm";
  for (int i = 0; i < 3; ++i) Nothing();
  Then([](auto& store) {
    for (int i = 4; i <= 6; ++i) Move(store, i, core::Done{}, "done");
  });
  Nothing();
  const std::string err = world_.Run({"wait", "sweep-*"}).err;
  EXPECT_THAT(err, HasSubstr("6 of 6 jobs to go: 5 RUNNING, 1 QUEUED, 10s"));
  EXPECT_THAT(err, HasSubstr("3 of 6 jobs to go: 000001 sweep-1 QUEUED ")) << "few are named";
  pauses_ = 0;
  world_.around.ioctl_width = 32;
  EXPECT_THAT(world_.Run({"wait", "sweep-*"}).err, HasSubstr("6 of 6 jobs to go: 5 RUNNING\u2026"))
      << "no wider than the window";
}

TEST_F(Wait, InAPipeManyJobsAreCountedOnceAMinute) {
  FillWithSweep();
  for (int i = 0; i < 7; ++i) Nothing();
  EXPECT_THAT(world_.Run({"wait", "sweep-*"}).err,
              HasSubstr("    1m  6 of 6 jobs to go: 5 RUNNING, 1 QUEUED\n"));
}

TEST_F(Wait, ForAStateSucceedsAsSoonAsItIsReached) {
  EXPECT_EQ(world_.Run({"wait", "1", "--for=running"}).exit_code, 0);
  EXPECT_EQ(pauses_, 0);
  Then([](auto& store) { Move(store, 1, Failed(7), "exit code 7"); });
  EXPECT_EQ(world_.Run({"wait", "1", "--for=succeeded,FAILED"}).exit_code, 0);
}

TEST_F(Wait, JobsMayFollowTheState) {
  EXPECT_EQ(world_.Run({"wait", "--for", "running", "1", "2"}).exit_code, 0);
  EXPECT_EQ(world_.Run({"wait", "--for=failed", "--for", "running", "1"}).exit_code, 0);
}

TEST_F(Wait, ForDoneSucceedsWithEveryOutcome) {
  Then([](auto& store) { Move(store, 1, Failed(7), "exit code 7"); });
  EXPECT_EQ(world_.Run({"wait", "1", "--for=done"}).exit_code, 0);
}

TEST_F(Wait, TakesTheFamiliarWords) {
  Then([](auto& store) { Move(store, 1, Failed(7), "exit code 7, and no slice"); });
  EXPECT_EQ(world_.Run({"wait", "1", "--for", "dead"}).exit_code, 0);
}

TEST_F(Wait, AnotherOutcomeGivesTheJobsOwnExitCode) {
  Then([](auto& store) { Move(store, 1, Failed(75), "no retry is left"); });
  EXPECT_EQ(world_.Run({"wait", "1", "--for=succeeded"}).exit_code, 75);
}

TEST_F(Wait, AnUnexpectedSuccessOfTheJobIsAFailure) {
  Then([](auto& store) { Move(store, 1, core::Done{}, "done"); });
  const auto ended = world_.Run({"wait", "1", "--for=failed", "--json"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.out, HasSubstr("\"state\": \"SUCCEEDED\""));
  EXPECT_THAT(ended.out, HasSubstr("\"reached\": false"));
}

TEST_F(Wait, AJobThatIsOverInAnotherStateEndsTheWaitWithANote) {
  const auto before = world_.fill;
  world_.fill = [&](test::MemoryStore& store) {
    before(store);
    Move(store, 1, core::Done{}, "done");
  };
  const auto ended = world_.Run({"wait", "1", "--for=failed"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_EQ(pauses_, 0);
  EXPECT_EQ(ended.out, "job 000001 (train) is SUCCEEDED: done\n");
  EXPECT_THAT(ended.err,
              HasSubstr("note: job 000001 (train) is over: SUCCEEDED, not FAILED as --for asks\n"));
  const auto reached = world_.Run({"wait", "1", "--for=succeeded"});
  EXPECT_THAT(reached.err, testing::Not(HasSubstr("note:")));
  EXPECT_THAT(world_.Run({"wait", "1"}).err, testing::Not(HasSubstr("note:")));
}

TEST_F(Wait, AStateThatCameAndWentBetweenTwoPollsCounts) {
  Then([](auto& store) {
    Move(store, 1, core::BackingOff{}, "preempted");
    Move(store, 1, core::Done{}, "done");
  });
  EXPECT_EQ(world_.Run({"wait", "1", "--for=backoff"}).exit_code, 0);
}

TEST_F(Wait, SoDoesAFamiliarWordForAStateInTheJournal) {
  const auto pass = [this](core::JobState state) {
    Then([state](auto& store) {
      Move(store, 1, state, "there");
      Move(store, 1, core::Requesting{}, "requeued");
      Move(store, 1, core::Cancelling{}, "cancelled");
    });
    Nothing();
  };
  pass(core::Done{});
  EXPECT_EQ(world_.Run({"wait", "1", "--for=done"}).exit_code, 0);
  pass(core::Setup{});
  EXPECT_EQ(world_.Run({"wait", "1", "--for=running"}).exit_code, 0);
  pass(core::BackingOff{});
  EXPECT_EQ(world_.Run({"wait", "1", "--for=queueing"}).exit_code, 0);
}

TEST_F(Wait, ANewWishIsActedOnFirst) {
  const auto before = world_.fill;
  world_.fill = [&](test::MemoryStore& store) {
    before(store);
    ASSERT_TRUE(store.SetWish({1}, core::Wish::kReboot, core::SetupWish::kAsNeeded, {}).ok());
  };
  Nothing();
  Then([](auto& store) { Move(store, 1, core::Running{}, "runs again"); });
  EXPECT_EQ(world_.Run({"wait", "1", "--for=running"}).exit_code, 0);
  EXPECT_EQ(pauses_, 2) << "it ran already, but not as it was asked to";
}

TEST_F(Wait, NothingIsSaidOfTheStateBeforeAWish) {
  const auto before = world_.fill;
  world_.fill = [&](test::MemoryStore& store) {
    before(store);
    Move(store, 1, core::Done{}, "the old end");
  };
  Nothing();
  Then([](auto& store) { Move(store, 1, core::Setup{}, "its setup begins"); });
  Then([](auto& store) { Move(store, 1, core::Done{}, "the new end"); });
  const auto ended = world_.Run({"resume", "1", "--wait"});
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("SETUP         its setup begins"));
  EXPECT_THAT(ended.err, testing::Not(HasSubstr("the old end")));
}

TEST_F(Wait, InterruptedTheJobGoesOn) {
  const auto ended = world_.Run({"wait", "1"});
  EXPECT_EQ(ended.exit_code, 130);
  EXPECT_THAT(ended.err, HasSubstr("job 000001 goes on"));
}

TEST_F(Wait, TheTimeoutIsExitCode75AndNamesTheUnsettledJobs) {
  Then([](auto& store) { Move(store, 2, core::Done{}, "done"); });
  for (int i = 0; i < 10; ++i) Nothing();
  const auto ended = world_.Run({"wait", "1", "2", "--timeout", "1m"});
  EXPECT_EQ(ended.exit_code, 75);
  EXPECT_EQ(pauses_, 6);
  EXPECT_THAT(ended.err, HasSubstr("waited 1m for job 000001 to be over"));
  EXPECT_THAT(ended.err, HasSubstr("jobman why 000001"));
  EXPECT_EQ(ended.out, "job 000002 (eval) is SUCCEEDED: done\n");
}

TEST_F(Wait, BadArgumentsAreRefusedBeforeTheWait) {
  const auto state = world_.Run({"wait", "1", "--for=runing"});
  EXPECT_EQ(state.exit_code, 2);
  EXPECT_THAT(state.err, HasSubstr("--for: \"runing\" is not a status"));
  EXPECT_THAT(state.err, HasSubstr("did you mean RUNNING?"));
  for (const std::string time : {"soon", ""}) {
    const auto timeout = world_.Run({"wait", "1", "--timeout", time});
    EXPECT_EQ(timeout.exit_code, 2);
    EXPECT_THAT(timeout.err, HasSubstr("--timeout: \"" + time + "\" is not a duration\n  write "));
  }
  EXPECT_EQ(world_.Run({"wait", "77"}).exit_code, 3);
  EXPECT_EQ(pauses_, 0);
}

TEST_F(Wait, QuietPrintsOnlyTheNumbers) {
  const auto ended = world_.Run({"wait", "-q", "1", "--for=running"});
  EXPECT_EQ(ended.out, "000001\n");
  EXPECT_EQ(ended.err, "");
}

}  // namespace
}  // namespace jobman::test
