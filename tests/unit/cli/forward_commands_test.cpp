// jobman forward: its words, and what is shown of forwards in the background.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "jobman/base/files.hpp"
#include "tests/support/cli_world.hpp"

namespace jobman::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ForwardCommands : public testing::Test {
 protected:
  /// The record of a process on another machine, where no lock of it can be seen.
  void ForwardElsewhere() {
    const base::Path folder = world_.paths().ForwardsDir();
    ASSERT_TRUE(base::EnsureDir(folder).ok());
    const std::int64_t since = base::ToMillis(world_.clock.Now()) - 90'000;
    std::ofstream(folder / "0a.json")
        << R"({"process": "laptop:boot/pid-[1]:4711:99:abcd", "job": 42, "name": "tr\u001b[31main",
               "host": 3, "ports": [{"local": 8080, "remote": 80}, {"local": 6006, "remote": 6006}],
               "since": )"
        << since << "}\n";
  }
  CliWorld world_;
};

TEST_F(ForwardCommands, NeedAJobAndAPort) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"forward"}, {"forward", "train"}, {"forward", "-w", "1"}}) {
    const auto ended = world_.Run(words);
    EXPECT_EQ(ended.exit_code, 2);
    EXPECT_THAT(ended.err, HasSubstr("required\n  jobman forward JOB 6006"));
  }
  const auto unknown = world_.Run({"forward", "train", "6006", "--zzzzzz"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err,
              AllOf(HasSubstr("jobman forward --help"), Not(HasSubstr("has the commands"))));
}

TEST_F(ForwardCommands, AJobWithTheNameOfOneIsNamedByItsNumber) {
  for (const char* command : {"list", "stop"}) {
    const auto ended = world_.Run({"forward", "42", command, "6006"});
    EXPECT_EQ(ended.exit_code, 2) << command;
  }
  const auto ended = world_.Run({"forward", "list", "6006"});
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_THAT(ended.err, HasSubstr("a job with the name list is named by its number"));
}

TEST_F(ForwardCommands, SayThatNothingRuns) {
  const auto listed = world_.Run({"forward", "list"});
  EXPECT_EQ(listed.exit_code, 0);
  EXPECT_EQ(listed.out, "");
  EXPECT_THAT(listed.err, HasSubstr("nothing is forwarded in the background"));
  const auto json = base::ParseJson(world_.Run({"--json", "forward", "list"}).out);
  ASSERT_TRUE(json.ok());
  EXPECT_EQ(*json, base::Json({{"forwards", base::Json::array()}, {"ended", base::Json::array()}}));
  EXPECT_EQ(world_.Run({"forward", "stop", "all"}).exit_code, 0);
  EXPECT_EQ(world_.Run({"forward", "stop", "6006"}).exit_code, 3);
  EXPECT_EQ(world_.Run({"forward", "stop"}).exit_code, 2);
}

TEST_F(ForwardCommands, ShowThoseOfOtherMachinesAndLeaveThemAlone) {
  ForwardElsewhere();
  const auto listed = world_.Run({"forward", "list"});
  EXPECT_EQ(listed.exit_code, 0) << listed.err;
  EXPECT_EQ(listed.out,
            "ADDRESS         JOB     NAME        HOST  PORT    FOR  PROCESS\n"
            "127.0.0.1:8080  000042  tr?[31main     3    80  1m30s  process 4711 on laptop\n"
            "127.0.0.1:6006  000042  tr?[31main     3  6006  1m30s  process 4711 on laptop\n");
  EXPECT_EQ(world_.Run({"-q", "forward", "list"}).out, "127.0.0.1:8080\n127.0.0.1:6006\n");
  const auto json = base::ParseJson(world_.Run({"--json", "forward", "list"}).out);
  ASSERT_TRUE(json.ok());
  const base::Json& one = base::GetMember(*json, "forwards").at(0);
  EXPECT_EQ(base::GetInt(one, "job"), 42);
  EXPECT_EQ(base::GetInt(one, "process"), 4711);
  EXPECT_FALSE(base::GetBool(one, "here"));
  EXPECT_EQ(base::GetString(one.at("forwards").at(0), "local"), "127.0.0.1:8080");
  EXPECT_THAT(base::GetString(one, "log"), HasSubstr("forwards/0a.log"));
  const auto stopped = world_.Run({"forward", "stop", "42", "6006"});
  EXPECT_EQ(stopped.exit_code, 2);
  EXPECT_THAT(stopped.err, HasSubstr("it runs elsewhere: process 4711 on laptop"));
  EXPECT_EQ(world_.Run({"-q", "forward", "list"}).out, "127.0.0.1:8080\n127.0.0.1:6006\n");
  const auto offers = world_.Run({"__complete", "forward", "stop", ""}).out;
  EXPECT_THAT(offers, AllOf(HasSubstr("8080\tof job 000042\n"), HasSubstr("all\t")));
}

}  // namespace
}  // namespace jobman::test
