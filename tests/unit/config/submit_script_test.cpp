// task submit SCRIPT: a script with #JOBMAN lines becomes a task.
#include <gmock/gmock.h>

#include "jobman/config/submit.hpp"
#include "tests/unit/config/support.hpp"

namespace jobman::config {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kPlace = "#JOBMAN --accelerator=v4-8 --zone=us-central2-b\n";

TaskScriptRequest ScriptOf(std::string text, SubmitOptions options = {}) {
  return {.file = "jobs/train.sh", .text = std::move(text), .options = std::move(options)};
}
std::string TextOf(const std::vector<Problem>& problems) {
  std::string text;
  for (const Problem& problem : problems) text += RenderProblem(problem);
  return text;
}
std::string RefusalOfScript(const TaskScriptRequest& request) {
  const Submission result = ReadTaskScript(request);
  EXPECT_EQ(result.tasks.empty(), !result.problems.empty());
  return TextOf(result.problems);
}
/// The task that the script becomes; it must become one.
core::TaskDefinition TaskOf(const TaskScriptRequest& request) {
  const Submission result = ReadTaskScript(request);
  EXPECT_EQ(TextOf(result.problems), "");
  return result.tasks.empty() ? core::TaskDefinition{} : result.tasks.front();
}

TEST(SubmitScript, ItsLinesSayWhatTheTaskIs) {
  const std::string text =
      "#!/bin/bash\n# of June\n#JOBMAN --accelerator=v4-8 --zone us-central2-b\n"
      "#JOBMAN --name=lr1   --max-retries=7\n\npython train.py\n";
  const Submission result = ReadTaskScript(ScriptOf(text));
  ASSERT_THAT(result.tasks, SizeIs(1)) << TextOf(result.problems);
  EXPECT_EQ(result.tasks[0], (core::TaskDefinition{.id = "lr1",
                                                   .accelerator = "v4-8",
                                                   .zone = "us-central2-b",
                                                   .run = text,
                                                   .max_retries = 7}));
  EXPECT_TRUE(result.numbered) << "the script may be submitted again";
  EXPECT_THAT(result.warnings, IsEmpty());
}

TEST(SubmitScript, RunsOnTheFirstHostAndMayFailThreeTimes) {
  const auto task = TaskOf(ScriptOf(std::string(kPlace) + "true\n"));
  EXPECT_EQ(task.workers, (core::HostSet{.all = false, .numbers = {0}}));
  EXPECT_EQ(task.max_retries, 3);
}

TEST(SubmitScript, OptionsBeatItsLines) {
  const SubmitOptions options{
      .accelerator = "v4-16", .zone = "us-east5-a", .name = "mine", .max_retries = "0"};
  const auto request =
      ScriptOf(std::string(kPlace) + "#JOBMAN --name=a --max-retries=9\ntrue\n", options);
  const auto task = TaskOf(request);
  EXPECT_EQ(task.accelerator, "v4-16");
  EXPECT_EQ(task.zone, "us-east5-a");
  EXPECT_EQ(task.id, "mine");
  EXPECT_EQ(task.max_retries, 0);
  EXPECT_FALSE(ReadTaskScript(request).numbered) << "the user has said the id";
}

TEST(SubmitScript, WithoutANameItIsCalledAsItsFile) {
  EXPECT_EQ(TaskOf(ScriptOf(std::string(kPlace) + "true\n")).id, "train");
  TaskScriptRequest piped = ScriptOf(std::string(kPlace) + "true\n");
  piped.file = "-";
  EXPECT_EQ(TaskOf(piped).id, "task");
}

TEST(SubmitScript, WhatOnlyAWorkerHasIsPassedOverByName) {
  const Submission result = ReadTaskScript(
      ScriptOf(std::string(kPlace) + "#JOBMAN --pricing=spot --tpu-version=tpu-ubuntu2204-base\n"
                                     "#JOBMAN --mail-user=ada@example.com --mail-type=END,FAIL\n"
                                     "true\n"));
  EXPECT_THAT(result.tasks, SizeIs(1));
  const std::string text = TextOf(result.warnings);
  for (const char* name : {"--pricing", "--tpu-version", "--mail-user", "--mail-type"})
    EXPECT_THAT(text, HasSubstr(std::string(name) + " is passed over"));
  EXPECT_THAT(text, AllOf(HasSubstr("jobman worker start"), HasSubstr("on.task_failed")));
}

TEST(SubmitScript, ALineAfterTheFirstCommandIsPassedOverAndSaid) {
  const Submission result =
      ReadTaskScript(ScriptOf(std::string(kPlace) + "true\n#JOBMAN --name=late\n"));
  ASSERT_THAT(result.tasks, SizeIs(1));
  EXPECT_EQ(result.tasks[0].id, "train");
  EXPECT_THAT(TextOf(result.warnings), HasSubstr("train.sh:3:1: #JOBMAN --name=late"));
}

TEST(SubmitScript, SaysWhatIsMissing) {
  EXPECT_THAT(RefusalOfScript(ScriptOf("true\n")),
              AllOf(HasSubstr("--accelerator is missing"), HasSubstr("--zone is missing"),
                    HasSubstr("#JOBMAN --zone=us-central2-b")));
}

TEST(SubmitScript, RefusesWhatItDoesNotKnowWithItsPlace) {
  EXPECT_THAT(RefusalOfScript(ScriptOf("#JOBMAN --acelerator=v4-8 --zone=us-central2-b\ntrue\n")),
              AllOf(HasSubstr("jobs/train.sh:1:9"), HasSubstr("did you mean --accelerator?")));
  EXPECT_THAT(RefusalOfScript(ScriptOf(std::string(kPlace) + "#JOBMAN --name=\ntrue\n")),
              HasSubstr("--name needs a value"));
  EXPECT_THAT(RefusalOfScript(ScriptOf(std::string(kPlace) + "#JOBMAN --name=a/b\ntrue\n")),
              HasSubstr("cannot be the id of a task"));
  EXPECT_THAT(RefusalOfScript(ScriptOf(std::string(kPlace) + "true\n", {.max_retries = "-1"})),
              HasSubstr("\"-1\" is no number"));
  EXPECT_THAT(RefusalOfScript(ScriptOf(std::string(kPlace) + "true\n", {.zone = "us-central2"})),
              HasSubstr("--zone"));
}

TEST(SubmitScript, RefusesWhatIsNoScript) {
  EXPECT_THAT(RefusalOfScript(ScriptOf(" \n")), HasSubstr("the script is empty"));
  EXPECT_THAT(RefusalOfScript(ScriptOf(std::string("a\0b", 3))), HasSubstr("UTF-8"));
  EXPECT_THAT(RefusalOfScript(ScriptOf("\xff\xfe")), HasSubstr("UTF-8"));
  EXPECT_THAT(RefusalOfScript(ScriptOf(kPlace + std::string(kLongestTaskScript, 'x'))),
              AllOf(HasSubstr("longer than 256 KiB"), HasSubstr("files that it fetches")));
  TaskScriptRequest missing{.file = "/nowhere/a.sh"};
  EXPECT_THAT(RefusalOfScript(missing), HasSubstr("/nowhere/a.sh"));
}

TEST(SubmitScript, ArgumentsAreGivenByALineAtItsHead) {
  auto request = ScriptOf("#!/bin/bash\n" + std::string(kPlace) + "echo \"$1\"\n");
  request.arguments = {"--lr", "a b"};
  EXPECT_EQ(TaskOf(request).run,
            "#!/bin/bash\nset -- --lr 'a b'\n" + std::string(kPlace) + "echo \"$1\"\n");
  request.text = "#!/usr/bin/env python3\n" + std::string(kPlace) + "print(1)\n";
  EXPECT_THAT(RefusalOfScript(request), HasSubstr("no script for a shell"));
  request.arguments.clear();
  EXPECT_EQ(TaskOf(request).run, *request.text) << "it keeps its interpreter";
}

TEST(SubmitScript, LinesMayEndAsThoseOfWindowsDo) {
  EXPECT_EQ(TaskOf(ScriptOf("#JOBMAN --accelerator=v4-8 --zone=us-central2-b\r\ntrue\r\n")).zone,
            "us-central2-b");
}

}  // namespace
}  // namespace jobman::config
