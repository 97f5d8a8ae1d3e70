// Queue files: what is accepted, what refuses one task, and what refuses the file.
#include "jobman/config/queue_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/config/support.hpp"

namespace jobman::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

QueueFileResult ReadQueue(const std::string& text, testing::Environment env = {}) {
  return ReadQueueFile(
      {.file = "/q/tasks.yaml", .text = text, .defaults = testing::TestDefaults(std::move(env))});
}

std::string ShownOf(const std::vector<Problem>& problems) {
  std::string text;
  for (const Problem& problem : problems) text += RenderProblem(problem);
  return text;
}

/// A queue file with these lines as its tasks, of v4-8.
std::string WithTasks(const std::string& tasks) {
  return "repos: {maxtext: 'https://github.com/me/maxtext.git'}\n"
         "defaults: {zone: us-central2-b}\n"
         "accelerators:\n"
         "  v4-8:\n"
         "    tasks:\n" +
         tasks;
}

std::vector<std::string> IdsOf(const QueueFileResult& result) {
  std::vector<std::string> ids;
  if (!result.list) return ids;
  for (const core::TaskDefinition& task : result.list->tasks) ids.push_back(task.id);
  return ids;
}

/// What is wrong with the only task that is refused; the task "good" goes on.
std::string RefusalOf(const std::string& task) {
  const QueueFileResult result = ReadQueue(WithTasks("    - {id: good, run: a}\n" + task));
  EXPECT_THAT(IdsOf(result), ElementsAre("good")) << ShownOf(result.problems);
  return ShownOf(result.problems);
}

/// What is wrong with the file as a whole.
std::string FaultOf(const std::string& text) {
  const QueueFileResult result = ReadQueue(text);
  EXPECT_FALSE(result.list) << text;
  return ShownOf(result.problems);
}

std::string WarningsIn(const std::string& text) {
  const QueueFileResult result = ReadQueue(text);
  EXPECT_EQ(ShownOf(result.problems), "");
  std::string warnings;
  for (const Problem& warning : result.warnings) warnings += RenderWarning(warning);
  return warnings;
}

constexpr const char* kWhole = R"(
repos:
  maxtext: https://github.com/me/maxtext.git
  jaxite: {url: "git@github.com:me/jaxite.git", branch: dev}
defaults:
  env: base
  repo: maxtext
  zone: us-central2-b
  max_retries: 5
  hide: true
accelerators:
  v4-8:
    env: small
    max_jobs: 2
    tasks:
      - id: prepare
        run: |
          python prepare.py
          echo done
      - id: train
        run: python train.py
        repo: jaxite
        env: mine
        zone: europe-west4-a
        workdir: ~/work/train/
        workers: [0]
        depends_on: prepare
        max_jobs: 1
        max_retries: 0
        hide: false
  v4-32:
    branch: wide
    zone: us-central1-a
    tasks:
      - {id: wide, run: ./wide.sh, workers: all, depends_on: [prepare, train]}
      - {id: "7", run: ./seven.sh, workers: 1, branch: mine}
)";

TEST(QueueFile, DefaultsComeFromTheTaskThenItsAcceleratorThenTheFile) {
  const QueueFileResult result = ReadQueue(kWhole);
  ASSERT_TRUE(result.list) << ShownOf(result.problems);
  EXPECT_THAT(result.problems, IsEmpty());
  EXPECT_THAT(result.warnings, IsEmpty());
  const core::HostSet first = {.all = false, .numbers = {0}};
  const core::TaskDefinition prepare = {.id = "prepare",
                                        .accelerator = "v4-8",
                                        .zone = "us-central2-b",
                                        .run = "python prepare.py\necho done\n",
                                        .env = "small",
                                        .repo = "maxtext",
                                        .url = "https://github.com/me/maxtext.git",
                                        .branch = "main",
                                        .workdir = "maxtext",
                                        .workers = first,
                                        .max_jobs = 2,
                                        .max_retries = 5,
                                        .hide = true};
  const core::TaskDefinition train = {.id = "train",
                                      .accelerator = "v4-8",
                                      .zone = "europe-west4-a",
                                      .run = "python train.py",
                                      .env = "mine",
                                      .repo = "jaxite",
                                      .url = "git@github.com:me/jaxite.git",
                                      .branch = "dev",
                                      .workdir = "work/train",
                                      .workers = first,
                                      .depends_on = {"prepare"},
                                      .max_jobs = 1,
                                      .max_retries = 0};
  ASSERT_THAT(IdsOf(result), ElementsAre("prepare", "train", "wide", "7"));
  EXPECT_EQ(result.list->tasks[0], prepare);
  EXPECT_EQ(result.list->tasks[1], train);
  const core::TaskDefinition& wide = result.list->tasks[2];
  EXPECT_EQ(wide.env, "base");
  EXPECT_EQ(wide.branch, "wide");
  EXPECT_EQ(wide.zone, "us-central1-a");
  EXPECT_TRUE(wide.workers.all);
  EXPECT_THAT(wide.depends_on, ElementsAre("prepare", "train"));
  EXPECT_EQ(result.list->tasks[3].branch, "mine");
  EXPECT_THAT(result.list->tasks[3].workers.numbers, ElementsAre(1));
}

