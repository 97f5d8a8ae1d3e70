// array and matrix: one file, several jobs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/config/support.hpp"

namespace jobman::config {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::MustLoad;
using testing::ProblemsOf;
using testing::RequestOf;
using testing::SmallJob;

/// All jobs of a text.
std::vector<core::JobSpec> JobsOf(LoadRequest request) {
  std::vector<core::JobSpec> jobs;
  for (int elements = 1; request.element < elements; ++request.element) {
    const LoadResult result = Load(request);
    EXPECT_EQ(testing::Rendered(result), "");
    if (!result.loaded) break;
    jobs.push_back(result.loaded->spec);
    elements = result.elements;
  }
  return jobs;
}
std::vector<core::JobSpec> JobsOf(const std::string& more) {
  return JobsOf(RequestOf(SmallJob(more)));
}
std::vector<std::string> ValuesOf(const std::string& array) {
  std::vector<std::string> values;
  for (const core::JobSpec& job : JobsOf("array: " + array + "\n"))
    values.push_back(job.array.value);
  return values;
}

TEST(Array, MakesAJobForEachValue) {
  const auto jobs =
      JobsOf("job: {name: sweep, environment: {LR: '${array.value}'}}\narray: [a, b]\n");
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_EQ(jobs[0].name, "sweep-0");
  EXPECT_EQ(jobs[1].name, "sweep-1");
  EXPECT_EQ(jobs[1].array, (core::ArraySpec{.index = 1, .size = 2, .value = "b"}));
  EXPECT_EQ(jobs[1].environment.at("LR"), "b");
  EXPECT_EQ(jobs[1].group, "sweep") << "of both";
}

TEST(Array, IsAListOrAsWithSlurm) {
  EXPECT_THAT(ValuesOf("0-3"), ElementsAre("0", "1", "2", "3"));
  EXPECT_THAT(ValuesOf("1,5,7-8"), ElementsAre("1", "5", "7", "8"));
  EXPECT_THAT(ValuesOf("adam, sgd"), ElementsAre("adam", "sgd"));
  EXPECT_THAT(ValuesOf("1e-4,-1"), ElementsAre("1e-4", "-1")) << "no ranges";
  EXPECT_THAT(ValuesOf("['0-3', 2]"), ElementsAre("0-3", "2")) << "a list is taken as it is";
  EXPECT_THAT(ValuesOf("one"), ElementsAre("one"));
}

TEST(Array, AMatrixMakesAJobForEachCombination) {
  const auto jobs = JobsOf("job: {name: m}\nmatrix: {lr: [0.10, 0.01], seed: 1-3}\n");
  ASSERT_EQ(jobs.size(), 6u);
  EXPECT_EQ(jobs[0].matrix, (std::map<std::string, std::string>{{"lr", "0.10"}, {"seed", "1"}}));
  EXPECT_EQ(jobs[1].matrix.at("seed"), "2") << "the last name varies first";
  EXPECT_EQ(jobs[5].matrix, (std::map<std::string, std::string>{{"lr", "0.01"}, {"seed", "3"}}));
  EXPECT_EQ(jobs[5].array, (core::ArraySpec{.index = 5, .size = 6}));
  EXPECT_EQ(jobs[5].name, "m-5");
}

TEST(Array, ANameMayBeMadeOfTheValues) {
  const auto jobs = JobsOf("job: {name: 'lr${matrix.lr}'}\nmatrix: {lr: [0.1, 0.2]}\n");
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_EQ(jobs[1].name, "lr0.2");
  EXPECT_EQ(jobs[1].group, "job") << "the file's name";
}

TEST(Array, WithoutANameTheFileGivesIt) {
  EXPECT_EQ(JobsOf("array: 0-1\n").at(1).name, "job-1");
}

TEST(Array, OneJobOfItIsPrintedAsAJobFile) {
  LoadRequest request = RequestOf(SmallJob("job: {max_running: 2}\nmatrix: {lr: [1, 2]}\n"));
  request.element = 1;
  const Loaded second = MustLoad(request);
  const Loaded again = MustLoad(RequestOf(ResolvedYaml(second, false)));
  EXPECT_EQ(again.spec, second.spec);
  EXPECT_EQ(again.spec.matrix.at("lr"), "2");
  EXPECT_EQ(again.spec.max_running, 2);
}

TEST(Array, TheCommandLineMakesOneToo) {
  LoadRequest request = RequestOf(SmallJob());
  request.arrays = {"3-4"};
  EXPECT_EQ(JobsOf(request).at(1).array.value, "4");
  request.arrays = {"lr=0.1,0.2", "seed=1-2"};
  const auto jobs = JobsOf(request);
  ASSERT_EQ(jobs.size(), 4u);
  EXPECT_EQ(jobs[2].matrix.at("lr"), "0.2");
  request.arrays = {};
  request.sets = {"matrix.lr=[0.5]"};
  EXPECT_EQ(JobsOf(request).at(0).matrix.at("lr"), "0.5");
  request.sets = {"matrix.lr=exp #3"};
  EXPECT_EQ(JobsOf(request).at(0).matrix.at("lr"), "exp #3") << "a shell's word is no YAML";
}

TEST(Array, AnAxisIsGivenOnce) {
  LoadRequest request = RequestOf(SmallJob(""));
  request.arrays = {"lr=0.1", "lr=0.2"};
  EXPECT_EQ(Load(request).problems.at(0).message, "matrix.lr is given twice");
}

TEST(Name, ThatFindsNoJobIsMentioned) {
  LoadRequest request = RequestOf(SmallJob(""));
  request.name = "42";
  EXPECT_EQ(MustLoad(request).warnings.at(0).message, "commands take 42 for the number of a job");
  request.name = "eval-*";
  EXPECT_EQ(MustLoad(request).warnings.at(0).message,
            "commands take eval-* for a pattern of names");
}

TEST(Array, WhatMakesNoJobsIsRefused) {
  const auto problems = [](const std::string& more) { return ProblemsOf(SmallJob(more)); };
  EXPECT_THAT(problems("array: []\n"), HasSubstr("array: expected values, found a list"));
  EXPECT_THAT(problems("array: [[1]]\n"), HasSubstr("expected values"));
  EXPECT_THAT(problems("matrix: {lr: {a: b}}\n"), HasSubstr("matrix.lr: expected values"));
  EXPECT_THAT(problems("matrix: {lr: []}\n"), HasSubstr("matrix.lr: expected values"));
  EXPECT_THAT(problems("matrix: [1]\n"), HasSubstr("matrix"));
  EXPECT_THAT(problems("matrix: {l-r: [1]}\n"), HasSubstr("l-r"));
  EXPECT_THAT(problems("array: [1]\nmatrix: {lr: [1]}\n"), HasSubstr("cannot be used together"));
  EXPECT_THAT(problems("array: 0-1000\n"), HasSubstr("more than 1000 jobs"));
  EXPECT_THAT(problems("array: 0-99999999999\n"), HasSubstr("more than 1000 jobs"));
  EXPECT_THAT(problems("matrix: {a: 0-99, b: 0-99}\n"), HasSubstr("more than 1000 jobs"));
  EXPECT_THAT(problems("array: 9-0\n"), HasSubstr("array: the range 9-0 runs backwards"));
  EXPECT_THAT(problems("array: 0-99999999999999999999\n"), HasSubstr("is too large"));
  EXPECT_THAT(problems("array: 'a,,b'\n"), HasSubstr("array: a value is empty"));
  EXPECT_THAT(problems("matrix: {lr: [1, 2]}\njob: {environment: {lr: 5}}\n"),
              HasSubstr("matrix.lr: the job sets the variable lr elsewhere, too"));
  EXPECT_EQ(problems("matrix: {lr: [1, 2]}\njob: {environment: {lr: '${matrix.lr}'}}\n"), "");
  EXPECT_THAT(problems("job: {max_running: 0}\n"), HasSubstr("job.max_running"));
  LoadRequest third = RequestOf(SmallJob("array: 0-1\n"));
  third.element = 2;
  EXPECT_THAT(testing::Rendered(Load(third)), HasSubstr("makes 2 jobs, and this is job 2"));
}

TEST(Array, AGroupIsCountedWithoutAnArrayToo) {
  const auto jobs = JobsOf("job: {name: one, max_running: 3}\n");
  EXPECT_EQ(jobs.at(0).group, "one");
  EXPECT_EQ(JobsOf("job: {group: shared, max_running: 3}\n").at(0).group, "shared");
  EXPECT_EQ(JobsOf("job: {name: one}\n").at(0).group, "");
}

}  // namespace
}  // namespace jobman::config
