#include "jobman/core/ownership.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "jobman/core/slice_name.hpp"
#include "tests/support/job_builder.hpp"

namespace jobman::core {
namespace {

using test::JobBuilder;
using testing::ElementsAre;

const Place kPlace = {.project = "research", .zone = "us-central2-b"};

Job Holding(const std::string& slice) {
  Job job = JobBuilder().Build();
  job.slice = Slice{.ref = {.place = kPlace, .name = slice}};
  return job;
}

std::map<std::string, std::string> Ours() {
  return OwnerLabels(JobBuilder().Build(), "s1");
}

FoundSlice Found(const std::string& name, std::map<std::string, std::string> labels = Ours()) {
  return {.ref = {.place = kPlace, .name = name}, .labels = std::move(labels)};
}

FoundSlice FoundNode(const std::string& name) {
  FoundSlice found = Found(name);
  found.ref.mode = AllocationMode::kTpuVm;
  found.nodes = {name};
  return found;
}

Ownership Judge(const FoundSlice& found, const std::optional<Job>& job) {
  return JudgeSlice(found, Ours(), job).ownership;
}

TEST(FindSlices, GroupsNodesWithTheirQueuedResources) {
  const std::vector<NodeSeen> nodes = {
      {.id = "a-0", .queued_resource = "a"},
      {.id = "a-1", .accelerator = "v4-32", .queued_resource = "a"},
      {.id = "alone", .uid = "7", .state = NodeState::kDeleting},
      {.id = "left", .queued_resource = "gone"}};
  const auto found = FindSlices(kPlace, nodes, {{.id = "a", .raw_state = "ACTIVE"}});
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].ref.mode, AllocationMode::kQueuedResources);
  EXPECT_THAT(found[0].nodes, ElementsAre("a-0", "a-1"));
  EXPECT_EQ(found[0].accelerator, "v4-32");
  EXPECT_EQ(found[0].raw_state, "ACTIVE");
  EXPECT_EQ(found[1].ref.mode, AllocationMode::kTpuVm);
  EXPECT_TRUE(found[1].leaving);
  EXPECT_EQ(found[2].ref.name, "left") << "its queued resource is gone: only the node is there";
}

TEST(JudgeSlice, TheSliceOfAJobIsOwnedInAnyState) {
  Job job = Holding("train-000042-a3");
  EXPECT_EQ(Judge(Found("train-000042-a3"), job), Ownership::kOwned);
  job.state = Done{.outcome = Outcome::kFailed};
  EXPECT_EQ(Judge(Found("train-000042-a3"), job), Ownership::kOwned);
  EXPECT_EQ(Judge(FoundNode("train-000042-a3"), job), Ownership::kOwned);
  EXPECT_EQ(Judge(FoundNode("train-000042-a3-1"), job), Ownership::kOwned) << "one of its nodes";
}

TEST(JudgeSlice, ASliceThatNoJobHoldsIsAnOrphanWithAReason) {
  const Job job = Holding("train-000042-a3");
  const auto claim = JudgeSlice(Found("train-000042-a2"), Ours(), job);
  EXPECT_EQ(claim.ownership, Ownership::kOrphan);
  EXPECT_EQ(claim.why, "job 000042 is QUEUED and holds slice train-000042-a3");
  EXPECT_EQ(Judge(FoundNode("train-000042-a30"), job), Ownership::kOrphan);
  EXPECT_EQ(JudgeSlice(Found("train-000042-a3"), Ours(), std::nullopt).why,
            "there is no job 000042");
  EXPECT_EQ(JudgeSlice(Found("train-000042-a3"), Ours(), JobBuilder().Build()).why,
            "job 000042 is QUEUED and holds no slice");
  Job elsewhere = job;
  elsewhere.slice->ref.place.zone = "europe-west4-a";
  EXPECT_EQ(Judge(Found("train-000042-a3"), elsewhere), Ownership::kOrphan);
}

TEST(JudgeSlice, SlicesWithOtherLabelsAreNotOurs) {
  auto labels = Ours();
  labels["jobman-store"] = "s2";
  EXPECT_EQ(Judge(Found("x", labels), std::nullopt), Ownership::kOtherStore);
  labels["jobman-owner"] = "bob";
  const auto claim = JudgeSlice(Found("x", labels), Ours(), std::nullopt);
  EXPECT_EQ(claim.ownership, Ownership::kOtherOwner);
  EXPECT_EQ(claim.why, "it is bob's");
}

TEST(JudgeSlice, AnotherUsersSliceIsNotOursWhateverTheStoreLabelSays) {
  auto labels = Ours();
  labels["jobman-owner"] = "bob";
  const auto claim = JudgeSlice(Found("train-000042-a2", labels), Ours(), Holding("x"));
  EXPECT_EQ(claim.ownership, Ownership::kOtherOwner);
  EXPECT_EQ(claim.why, "it is bob's");
  EXPECT_EQ(Judge(Found("train-000042-a2", labels), std::nullopt), Ownership::kOtherOwner);
  labels.erase("jobman-job");
  EXPECT_EQ(Judge(Found("train-000042-a2", labels), std::nullopt), Ownership::kOtherOwner)
      << "nor is it deleted as one without labels";
  labels = Ours();
  labels.erase("jobman-owner");
  EXPECT_EQ(Judge(Found("train-000042-a2", labels), std::nullopt), Ownership::kOrphan);
}