TEST(QueueFile, ATaskNeedsNoRepository) {
  const QueueFileResult result = ReadQueue(
      "accelerators: {v4-8: {zone: us-central2-b, tasks: "
      "[{id: a, run: hostname}]}}\n");
  ASSERT_TRUE(result.list) << ShownOf(result.problems);
  EXPECT_EQ(result.list->tasks.at(0).url, "");
  EXPECT_EQ(result.list->tasks.at(0).branch, "");
  EXPECT_EQ(result.list->tasks.at(0).workdir, "");
}

TEST(QueueFile, NothingIsSaidByNullsAndEmptySections) {
  const QueueFileResult result = ReadQueue(
      "repos:\ndefaults:\naccelerators:\n  v4-8:\n  v4-16: {tasks: }\n  v4-32: {tasks: "
      "[]}\n");
  ASSERT_TRUE(result.list) << ShownOf(result.problems);
  EXPECT_THAT(result.list->tasks, IsEmpty());
}

TEST(QueueFile, ValuesAreInterpolatedAsInAJobFile) {
  const QueueFileResult good =
      ReadQueue(WithTasks("    - {id: a, run: \"echo ${defaults.zone} ${env:WHO} \\\\${HOME}\"}\n"),
                {{"WHO", "ada"}});
  ASSERT_TRUE(good.list) << ShownOf(good.problems);
  ASSERT_EQ(good.list->tasks.size(), 1U) << ShownOf(good.problems);
  EXPECT_EQ(good.list->tasks[0].run, "echo us-central2-b ada ${HOME}");
}

TEST(QueueFile, ABadTaskIsRefusedAloneAndTheOthersGoOn) {
  EXPECT_EQ(RefusalOf("    - {id: b, run: x, max_retry: 3}\n"),
            "/q/tasks.yaml:7:23: unknown key \"accelerators.v4-8.tasks[1].max_retry\"\n"
            "  7 |     - {id: b, run: x, max_retry: 3}\n"
            "    |                       ^\n"
            "  did you mean \"accelerators.v4-8.tasks[1].max_retries\"?\n");
  EXPECT_THAT(RefusalOf("    - {id: b}\n"), HasSubstr("accelerators.v4-8.tasks[1].run is missing"));
  EXPECT_THAT(RefusalOf("    - {run: x}\n"), HasSubstr("accelerators.v4-8.tasks[1].id is missing"));
  EXPECT_THAT(RefusalOf("    - {id: b, run: ''}\n"), HasSubstr(".run is empty"));
  EXPECT_THAT(RefusalOf("    - hello\n"), HasSubstr("tasks[1]: expected a map, found text"));
  EXPECT_THAT(RefusalOf("    -\n"), HasSubstr("tasks[1]: expected a map, found nothing"));
  EXPECT_THAT(RefusalOf("    - {id: a b, run: x}\n"), HasSubstr("cannot be the id of a task"));
  EXPECT_THAT(RefusalOf("    - {id: ../b, run: x}\n"), HasSubstr("cannot be the id of a task"));
  EXPECT_THAT(RefusalOf("    - {id: b, run: x, max_jobs: 0}\n"), HasSubstr("must be between 1"));
  EXPECT_THAT(RefusalOf("    - {id: b, run: x, env: {A: b}}\n"),
              HasSubstr("tasks[1].env: expected text, found a map"));
  EXPECT_THAT(RefusalOf("    - {id: b, run: x, zone: us-central2}\n"), HasSubstr("tasks[1].zone"));
  EXPECT_THAT(RefusalOf("    - {id: b, run: x, workers: some}\n"), HasSubstr("tasks[1].workers"));
  EXPECT_THAT(RefusalOf("    - {id: b, run: 'echo ${nowhere}'}\n"),
              HasSubstr("${nowhere} is not a key of this file"));
}

