#include "jobman/client/last_words.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/sample_job.hpp"
#include "tests/unit/client/logs.hpp"

namespace jobman::client {
namespace {

using testing::ElementsAre;

class LastWordsTest : public testing::Test {
 protected:
  LastWordsTest() {
    job_ = test::SampleJob("train");
    job_.id = core::JobId{7};
    job_.attempt = 2;
    job_.state = core::Done{
        .outcome = core::Outcome::kFailed,
        .error = base::Error{.message = "setup-0-venv ended with exit code 1 on host 1"}};
    exits_ = {{.attempt = 1, .stage = "setup-0-venv", .host = 0, .exit_code = 9},
              {.attempt = 2, .stage = "setup-0-venv", .host = 0, .exit_code = 143},
              {.attempt = 2, .stage = "setup-0-venv", .host = 1, .exit_code = 1}};
  }
  std::optional<LastWords> Find() { return FindLastWords(logs_.paths(), job_, exits_); }

  test::Logs logs_;
  core::Job job_;
  std::vector<ports::ExitRecord> exits_;
};

TEST_F(LastWordsTest, OfATaskAreThoseOfTheHostThatFailed) {
  const auto write = [this](int host, const std::string& text) {
    const auto path = logs_.paths().TaskLogPath(3, "lr1", {.number = 2, .job = 7}, host);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
  };
  write(1, "stopped\n");
  write(11, "step 1\nno such branch\n");
  core::TaskRun run{.number = 2, .job = core::JobId{7}};
  EXPECT_FALSE(FindTaskWords(logs_.paths(), core::QueueId{3}, "lr1", run)) << "it goes on";
  run.end = core::TaskEnd{.kind = core::TaskEndKind::kFailed, .why = "exit code 78 on host 11"};
  const auto words = FindTaskWords(logs_.paths(), core::QueueId{3}, "lr1", run);
  ASSERT_TRUE(words);
  EXPECT_EQ(words->host, 11);
  EXPECT_EQ(words->stage, "task-lr1-2");
  EXPECT_THAT(words->lines, ElementsAre("step 1", "no such branch"));
}

TEST_F(LastWordsTest, AreTheLastLinesOfTheHostThatFailed) {
  logs_.WriteLog(7, 2, "setup-0-venv", 0, "stopped\n");
  logs_.WriteLog(7, 2, "setup-0-venv", 1,
                 std::string(9000, 'x') + "\n1\n2\n\n 10%\r 20%\r3\n4\n\x1b[31mno such package\n");
  EXPECT_EQ(Find()->host, 1);
  EXPECT_EQ(Find()->stage, "setup-0-venv");
  EXPECT_THAT(Find()->lines, ElementsAre("1", "2", "3", "4", "?[31mno such package"));
}

TEST_F(LastWordsTest, OfAJobThatTriesAgainToo) {
  logs_.WriteLog(7, 2, "setup-0-venv", 1, "why");
  exits_[2].exit_code = 75;
  job_.state = core::BackingOff{
      .error = base::Error{.message = "setup-0-venv ended with exit code 75 on host 1"}};
  EXPECT_THAT(Find()->lines, ElementsAre("why"));
}

/// JAX ends the others, too, and each writes that it lost the coordinator.
TEST_F(LastWordsTest, AreThoseOfTheHostThatTheErrorNames) {
  exits_.insert(exits_.begin(),
                {.attempt = 2, .stage = "setup-0-venv", .host = 0, .exit_code = 134});
  logs_.WriteLog(7, 2, "setup-0-venv", 0, "lost the coordinator\n");
  logs_.WriteLog(7, 2, "setup-0-venv", 1, "the cause\n");
  EXPECT_THAT(Find()->lines, ElementsAre("the cause"));
}

TEST_F(LastWordsTest, AHostIsNotTakenForAnotherWithMoreDigits) {
  exits_.push_back({.attempt = 2, .stage = "setup-0-venv", .host = 12, .exit_code = 1});
  job_.state = core::BackingOff{
      .error = base::Error{.message = "setup-0-venv ended with exit code 1 on host 12, after"}};
  logs_.WriteLog(7, 2, "setup-0-venv", 1, "stopped\n");
  logs_.WriteLog(7, 2, "setup-0-venv", 12, "the cause\n");
  EXPECT_THAT(Find()->lines, ElementsAre("the cause"));
}

TEST_F(LastWordsTest, OfAFailureThatAnOlderJobmanRecorded) {
  std::get<core::Done>(job_.state).error->message = "host 1 ended setup-0-venv with exit code 1";
  logs_.WriteLog(7, 2, "setup-0-venv", 1, "why\n");
  EXPECT_THAT(Find()->lines, ElementsAre("why"));
}

TEST_F(LastWordsTest, AreCutBetweenCharacters) {
  std::string bar;
  for (int i = 0; i < 100; ++i) bar += "\u2501";
  logs_.WriteLog(7, 2, "setup-0-venv", 1, bar + "\n");
  const std::string line = Find()->lines.at(0);
  EXPECT_EQ(line, bar.substr(0, 198) + "...");
}

TEST_F(LastWordsTest, KeepTheirIndentation) {
  logs_.WriteLog(
      7, 2, "setup-0-venv", 1,
      "  File \"train.py\"\r\n    loss = 1 / zero\r\n           ~~^~~~~~  \n \t \nwhy\n");
  EXPECT_THAT(Find()->lines, ElementsAre("  File \"train.py\"", "    loss = 1 / zero",
                                         "           ~~^~~~~~", "why"));
}

TEST_F(LastWordsTest, ThereAreNoneWhereNoExitCodeIsTheCause) {
  EXPECT_FALSE(Find()) << "it wrote nothing";
  logs_.WriteLog(7, 2, "setup-0-venv", 1, "why\n");
  ASSERT_TRUE(Find());
  job_.state = core::Running{};
  EXPECT_FALSE(Find());
  job_.state = core::BackingOff{.error = base::Error{.message = "slice x was preempted"}};
  EXPECT_FALSE(Find());
  job_.state = core::Done{.outcome = core::Outcome::kSucceeded};
  EXPECT_FALSE(Find());
}

TEST_F(LastWordsTest, TheLastOutputIsThatOfTheHostThatWroteLast) {
  job_.state = core::Running{};
  EXPECT_FALSE(FindLastOutput(logs_.paths(), job_)) << "nothing runs";
  job_.stage = core::Stage{.name = "run"};
  EXPECT_FALSE(FindLastOutput(logs_.paths(), job_)) << "nothing was written";
  logs_.WriteLog(7, 2, "run", 0, "step 1\n");
  logs_.WriteLog(7, 2, "run", 1, "step 1\n  \x1b[1mstep 2\n");
  const auto past = std::filesystem::file_time_type::clock::now() - std::chrono::hours{1};
  std::filesystem::last_write_time(logs_.paths().LogPath(7, 2, "run", 0), past);
  const auto output = FindLastOutput(logs_.paths(), job_);
  ASSERT_TRUE(output);
  EXPECT_EQ(output->host, 1);
  EXPECT_EQ(output->line, "?[1mstep 2");
  EXPECT_EQ(LastOutputText(*output, output->at + std::chrono::seconds{12}),
            "12s ago, host 1: ?[1mstep 2");
  EXPECT_EQ(LastOutputText(*output, output->at + std::chrono::milliseconds{4200}),
            "4s ago, host 1: ?[1mstep 2");
}

TEST_F(LastWordsTest, TheFinalOutputIsThatOfTheLastStageOfTheLastAttemptWithLogs) {
  logs_.WriteLog(7, 1, "run", 0, "first try\n");
  EXPECT_EQ(FindFinalOutput(logs_.paths(), job_)->line, "first try") << "the next wrote nothing";
  logs_.WriteLog(7, 2, "setup-0-venv", 0, "installed\n");
  EXPECT_EQ(FindFinalOutput(logs_.paths(), job_)->line, "installed");
  logs_.WriteLog(7, 2, "run", 3, "step 9\ndone\n");
  EXPECT_EQ(FindFinalOutput(logs_.paths(), job_)->line, "done");
  EXPECT_EQ(FindFinalOutput(logs_.paths(), job_)->host, 3);
  job_.state = core::Running{};
  EXPECT_FALSE(FindFinalOutput(logs_.paths(), job_)) << "it is not over";
}

}  // namespace
}  // namespace jobman::client
