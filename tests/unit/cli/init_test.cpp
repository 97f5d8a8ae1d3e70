#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>

#include "jobman/base/handle.hpp"
#include "tests/support/cli_world.hpp"

namespace jobman::test {
namespace {

using testing::HasSubstr;

class Init : public testing::Test {
 protected:
  Init() { std::filesystem::create_directories(world_.paths().home); }
  std::string file_name() const { return (world_.paths().home / "job.yaml").string(); }
  std::string Content() const {
    std::ostringstream text;
    text << std::ifstream(file_name()).rdbuf();
    return text.str();
  }
  CliWorld world_;
};

TEST_F(Init, WhatItWritesIsAValidJobFile) {
  EXPECT_EQ(world_.Run({"init", file_name(), "--cloud", "local", "--name", "hello"}).exit_code, 0);
  const auto check = world_.Run({"config", "check", file_name()});
  EXPECT_EQ(check.exit_code, 0) << check.out << check.err;
  EXPECT_THAT(check.out, HasSubstr("job hello is valid"));
}

TEST_F(Init, IsSafeToRepeatAndNeverLosesAnotherFile) {
  ASSERT_EQ(world_.Run({"init", file_name()}).exit_code, 0);
  EXPECT_EQ(world_.Run({"init", file_name()}).exit_code, 0);
  std::ofstream(file_name()) << "mine\n";
  const auto refused = world_.Run({"init", file_name()});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--force"));
  EXPECT_EQ(Content(), "mine\n");
  EXPECT_EQ(world_.Run({"init", file_name(), "--force"}).exit_code, 0);
  EXPECT_NE(Content(), "mine\n");
}

TEST_F(Init, ValuesThatNoJobFileMayHaveAreRefused) {
  const auto refusal = [&](const std::string& flag, const std::string& value) {
    const auto ended = world_.Run({"init", file_name(), flag, value});
    EXPECT_EQ(ended.exit_code, 2) << flag;
    EXPECT_FALSE(std::filesystem::exists(file_name())) << flag;
    return ended.err;
  };
  EXPECT_THAT(refusal("--pricing", "cheap"), HasSubstr("--pricing: \"cheap\" is not one of: spot"));
  EXPECT_THAT(refusal("--accelerator", "v4-7"), HasSubstr("--accelerator: "));
  EXPECT_THAT(refusal("--zone", "us-central2"), HasSubstr("--zone: \"us-central2\" is a region"));
  EXPECT_THAT(refusal("--zone", "us-central2-2"), HasSubstr("is not a zone"));
  EXPECT_THAT(refusal("--cloud", "lokal"), HasSubstr("did you mean local?"));
  EXPECT_THAT(refusal("--name", "-x"), HasSubstr("begins with '-'"));
  EXPECT_THAT(refusal("--name", "\xe9t\xe9"), HasSubstr("a byte that is not UTF-8"));
}

TEST_F(Init, ANameIsKeptAsItIsGiven) {
  for (const std::string name : {"été", "my job: 1", "007", "yes", "null"}) {
    ASSERT_EQ(
        world_.Run({"init", file_name(), "--force", "--cloud", "local", "--name", name}).exit_code,
        0);
    EXPECT_THAT(world_.Run({"config", "check", file_name()}).out,
                HasSubstr("job " + name + " is valid"));
  }
}

TEST_F(Init, ADashWritesToStdout) {
  const auto ended = world_.Run({"init", "-"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_THAT(ended.out, HasSubstr("command:"));
  EXPECT_FALSE(std::filesystem::exists(file_name()));
}

TEST_F(Init, AWrongFileIsNamedWithLineAndExitCodeTwo) {
  std::ofstream(file_name()) << "job:\n  nmae: x\n";
  const auto text = world_.Run({"config", "check", file_name()});
  EXPECT_EQ(text.exit_code, 2);
  EXPECT_THAT(text.out, HasSubstr("job.yaml:2:3"));
  const auto json = base::ParseJson(world_.Run({"config", "check", "--json", file_name()}).out);
  ASSERT_TRUE(json.ok());
  const base::Json& file = base::GetMember(*json, "files")[0];
  EXPECT_FALSE(base::GetBool(file, "valid"));
  const base::Json& problems = base::GetMember(file, "problems");
  EXPECT_TRUE(std::any_of(problems.begin(), problems.end(), [](const base::Json& problem) {
    return base::GetInt(problem, "line") == 2 && base::GetInt(problem, "column") == 3;
  }));
  EXPECT_EQ(world_.Run({"config", "show", file_name()}).exit_code, 2);
}

TEST_F(Init, ConfigShowCanBeLoadedAgainAndShowsOrigins) {
  ASSERT_EQ(world_.Run({"init", file_name(), "--cloud", "local"}).exit_code, 0);
  const auto shown = world_.Run({"config", "show", file_name(), "--set", "tpu.accelerator=v4-16"});
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("v4-16"));
  const std::string again = file_name() + ".2";
  std::ofstream(again) << shown.out;
  EXPECT_EQ(world_.Run({"config", "show", again}).out, shown.out);
  EXPECT_THAT(world_.Run({"config", "show", "--origins", file_name()}).out, HasSubstr("job.yaml:"));
}

TEST_F(Init, AFileIsCheckedAndShownWithoutAProject) {
  for (const char* const name :
       {"GOOGLE_CLOUD_PROJECT", "CLOUDSDK_CORE_PROJECT", "JOBMAN_ENDPOINT"})
    ::unsetenv(name);
  ::setenv("CLOUDSDK_CONFIG", world_.paths().home.c_str(), 1);  // no gcloud
  std::ofstream(file_name()) << "tpu: {accelerator: v4-8, zone: us-central2-b}\n"
                                "command: {cmd: hostname}\n";
  const auto checked = world_.Run({"config", "check", file_name()});
  EXPECT_EQ(checked.exit_code, 0);
  EXPECT_THAT(checked.out, HasSubstr("warning: tpu.project is missing"));
  EXPECT_THAT(checked.out, HasSubstr("job job is valid, 12.88 USD/h\n"));
  const auto shown = world_.Run({"config", "show", file_name()});
  EXPECT_EQ(shown.exit_code, 0);
  EXPECT_THAT(shown.out, testing::Not(HasSubstr("project:")));
  EXPECT_THAT(shown.err, HasSubstr("nothing names a project"));
  const auto created = world_.Run({"create", file_name()});
  EXPECT_EQ(created.exit_code, 2);
  EXPECT_THAT(created.err, HasSubstr("tpu.project is missing"));
  ::unsetenv("CLOUDSDK_CONFIG");
}

TEST_F(Init, ACheckSaysWhatTheSlicesCostTogether) {
  std::ofstream(file_name()) << "job: {name: lrs}\nmatrix: {lr: [1, 2]}\n"
                                "tpu: {accelerator: v4-8, zone: us-central2-b, project: demo}\n";
  EXPECT_THAT(world_.Run({"config", "check", file_name()}).out,
              HasSubstr("lrs-0 and lrs-1, 25.76 USD/h\n"));
  const auto json = world_.Run({"--json", "config", "check", file_name()}).out;
  EXPECT_THAT(json, HasSubstr("\"usd_per_hour\": 25.76"));
  const auto odd = world_.Run({"config", "check", file_name(), "--set", "tpu.zone=us-east9-a"});
  EXPECT_THAT(odd.out, HasSubstr("lrs-0 and lrs-1\n")) << "no price is known";
}

TEST_F(Init, ACheckNamesAllJobsOfAFile) {
  const auto check = [&](const std::string& values) {
    std::ofstream(file_name()) << "job: {name: lrs}\ncloud: local\nmatrix: {lr: [" + values +
                                      "]}\ntpu: {accelerator: v4-8, zone: us-central2-b}\n"
                                      "command: {cmd: hostname}\n";
    return world_.Run({"config", "check", file_name()}).out;
  };
  EXPECT_THAT(check("1, 2, 3, 4, 5"), HasSubstr(": 5 jobs are valid: lrs-0 to lrs-4\n"));
  EXPECT_THAT(check("1, 2"), HasSubstr(": 2 jobs are valid: lrs-0 and lrs-1\n"));
  EXPECT_THAT(check("1"), HasSubstr(": job lrs-0 is valid\n"));
}

/// As of <(...): what it says can be read once, and each job is made of all of it.
TEST_F(Init, ACheckReadsAPipeOnce) {
  const std::string text =
      "job: {name: lrs}\ncloud: local\nmatrix: {lr: [1, 2]}\n"
      "tpu: {accelerator: v4-8, zone: us-central2-b}\ncommand: {cmd: hostname}\n";
  std::array<int, 2> ends = {-1, -1};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const base::UniqueFd read(ends[0]);
  ASSERT_EQ(::write(ends[1], text.data(), text.size()), std::ssize(text));
  ::close(ends[1]);
  const auto check = world_.Run({"config", "check", "/dev/fd/" + std::to_string(read.get())});
  EXPECT_EQ(check.exit_code, 0) << check.out;
  EXPECT_THAT(check.out, HasSubstr(": 2 jobs are valid: lrs-0 and lrs-1\n"));
}

TEST_F(Init, ConfigExplainDescribesKeysAndSuggestsSimilarOnes) {
  EXPECT_THAT(world_.Run({"config", "explain", "tpu.zone"}).out, HasSubstr("tpu.zone"));
  EXPECT_EQ(world_.Run({"config", "explain"}).exit_code, 0);
  EXPECT_NE(world_.Run({"config", "explain", "tpu.zoen"}).exit_code, 0);
}

}  // namespace
}  // namespace jobman::test