TEST(QueueFile, ARepositoryMustBeThere) {
  EXPECT_EQ(RefusalOf("    - {id: b, run: x, repo: maxtxt}\n"),
            "/q/tasks.yaml:7:29: accelerators.v4-8.tasks[1].repo: there is no repository "
            "\"maxtxt\" in repos\n"
            "  7 |     - {id: b, run: x, repo: maxtxt}\n"
            "    |                             ^\n"
            "  did you mean maxtext?\n");
  EXPECT_THAT(RefusalOf("    - {id: b, run: x, repo: other}\n"), HasSubstr("repos has: maxtext"));
}

TEST(QueueFile, AWorkdirOutsideTheHomeFolderIsRefused) {
  for (const std::string path : {"/tmp/x", "../x", "a/../../x", "~", ".", "~/", ".ssh", "~/.ssh/x",
                                 ".jobman", "a//b", "-rf", "a b", "$HOME", "~root/x"}) {
    EXPECT_THAT(RefusalOf("    - {id: b, run: x, workdir: '" + path + "'}\n"),
                HasSubstr("is not a folder below the home folder of the hosts"))
        << path;
  }
  const QueueFileResult result = ReadQueue(
      "repos: {'../x': 'https://github.com/me/x.git'}\n"
      "accelerators: {v4-8: {zone: us-central2-b, tasks: [{id: a, run: b, repo: ../x}]}}\n");
  EXPECT_THAT(ShownOf(result.problems),
              HasSubstr("tasks[0].workdir, which is the name of the repository: \"../x\" is not"));
}

TEST(QueueFile, OfTwoTasksWithOneIdNeitherIsTaken) {
  const std::string shown = RefusalOf(
      "    - {id: b, run: x}\n"
      "    - {id: b, run: y}\n");
  EXPECT_THAT(shown, HasSubstr("tasks.yaml:7:12: accelerators.v4-8.tasks[1].id: there is another "
                               "task \"b\""));
  EXPECT_THAT(shown, HasSubstr("it is in line 8"));
  EXPECT_THAT(shown, HasSubstr("it is in line 7"));
  const std::string apart = WithTasks("    - {id: a, run: x}\n") +
                            "  v4-16: {tasks: [{id: a, run: y}, {id: b, run: y}]}\n";
  EXPECT_THAT(IdsOf(ReadQueue(apart)), ElementsAre("b")) << "an id is of the whole file";
}

TEST(QueueFile, TasksThatWaitForEachOtherAreRefused) {
  const QueueFileResult result =
      ReadQueue(WithTasks("    - {id: good, run: x}\n"
                          "    - {id: a, run: x, depends_on: b}\n"
                          "    - {id: b, run: x, depends_on: [good, a]}\n"
                          "    - {id: c, run: x, depends_on: a}\n"));
  EXPECT_THAT(IdsOf(result), ElementsAre("good", "c")) << "c waits for a good a";
  EXPECT_THAT(ShownOf(result.problems), HasSubstr("these tasks wait for each other: a -> b -> a"));
  EXPECT_THAT(ShownOf(result.problems), HasSubstr("these tasks wait for each other: b -> a -> b"));
  EXPECT_THAT(RefusalOf("    - {id: b, run: x, depends_on: b}\n"), HasSubstr("b -> b"));
}

TEST(QueueFile, ARefusedTaskIsToldInALine) {
  const QueueFileResult result =
      ReadQueue(WithTasks("    - {id: a, run: x, repo: maxtxt}\n"
                          "    - {id: b, rum: x, max_jobs: 0}\n"));
  ASSERT_TRUE(result.list);
  ASSERT_EQ(result.list->refused.size(), 2U);
  EXPECT_EQ(result.list->refused[0].id, "a");
  EXPECT_EQ(result.list->refused[0].why,
            "tasks.yaml:6: accelerators.v4-8.tasks[0].repo: there is no repository \"maxtxt\" in "
            "repos (did you mean maxtext?)");
  EXPECT_EQ(result.list->refused[1].id, "b");
  EXPECT_THAT(result.list->refused[1].why, HasSubstr(", and 1 more"));
}

