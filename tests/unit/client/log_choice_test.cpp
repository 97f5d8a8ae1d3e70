#include "jobman/client/log_choice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/client/logs.hpp"

namespace jobman::client {
namespace {

using testing::ElementsAre;

/// Job 1: attempt 1 ended in setup, attempt 2 runs its command on hosts 0 and 2.
class LogChoice : public testing::Test {
 protected:
  LogChoice() {
    logs_.WriteLog(1, 1, "setup-0-fetch", 0, "x");
    logs_.WriteLog(1, 1, "setup-1-install", 0, "x");
    logs_.WriteLog(1, 2, "setup-0-fetch", 0, "x");
    for (const int host : {2, 0}) logs_.WriteLog(1, 2, "run", host, "x");
  }
  base::Result<std::optional<ChosenLogs>> Choose(const LogQuery& query) {
    return ChooseLogs(logs_.paths(), {1}, query);
  }
  LogStage StageOf(const LogQuery& query) {
    const auto chosen = Choose(query);
    return chosen.ok() && *chosen ? (*chosen)->stage : LogStage{};
  }
  std::vector<int> HostsOf(const LogQuery& query) {
    std::vector<int> hosts;
    const auto chosen = Choose(query);
    if (!chosen.ok() || !*chosen) return hosts;
    for (const LogFile& file : (*chosen)->files) hosts.push_back(file.host);
    return hosts;
  }
  base::Error Refused(const LogQuery& query) {
    const auto chosen = Choose(query);
    return chosen.ok() ? base::Error{.message = "chosen"} : chosen.error();
  }
  LogFollower::Options From(core::JobState state, int attempt, const LogQuery& query = {}) {
    core::Job job{.id = {1}};
    job.state = std::move(state);
    job.attempt = attempt;
    return FollowFrom(logs_.paths(), job, query);
  }
  test::Logs logs_ = {};
};

TEST_F(LogChoice, TheStageThatRanLastInTheLatestAttempt) {
  EXPECT_EQ(StageOf({}), (LogStage{2, "run"}));
  EXPECT_EQ(StageOf({.attempt = 1}), (LogStage{1, "setup-1-install"}));
  EXPECT_THAT(HostsOf({}), ElementsAre(0, 2));
}

TEST_F(LogChoice, TheStageOfThatName) {
  EXPECT_EQ(StageOf({.stage = "fetch"}), (LogStage{2, "setup-0-fetch"}));
  EXPECT_EQ(StageOf({.attempt = 1, .stage = "setup-0-fetch"}), (LogStage{1, "setup-0-fetch"}));
}

TEST_F(LogChoice, OnlyTheHostsOfTheQuery) {
  EXPECT_THAT(HostsOf({.hosts = {.all = false, .numbers = {2}}}), ElementsAre(2));
}

TEST_F(LogChoice, WhatIsMissingIsNamedWithWhatThereIs) {
  const base::Error attempt = Refused({.attempt = 7});
  EXPECT_EQ(attempt.code, base::Code::kNotFound);
  EXPECT_EQ(attempt.message, "attempt 7 has no logs");
  EXPECT_EQ(attempt.hint, "there is: 1, 2");
  const base::Error stage = Refused({.stage = "install"});
  EXPECT_EQ(stage.message, "attempt 2 has no logs of stage \"install\"");
  EXPECT_EQ(stage.hint, "there is: setup-0-fetch, run");
  const base::Error host = Refused({.hosts = {.all = false, .numbers = {0, 1}}});
  EXPECT_EQ(host.message, "host 1 left no log in attempt 2, run");
  EXPECT_EQ(host.hint, "there are logs of hosts 0,2");
  LogQuery of_one{.attempt = 1};
  of_one.hosts = {.all = false, .numbers = {1}};
  EXPECT_EQ(Refused(of_one).hint, "there is a log of host 0");
}

TEST_F(LogChoice, AJobMayHaveNoLogsYet) {
  const auto none = ChooseLogs(logs_.paths(), {9}, {});
  ASSERT_TRUE(none.ok());
  EXPECT_FALSE(*none);
  EXPECT_EQ(ChooseLogs(logs_.paths(), {9}, {.attempt = 1}).error().hint, "there are no logs");
}

TEST_F(LogChoice, FollowingBeginsAtTheStageThatRunsNow) {
  const auto from = From(core::Running{}, 2);
  EXPECT_EQ(from.first_attempt, 2);
  EXPECT_EQ(from.first_stage, "run");
  EXPECT_EQ(from.only_attempt, std::nullopt);
  EXPECT_EQ(from.only_stage, std::nullopt);
}

TEST_F(LogChoice, FollowingBeginsWithTheAttemptThatHasNoLogsYet) {
  const auto from = From(core::BackingOff{}, 3);
  EXPECT_EQ(from.first_attempt, 3);
  EXPECT_EQ(from.first_stage, "");
  EXPECT_EQ(From(core::Queued{}, 0).first_attempt, 1);
}

TEST_F(LogChoice, FollowingAJobThatIsOverBeginsWithTheLastAttemptThatHasLogs) {
  EXPECT_EQ(From(core::Done{}, 3).first_attempt, 2);
}

TEST_F(LogChoice, FollowingTakesAttemptAndStageFromTheQuery) {
  const auto from = From(core::Running{}, 2, {.attempt = 1, .stage = "fetch"});
  EXPECT_EQ(from.first_attempt, 1);
  EXPECT_EQ(from.only_attempt, 1);
  EXPECT_EQ(from.only_stage, "fetch");
}

}  // namespace
}  // namespace jobman::client
