// jobman logs: of several jobs, since a time, with times.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "jobman/base/file_times.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/controller/controller.hpp"
#include "jobman/ui/text.hpp"
#include "tests/support/cli_world.hpp"

namespace jobman::test {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

class LogsOfJobs : public testing::Test {
 protected:
  LogsOfJobs() {
    world_.fill = [this](MemoryStore& store) {
      for (const std::string& name : names_) {
        const auto id = store.Create(core::Job{.name = name}, "", {});
        ASSERT_TRUE(id.ok());
        MoveTo(store, id->value, core::Running{});
      }
      ASSERT_TRUE(store.TakeLease(controller::LeaseHolder(), now(), 1h).ok());
    };
  }
  base::TimePoint now() const { return world_.clock.Now(); }
  static void MoveTo(MemoryStore& store, std::int64_t id, core::JobState state,
                     std::optional<core::Stage> stage = {}, const std::string& why = {}) {
    ports::Turn turn{.job = *store.Get({id})};
    turn.job.wish_new = false;
    turn.job.attempt = 1;
    turn.job.state = std::move(state);
    turn.job.stage = std::move(stage);
    turn.job.why = why;
    ASSERT_TRUE(store.Commit(turn, 0).ok());
  }
  /// Host `host` of the job's command wrote this so long ago.
  void Wrote(std::int64_t job, int host, const std::string& text, base::Duration ago) {
    world_.WriteLog(job, 1, "run", host, text, now() - ago);
  }
  /// Both jobs end: the first with 0, the second with 7, unless the test says otherwise.
  void EndOneAfterAnother() {
    world_.on_pause = [this](MemoryStore& store) {
      ++pauses_;
      if (pauses_ == 1) Wrote(1, 0, "more of one\n", 0s);
      if (pauses_ == 2) MoveTo(store, 2, core::Done{core::Outcome::kFailed, 7});
      if (pauses_ == 3) Wrote(1, 0, "the end of one", 0s);
      if (pauses_ == 4) MoveTo(store, 1, core::Done{});
      return pauses_ < 20;
    };
  }