TEST(QueueFile, WhatConcernsManyTasksRefusesTheFile) {
  const std::string tasks = "accelerators: {v4-8: {tasks: [{id: a, run: b}]}}\n";
  EXPECT_THAT(FaultOf(""), HasSubstr("the file is empty"));
  EXPECT_THAT(FaultOf("# nothing\n"), HasSubstr("the file is empty"));
  EXPECT_THAT(FaultOf("hello"), HasSubstr("expected a map of keys, found text"));
  EXPECT_THAT(FaultOf("accelerators: {v4-8"), HasSubstr("YAML: "));
  EXPECT_THAT(FaultOf("repos: {a: 'https://x.org/a'}\n"), HasSubstr("accelerators is missing"))
      << "as of a file that is being written";
  EXPECT_THAT(FaultOf(tasks + "defalts: {}\n"), HasSubstr("did you mean \"defaults\"?"));
  EXPECT_THAT(FaultOf(tasks + "defaults: {max_retry: 2}\n"),
              HasSubstr("did you mean \"defaults.max_retries\"?"));
  EXPECT_THAT(FaultOf(tasks + "defaults: {id: a}\n"), HasSubstr("unknown key \"defaults.id\""));
  EXPECT_THAT(FaultOf(tasks + "defaults: {zone: nowhere}\n"), HasSubstr("defaults.zone"));
  EXPECT_THAT(FaultOf(tasks + "defaults: [a]\n"), HasSubstr("defaults: expected a map"));
  EXPECT_THAT(FaultOf(tasks + "repos: {a: {branch: b}}\n"), HasSubstr("repos.a.url is missing"));
  EXPECT_THAT(FaultOf(tasks + "repos: {a: 'https://me:secret@x.org/a'}\n"),
              HasSubstr("a user or a password"));
  EXPECT_THAT(FaultOf(tasks + "repos: {a: [b]}\n"),
              HasSubstr("repos.a: expected text or a map, found a list"));
  EXPECT_THAT(FaultOf("accelerators: {v4-8: {tusks: []}}\n"),
              HasSubstr("did you mean \"accelerators.v4-8.tasks\"?"));
  EXPECT_THAT(FaultOf("accelerators: {v4-8: {tasks: a}}\n"),
              HasSubstr("accelerators.v4-8.tasks: expected a list, found text"));
  EXPECT_THAT(FaultOf("accelerators: {V4 8: {tasks: []}}\n"), HasSubstr("not an accelerator type"));
  EXPECT_THAT(FaultOf("accelerators: [a]\n"), HasSubstr("accelerators: expected a map"));
}

TEST(QueueFile, WarnsOfWhatMayNotBeMeant) {
  EXPECT_EQ(WarningsIn(WithTasks("    - {id: a, run: x}\n")), "");
  EXPECT_THAT(WarningsIn("accelerators: {v4-8: {tasks: [{id: a, run: b}]}}\n"),
              HasSubstr("a names no zone, so no worker takes it"));
  EXPECT_THAT(WarningsIn(WithTasks("    - {id: a, run: x, workers: [0, 3]}\n")),
              HasSubstr("there is no host 3: a v4-8 has 1 host"));
  EXPECT_THAT(WarningsIn(WithTasks("    - {id: a, run: x, depends_on: [prepare]}\n")),
              HasSubstr("there is no task \"prepare\" in this file"));
  EXPECT_THAT(WarningsIn("accelerators: {v4-9: {tasks: []}}\n"), HasSubstr("v4-9"));
}

TEST(QueueFile, IsReadFromDisk) {
  const testing::ScratchDir dir;
  const base::Path file = dir.path() / "tasks.yaml";
  QueueFileRequest request{.file = file, .defaults = testing::TestDefaults()};
  EXPECT_THAT(ShownOf(ReadQueueFile(request).problems), HasSubstr("tasks.yaml"));
  EXPECT_FALSE(ReadQueueFile(request).list);
  ASSERT_TRUE(base::WriteFileAtomic(file, WithTasks("    - {id: a, run: x}\n")).ok());
  EXPECT_THAT(IdsOf(ReadQueueFile(request)), ElementsAre("a"));
  request.file = dir.path();
  EXPECT_THAT(ShownOf(ReadQueueFile(request).problems), HasSubstr("not a regular file"));
}

TEST(QueueFile, HasRoomForTenThousandTasks) {
  std::string tasks;
  for (int i = 0; i < 10'000; ++i) {
    const std::string id = std::to_string(i);
    tasks += "    - {id: t" + id + ", run: python train.py --seed " + id +
             ", repo: maxtext, env: mine, depends_on: [t" + std::to_string(i == 0 ? 1 : 0) +
             "], max_retries: 2, workers: all}\n";
  }
  const QueueFileResult result = ReadQueue(WithTasks(tasks));
  ASSERT_TRUE(result.list) << ShownOf(result.problems);
  EXPECT_EQ(result.list->tasks.size(), 9'998U);
  EXPECT_EQ(result.list->refused.size(), 2U) << "t0 and t1 wait for each other";
}

}  // namespace
}  // namespace jobman::config