TEST(OwnerLabels, TellUsersApartWhoseNamesALabelCannotHold) {
  const auto owner = [](const std::string& user) {
    Job job = JobBuilder().Build();
    job.user = user;
    return OwnerLabels(job, "s1").at("jobman-owner");
  };
  EXPECT_EQ(owner("ann-lee_2"), "ann-lee_2");
  EXPECT_TRUE(owner("Ann.Lee").starts_with("ann-lee-"));
  const std::string longest(63, 'a');
  EXPECT_EQ(owner(longest), longest);
  EXPECT_EQ(owner(longest + "a").size(), 63u) << "all that fits of the name";
  std::set<std::string> labels;
  const std::vector<std::string> users = {"ann-lee", "ann.lee",     "Ann-Lee",     "ann lee",
                                          longest,   longest + "a", longest + "b", ""};
  for (const std::string& user : users) {
    const std::string label = owner(user);
    EXPECT_LE(label.size(), 63u) << user;
    EXPECT_EQ(LabelValue(label), label) << user;
    labels.insert(label);
  }
  EXPECT_EQ(labels.size(), users.size());
}

TEST(IsOurs, NeedsJobAndStoreAndNoOtherOwner) {
  EXPECT_TRUE(IsOurs(Ours(), Ours()));
  for (const char* key : {"jobman-job", "jobman-store", "jobman-owner"}) {
    auto labels = Ours();
    labels[key] = "other";
    EXPECT_FALSE(IsOurs(labels, Ours())) << key;
    labels.erase(key);
    EXPECT_EQ(IsOurs(labels, Ours()), key == std::string("jobman-owner")) << key;
  }
  auto more = Ours();
  more["team"] = "vision";
  EXPECT_TRUE(IsOurs(more, Ours()));
}

TEST(JudgeSlice, HalfOfOurLabelsDoesNotCount) {
  EXPECT_EQ(Judge(Found("x", {}), std::nullopt), Ownership::kUnlabelled);
  auto labels = Ours();
  labels.erase("jobman-store");
  EXPECT_EQ(Judge(Found("x", labels), std::nullopt), Ownership::kUnlabelled);
  labels = Ours();
  labels["jobman-job"] = "forty";
  EXPECT_EQ(Judge(Found("x", labels), std::nullopt), Ownership::kUnlabelled);
}

const JobOnHost kHere = {.store = "store1", .job = {42}, .node = "train-000042-a3", .host = 1};

std::string Command(int attempt, const JobOnHost& on = kHere) {
  return FormatRunId({.on = on, .what = CommandRun{.attempt = attempt}});
}
std::string StepRun() {
  return FormatRunId({.on = kHere, .what = SetupRun{.content = "abc"}});
}

TEST(StrayRun, IsACommandOfAnEarlierAttempt) {
  Job job = Holding("train-000042-a3");
  job.state = Running{};
  job.attempt = 3;
  EXPECT_EQ(StrayRun(Command(2), kHere, job), "job 000042 is at attempt 3");
  EXPECT_EQ(StrayRun(Command(3), kHere, job), std::nullopt);
  EXPECT_EQ(StrayRun(Command(4), kHere, job), std::nullopt) << "started after the job was read";
  EXPECT_EQ(StrayRun(StepRun(), kHere, job), std::nullopt) << "the next attempt may use it";
}

TEST(StrayRun, IsATaskBeforeTheLastOneThatItsWorkerBegan) {
  Job job = Holding("train-000042-a3");
  job.state = Idle{};
  job.attempt = 3;
  job.task_runs = 5;
  const auto run = [](int number) {
    return FormatRunId({.on = kHere, .what = WorkRun{.number = number}});
  };
  EXPECT_EQ(StrayRun(run(3), kHere, job), "job 000042 has begun a later task");
  EXPECT_EQ(StrayRun(run(5), kHere, job), std::nullopt);
  EXPECT_EQ(StrayRun(run(6), kHere, job), std::nullopt) << "begun after the job was read";
  job.state = Done{.outcome = Outcome::kCancelled};
  job.wish_new = false;
  EXPECT_NE(StrayRun(run(5), kHere, job), std::nullopt);
}

TEST(StrayRun, IsNotARunOfAnotherStoreJobOrHost) {
  Job job = Holding("train-000042-a3");
  job.state = Running{};
  job.attempt = 3;
  for (auto change :
       {+[](JobOnHost& on) { on.store = "other"; }, +[](JobOnHost& on) { on.job = {41}; },
        +[](JobOnHost& on) { on.host = 2; }, +[](JobOnHost& on) { on.node = "train-000042-a2"; }}) {
    JobOnHost there = kHere;
    change(there);
    EXPECT_EQ(StrayRun(Command(2, there), kHere, job), std::nullopt) << Command(2, there);
  }
  EXPECT_EQ(StrayRun("j000042-a2", kHere, job), std::nullopt) << "an id in the old format";
}

TEST(StrayRun, IsEveryRunOfAFinishedJob) {
  Job job = Holding("train-000042-a3");
  job.state = Done{.outcome = Outcome::kCancelled};
  job.wish_new = false;
  job.attempt = 3;
  EXPECT_EQ(StrayRun(Command(3), kHere, job), "job 000042 is CANCELLED");
  EXPECT_EQ(StrayRun(StepRun(), kHere, job), "job 000042 is CANCELLED");
  job.wish_new = true;
  EXPECT_EQ(StrayRun(StepRun(), kHere, job), std::nullopt) << "the job is about to run again";
}

}  // namespace
}  // namespace jobman::core