  std::vector<std::string> names_ = {"one", "two"};
  CliWorld world_;
  int pauses_ = 0;
};

TEST_F(LogsOfJobs, AreShownUnderAHeadingEach) {
  Wrote(1, 0, "1", 1h);
  Wrote(2, 0, "2\n", 1h);
  const auto ended = world_.Run({"logs", "two", "one"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.out,
            "== job 000002 (two), attempt 1, run\n2\n== job 000001 (one), attempt 1, run\n1\n");
  EXPECT_EQ(ended.err, "");
  EXPECT_EQ(world_.Run({"logs", "*"}).out,
            "== job 000001 (one), attempt 1, run\n1\n== job 000002 (two), attempt 1, run\n2\n");
  EXPECT_EQ(world_.Run({"logs", "t*"}).out, "2\n") << "one job, as it is";
}

TEST_F(LogsOfJobs, WithoutOutputHaveNoHeadingAndThatIsSaid) {
  Wrote(1, 0, "1\n", 1h);
  world_.WriteLog(2, 1, "run", 0, "");
  const auto ended = world_.Run({"logs", "1", "2"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.out, "== job 000001 (one), attempt 1, run\n1\n");
  EXPECT_EQ(ended.err, "job 000002 has no output in attempt 1, run\n");
  EXPECT_EQ(world_.Run({"logs", "2", "-q"}).err, "");
  EXPECT_EQ(world_.Run({"logs", "2", "--grep", "x"}).err, ended.err) << "not that nothing matches";
  EXPECT_EQ(world_.Run({"logs", "1", "--tail", "0"}).err, "");
}

TEST_F(LogsOfJobs, OfACommandThatHasWrittenNothingYetSaySinceWhen) {
  const auto fill = world_.fill;
  world_.fill = [this, fill](MemoryStore& store) {
    fill(store);
    MoveTo(store, 1, core::Running{}, core::Stage{.name = "run", .started_at = now() - 200s});
    MoveTo(store, 2, core::Setup{},
           core::Stage{.id = core::SetupStage{}, .name = "setup-0-pip", .started_at = now() - 5s});
  };
  EXPECT_EQ(world_.Run({"logs", "2"}).err,
            "job 000002 has no output yet: setup-0-pip was started 5s ago; -f waits for it\n");
  for (const int host : {0, 3}) world_.WriteLog(1, 1, "run", host, "");
  EXPECT_EQ(world_.Run({"logs", "1"}).err,
            "job 000001 has no output yet: its command was started 3m20s ago; -f waits for it\n");
  Wrote(1, 0, "1\n", 1h);
  EXPECT_EQ(world_.Run({"logs", "1"}).err, "");
  EXPECT_EQ(world_.Run({"logs", "1", "--host", "3"}).err,
            "job 000001 has no output of host 3 yet: its command was started 3m20s ago; "
            "-f waits for it\n");
  EXPECT_EQ(world_.Run({"logs", "1", "--since", "1m"}).err,
            "job 000001 has no output since 2025-12-31 23:59:00Z; -f waits for it\n");
}

TEST_F(LogsOfJobs, WithoutALineThatMatchesHaveNoHeading) {
  Wrote(1, 0, "loss 1\n", 1h);
  Wrote(2, 0, "2\n", 1h);
  const auto one = world_.Run({"logs", "*", "--grep", "loss"});
  EXPECT_EQ(one.out, "== job 000001 (one), attempt 1, run\nloss 1\n");
  EXPECT_EQ(one.err, "");
  const auto none = world_.Run({"logs", "*", "--grep", "nonsense"});
  EXPECT_EQ(none.exit_code, 0);
  EXPECT_EQ(none.out, "");
  EXPECT_EQ(none.err, "no line matches\n");
}

TEST_F(LogsOfJobs, AreFollowedTogetherToTheWorstExitCode) {
  Wrote(1, 0, "of one\n", 1h);
  Wrote(2, 0, "of two\n", 1h);
  EndOneAfterAnother();
  const auto ended = world_.Run({"logs", "-f", "1", "2"});
  EXPECT_EQ(ended.exit_code, 7);
  EXPECT_EQ(ended.out, "one | of one\ntwo | of two\none | more of one\none | the end of one\n");
  EXPECT_THAT(ended.err, AllOf(HasSubstr("== job 000001 (one), attempt 1, run\n"),
                               HasSubstr("job 000002 (two) is FAILED\n"),
                               HasSubstr("job 000001 (one) is SUCCEEDED\n")));
  EXPECT_LT(pauses_, 10);
}

TEST_F(LogsOfJobs, OneThatIsFollowedAlonePrintsAsItWrote) {
  Wrote(1, 0, "of one\n", 1h);
  EndOneAfterAnother();
  const auto ended = world_.Run({"logs", "-f", "1"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.out, "of one\nmore of one\nthe end of one");
  EXPECT_THAT(ended.err,
              AllOf(StartsWith("== attempt 1, run\n"), HasSubstr("job 000001 is SUCCEEDED\n")));
}

TEST_F(LogsOfJobs, FollowedAndFoldedShowALineOfSeveralHostsOnce) {
  for (const int host : {0, 1, 2}) Wrote(1, host, "step 1\n", 1h);
  Wrote(1, 1, "boom\n", 1h);
  EndOneAfterAnother();
  const auto ended = world_.Run({"logs", "-f", "--fold", "1"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.out,
            "hosts 0-2 (3) | step 1\nhost 1 | boom\nhost 0 | more of one\n"
            "host 0 | the end of one\n");
}

TEST_F(LogsOfJobs, FollowedAndFoldedNameTheHostsOfALineAsJson) {
  for (const int host : {0, 1}) Wrote(1, host, "step 1\n", 1h);
  Wrote(1, 0, "loss 2\n", 1h);
  world_.on_pause = [](MemoryStore& store) {
    MoveTo(store, 1, core::Done{});
    return true;
  };
  const auto ended = world_.Run({"logs", "-f", "--fold", "--json", "--grep", "step", "1"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.out,
            "{\"job\":1,\"attempt\":1,\"stage\":\"run\",\"hosts\":[0,1],\"line\":\"step 1\"}\n");
}

TEST_F(LogsOfJobs, FoldedTheyCompareWhatIsAskedFor) {
  for (const int host : {0, 1, 2}) Wrote(1, host, "of " + std::to_string(host) + "\nstep 8\n", 1h);
  Wrote(1, 1, "boom", 1min);
  EXPECT_EQ(world_.Run({"logs", "1", "--fold", "--tail", "1"}).out,
            "hosts 0,2 (2): step 8\nhost 1: boom\n");
  EXPECT_EQ(world_.Run({"logs", "1", "--fold", "--since", "2m"}).out, "host 1: boom\n");
  EXPECT_EQ(world_.Run({"logs", "1", "--fold", "--grep", "step"}).out, "hosts 0-2 (3): step 8\n");
  EXPECT_EQ(world_.Run({"logs", "1", "--fold", "--grep", "oo"}).out, "host 1: boom\n");
  EXPECT_THAT(world_.Run({"logs", "1", "--fold", "--since", "2s"}).err,
              HasSubstr("no output since"));
  EXPECT_THAT(world_.Run({"logs", "1", "--fold", "--json", "--grep", "absent"}).out,
              HasSubstr("\"groups\": []"));
  const auto none = world_.Run({"logs", "1", "--fold", "--grep", "absent"});
  EXPECT_EQ(none.out, "");
  EXPECT_EQ(none.exit_code, world_.Run({"logs", "1", "--grep", "absent"}).exit_code);
}

TEST_F(LogsOfJobs, OfOneHostTheyAreAsItWroteThem) {
  for (const int host : {0, 1}) Wrote(1, host, "of " + std::to_string(host) + "\n", 1h);
  EXPECT_EQ(world_.Run({"logs", "1", "-w", "1"}).out, "of 1\n");
}

TEST_F(LogsOfJobs, BetweenTwoAttemptsSayEachChangeOnce) {
  const auto fill = world_.fill;
  world_.fill = [this, fill](MemoryStore& store) {
    fill(store);
    MoveTo(store, 1, core::Running{}, {}, "the command runs on 1 host");
  };
  Wrote(1, 0, "step 9\n", 1h);
  world_.on_pause = [this](MemoryStore& store) {
    ++pauses_;
    if (pauses_ == 1) MoveTo(store, 1, core::BackingOff{}, {}, "the slice was preempted");
    if (pauses_ == 3) MoveTo(store, 1, core::Waiting{}, {}, "queued in us-east5-a");
    if (pauses_ == 4) world_.WriteLog(1, 2, "run", 0, "step 0\n", now());
    if (pauses_ == 5) MoveTo(store, 1, core::Done{core::Outcome::kFailed, 7}, {}, "it failed");
    return pauses_ < 20;
  };
  const std::string changes =
      "  BACKOFF       the slice was preempted\n"
      "    0s  WAITING       queued in us-east5-a\n"
      "== attempt 2, run\n";
  const auto ended = world_.Run({"logs", "-f", "1"});
  EXPECT_THAT(ended.err, AllOf(HasSubstr(changes), Not(HasSubstr("the command runs")),
                               Not(HasSubstr("it failed")), HasSubstr("job 000001 is FAILED\n")));
  EXPECT_EQ(ended.out, "step 9\nstep 0\n");
  pauses_ = 0;
  EXPECT_EQ(world_.Run({"logs", "-f", "1", "-q"}).err, "");
}

TEST_F(LogsOfJobs, OfAJobThatWaitsBeginWithWhatItWaitsFor) {
  const auto fill = world_.fill;
  world_.fill = [this, fill](MemoryStore& store) {
    fill(store);
    MoveTo(store, 2, core::Waiting{}, {}, "queued in us-east5-a");
  };
  EXPECT_THAT(world_.Run({"logs", "-f", "1", "2"}).err,
              HasSubstr("000002 two  WAITING       queued in us-east5-a\n"));
}

TEST_F(LogsOfJobs, AnInterruptLeavesThemAlone) {
  Wrote(1, 0, "begun", 1h);
  const auto ended = world_.Run({"logs", "-f", "1", "2"});
  EXPECT_EQ(ended.exit_code, 130);
  EXPECT_EQ(ended.out, "one | begun\n");
}

TEST_F(LogsOfJobs, AsJsonSayWhoseTheyAre) {
  Wrote(1, 0, "of one\n", 1h);
  EndOneAfterAnother();
  const auto ended = world_.Run({"logs", "-f", "1", "2", "--json", "-t"});
  EXPECT_THAT(ended.out, StartsWith("{\"job\":1,\"attempt\":1,\"stage\":\"run\",\"host\":0,"
                                    "\"at\":\"2025-12-31T23:00:00.000Z\",\"line\":\"of one\"}\n"));
}

TEST_F(LogsOfJobs, SinceATimeAreWhatCameSince) {
  Wrote(1, 0, "old\n", 1h);
  Wrote(1, 0, "half of a", 20min);
  Wrote(1, 0, " line\nnew\n", 5min);
  EXPECT_EQ(world_.Run({"logs", "1", "--since", "10m"}).out, "half of a line\nnew\n");
  EXPECT_EQ(world_.Run({"logs", "1", "--since", "10m", "--tail", "1"}).out, "new\n");
  EXPECT_EQ(world_.Run({"logs", "1", "--since", "2025-12-31T22:30:00Z"}).out,
            "old\nhalf of a line\nnew\n");
  EXPECT_EQ(world_.Run({"logs", "1", "--since", "1m"}).out, "");
  EXPECT_EQ(world_.Run({"logs", "1", "--since", "10m", "--grep", "new"}).out, "new\n");
  EndOneAfterAnother();
  EXPECT_EQ(world_.Run({"logs", "1", "-f", "--since", "10m"}).out,
            "half of a line\nnew\nmore of one\nthe end of one");
}

TEST_F(LogsOfJobs, OfLinesThatMatchTheLastAreShown) {
  Wrote(1, 0, "loss 3\nloss 2\n", 1h);
  Wrote(1, 0, "loss 1\nsaving\ndone\n", 1min);
  EXPECT_EQ(world_.Run({"logs", "1", "--grep", "loss", "--tail", "1"}).out, "loss 1\n");
  EXPECT_EQ(world_.Run({"logs", "1", "--grep", "loss", "--tail", "2"}).out, "loss 2\nloss 1\n");
  EXPECT_EQ(world_.Run({"logs", "1", "--grep", "loss", "--tail", "2", "--since", "2m", "-t"}).out,
            "2025-12-31 23:59:00Z loss 1\n");
  EndOneAfterAnother();
  EXPECT_EQ(world_.Run({"logs", "1", "-f", "--grep", "loss|more", "--tail", "1"}).out,
            "loss 1\nmore of one\n");
}

TEST_F(LogsOfJobs, OfAnOlderJobmanAreShownWholeAndThatIsSaidOnce) {
  const std::string old = std::string(base::FileTimes::kMostUnrecorded, 'x') + "\nold\n";
  for (const int host : {0, 1}) world_.WriteLog(1, 1, "run", host, old);
  world_.WriteLog(2, 1, "run", 0, old);
  const auto ended = world_.Run({"logs", "1", "2", "--since", "1m"});
  EXPECT_EQ(ended.err,
            "note: it is not known when the output of job 000001 came: an older jobman fetched it; "
            "all of it is shown\n");
  EXPECT_THAT(ended.out, HasSubstr("host 0 | old\nhost 1 | xxx"));
  EXPECT_THAT(world_.Run({"logs", "1", "-t"}).err, Not(HasSubstr("all of it")));
  EXPECT_THAT(world_.Run({"logs", "1"}).err, IsEmpty());
  EXPECT_THAT(world_.Run({"logs", "-f", "1", "-t"}).err, HasSubstr("note: it is not known"));
}

/// The time of a line is when it was complete.
TEST_F(LogsOfJobs, WithTimesBeginWithThem) {
  Wrote(1, 0, "one\nt", 1h);
  Wrote(1, 0, "wo\nunfinished", 30s);
  EXPECT_EQ(world_.Run({"logs", "1", "-t"}).out,
            "2025-12-31 23:00:00Z one\n2025-12-31 23:59:30Z two\n"
            "2025-12-31 23:59:30Z unfinished\n");
  EXPECT_EQ(world_.Run({"logs", "1", "-t", "--grep", "two"}).out, "2025-12-31 23:59:30Z two\n");
  EXPECT_EQ(world_.Run({"logs", "1", "-t", "-q", "--tail", "1"}).out,
            "2025-12-31 23:59:30Z unfinished\n");
  world_.around.out_tty = true;
  world_.around.term = "xterm";
  EXPECT_THAT(world_.Run({"logs", "1", "-t"}).out,
              StartsWith("\x1b[2m2025-12-31 23:00:00Z \x1b[0mone\n"));
}

TEST_F(LogsOfJobs, ALongLineIsMarkedWhereItGoesOn) {
  Wrote(1, 0, std::string(20'000, 'x') + "\n", 1h);
  const std::string out = world_.Run({"logs", "1", "-t"}).out;
  EXPECT_THAT(out, HasSubstr("x\n2025-12-31 23:00:00Z + x"));
}

/// At 80 columns: time, job and host leave room for what the host wrote.
TEST_F(LogsOfJobs, PrefixesLeaveRoomOnATerminal) {
  names_ = {"sweep-learning-rates-0.0001", "sweep-learning-rates-0.0002"};
  world_.around.out_tty = true;
  world_.around.ioctl_width = 80;
  for (const int host : {0, 11}) Wrote(1, host, "loss\n", 1h);
  EndOneAfterAnother();
  const auto lines = base::Split(world_.Run({"logs", "-f", "1", "2", "-t"}).out, '\n');
  EXPECT_EQ(lines[0], "2025-12-31 23:00:00Z 000001 host 00 | loss");
  EXPECT_EQ(lines[1], "2025-12-31 23:00:00Z 000001 host 11 | loss");
  for (const std::string& line : lines) EXPECT_LE(ui::DisplayWidth(line), 60) << line;
}

TEST_F(LogsOfJobs, EachErrorNamesItsJobAndTheOthersAreShown) {
  Wrote(2, 0, "2\n", 1h);
  Wrote(1, 0, "1\n", 1h);
  world_.WriteLog(2, 1, "setup-0-install", 0, "installing\n");
  const auto ended = world_.Run({"logs", "1", "2", "--stage", "install"});
  EXPECT_EQ(ended.exit_code, 3);
  EXPECT_EQ(ended.out, "== job 000002 (two), attempt 1, setup-0-install\ninstalling\n");
  EXPECT_THAT(ended.err, HasSubstr("jobman: job 000001 (one): attempt 1 has no logs of stage"));
}

}  // namespace
}  // namespace jobman::test
