#include "jobman/client/garbage.hpp"

#include <gmock/gmock.h>

#include "jobman/base/files.hpp"
#include "jobman/core/slice_name.hpp"
#include "tests/support/scripted_shell.hpp"
#include "tests/unit/client/client_world.hpp"

namespace jobman::client {
namespace {

using test::JobBuilder;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class GarbageTest : public test::ClientWorld {
 protected:
  GarbageTest() { shell_ = &hosts_; }
  /// Creates the job's slice, as the controller of that store and user would.
  void Ask(core::Job job, const std::string& store = "memory",
           const std::string& user = base::UserName()) {
    job.user = user;
    ASSERT_TRUE(Await(cloud_.Create(core::RequestFor(job, core::SliceFor(job, 1), store))).ok());
  }
  GarbageQuery Query(bool hosts = false) const {
    return {.places = {{.cloud = {}, .place = {.project = "research", .zone = "us-central2-b"}}},
            .hosts = hosts};
  }
  base::Result<Garbage> Look(const GarbageQuery& query) {
    return Await(collector().Look(
        query, [this](const base::Error& error) { also_.push_back(error.ToString()); }));
  }
  GarbageCollector& collector() {
    if (!collector_) collector_ = std::make_unique<GarbageCollector>(Context());
    return *collector_;
  }
  /// A job with one host, at attempt 2; the command of its first attempt still runs there.
  core::Job JobWithAStrayRun() {
    core::Job job = JobBuilder().Build();
    job.attempt = 2;
    job = Put(test::WithHosts(std::move(job), 1));
    run_id_ =
        core::FormatRunId({.on = core::OnHost("memory", job, 0), .what = core::CommandRun{1}});
    hosts_.Add("list", {.out = run_id_ + " running\n"});
    return job;
  }

  test::ScriptedShell hosts_{clock_};
  std::unique_ptr<GarbageCollector> collector_;
  std::vector<std::string> also_;
  std::string run_id_;
};

TEST_F(GarbageTest, ASliceThatNoJobHoldsIsFoundAndDeleted) {
  Ask(JobBuilder("train").Id(7).Build());
  const auto garbage = Look(Query());
  ASSERT_TRUE(garbage.ok()) << garbage.error().ToString();
  ASSERT_THAT(garbage->slices, SizeIs(1));
  EXPECT_EQ(garbage->slices[0].claim.why, "there is no job 000007");
  EXPECT_EQ(Await(collector().Remove(garbage->slices[0])).fate, Garbage::Fate::kDeleted);
  EXPECT_THAT(cloud_.Leftovers(), IsEmpty());
}

TEST_F(GarbageTest, ASliceOfAnotherUserIsNotListedWhateverStoreItNames) {
  Ask(JobBuilder("train").Id(7).Build(), "memory", "somebody-else");
  GarbageQuery query = Query();
  query.name_glob = "*";
  EXPECT_THAT(Look(query)->slices, IsEmpty());
}

TEST_F(GarbageTest, ASliceThatAJobHoldsIsNotListed) {
  core::Job job = Put(JobBuilder("train").Build());
  job.attempt = 1;
  Ask(Change(test::WithHosts(job, 1)));
  EXPECT_THAT(Look(Query())->slices, IsEmpty());
}

TEST_F(GarbageTest, ASliceOfAJobThatCannotBeReadIsNotListed) {
  const core::Job job = Put(JobBuilder("train").Build());
  Ask(job);
  store_.MakeUnreadable(job.id);
  EXPECT_THAT(Look(Query())->slices, IsEmpty());
}

TEST_F(GarbageTest, ADamagedRecordKeepsItsSliceAndHoldsNoOtherUp) {
  const core::Job job = Put(JobBuilder("train").Build());
  Ask(job);
  Ask(JobBuilder("gone").Id(7).Build());
  store_.Damage(job.id);
  const auto garbage = Look(Query());
  ASSERT_TRUE(garbage.ok()) << garbage.error().ToString();
  EXPECT_THAT(garbage->slices, SizeIs(1)) << "only that of a job that is not there";
}

TEST_F(GarbageTest, AnIncompleteListingIsAnError) {
  Ask(JobBuilder("train").Id(7).Build());
  const base::Error down{.code = base::Code::kUnavailable, .message = "down"};
  cloud_.AddFault({.call = "ListQueued", .error = down, .times = 2});
  GarbageQuery query = Query();
  query.places.push_back({.place = {.project = "research", .zone = "europe-west4-a"}});
  const auto garbage = Look(query);
  ASSERT_FALSE(garbage.ok());
  EXPECT_THAT(garbage.error().ToString(), HasSubstr("listing zone us-central2-b of research"));
  EXPECT_THAT(also_, ElementsAre(HasSubstr("listing zone europe-west4-a of research")));
}

TEST_F(GarbageTest, ASecondLookSparesANewSliceOfTheSameName) {
  const core::Job nobody = JobBuilder("train").Id(7).Build();
  Ask(nobody);
  const auto garbage = Look(Query());
  ASSERT_THAT(garbage->slices, SizeIs(1));
  ASSERT_TRUE(Await(cloud_.Delete(core::SliceFor(nobody, 1))).ok());
  EXPECT_EQ(Await(collector().Remove(garbage->slices[0])).fate, Garbage::Fate::kGone);
  clock_.Advance(std::chrono::seconds{1});
  Ask(nobody, "another");
  const auto spared = Await(collector().Remove(garbage->slices[0]));
  EXPECT_EQ(spared.fate, Garbage::Fate::kSpared);
  EXPECT_THAT(spared.claim.why, HasSubstr("the name belongs to another resource"));
  EXPECT_THAT(cloud_.Leftovers(), Not(IsEmpty()));
}

TEST_F(GarbageTest, OnlyOrphansAreDeletedUnlessTheUserAllowsMore) {
  Garbage garbage;
  for (const auto ownership :
       {core::Ownership::kOwned, core::Ownership::kOrphan, core::Ownership::kOtherStore,
        core::Ownership::kOtherOwner, core::Ownership::kUnlabelled}) {
    garbage.slices.push_back({.claim = {.ownership = ownership}});
  }
  const auto chosen = [&garbage](const GarbageChoice& choice) {
    std::vector<core::Ownership> owned;
    for (const Garbage::Slice* slice : SlicesToDelete(garbage, choice))
      owned.push_back(slice->claim.ownership);
    return owned;
  };
  const auto orphan = core::Ownership::kOrphan;
  EXPECT_THAT(chosen({}), ElementsAre(orphan));
  EXPECT_THAT(chosen({.other_stores = true}), ElementsAre(orphan, core::Ownership::kOtherStore));
  EXPECT_THAT(chosen({.unlabelled = true}), ElementsAre(orphan, core::Ownership::kUnlabelled));
}

TEST_F(GarbageTest, ARefusedDeleteIsReportedInItsRow) {
  Ask(JobBuilder("train").Id(7).Build());
  const auto garbage = Look(Query());
  const base::Error refused{.code = base::Code::kPermissionDenied, .message = "no"};
  cloud_.AddFault({.call = "Delete", .error = refused});
  const auto row = Await(collector().Remove(garbage->slices.at(0)));
  EXPECT_EQ(row.fate, Garbage::Fate::kFailed);
  EXPECT_EQ(row.error->code, base::Code::kPermissionDenied);
}

TEST_F(GarbageTest, ARunOfAnEarlierAttemptIsFoundAndStopped) {
  const core::Job job = JobWithAStrayRun();
  const auto garbage = Look(Query(true));
  ASSERT_TRUE(garbage.ok()) << garbage.error().ToString();
  ASSERT_THAT(garbage->runs, SizeIs(1));
  EXPECT_EQ(garbage->runs[0].run_id, run_id_);
  EXPECT_THAT(garbage->runs[0].why, HasSubstr("is at attempt 2"));
  hosts_.Add("stop", {.out = "jobman: exited 143\n"});
  EXPECT_EQ(Await(collector().Stop(garbage->runs[0])).fate, Garbage::Fate::kDeleted);
}

TEST_F(GarbageTest, ARunWhoseHostIsGoneIsGoneToo) {
  core::Job job = JobWithAStrayRun();
  const auto garbage = Look(Query(true));
  ASSERT_THAT(garbage->runs, SizeIs(1));
  job.slice = std::nullopt;
  Change(job);
  EXPECT_EQ(Await(collector().Stop(garbage->runs[0])).fate, Garbage::Fate::kGone);
  EXPECT_THAT(hosts_.verbs, ElementsAre("list"));
}

TEST_F(GarbageTest, ARunIsSparedWhenItsJobRunsAgain) {
  core::Job job = JobWithAStrayRun();
  job.attempt = 1;
  job.state = core::Done{.outcome = core::Outcome::kFailed};
  job = Change(job);
  const auto garbage = Look(Query(true));
  ASSERT_THAT(garbage->runs, SizeIs(1));
  ASSERT_TRUE(
      store_.SetWish(job.id, core::Wish::kRun, core::SetupWish::kAsNeeded, clock_.Now()).ok());
  const auto row = Await(collector().Stop(garbage->runs[0]));
  EXPECT_EQ(row.fate, Garbage::Fate::kSpared);
  EXPECT_EQ(row.why, "its job runs again");
}

TEST_F(GarbageTest, AHostThatCannotBeAskedIsNamed) {
  core::Job job = JobBuilder().Build();
  job.attempt = 1;
  Put(test::WithHosts(std::move(job), 1));
  hosts_.Add("list", {.code = base::Error{.code = base::Code::kPermissionDenied,
                                          .message = "the host key changed",
                                          .reason = base::Reason::kHostKeyChanged}});
  const auto garbage = Look(Query(true));
  ASSERT_THAT(garbage->silent, SizeIs(1));
  EXPECT_EQ(garbage->silent[0].error.reason, base::Reason::kHostKeyChanged);
}

TEST_F(GarbageTest, AHostThatHangsIsNamed) {
  core::Job job = JobBuilder().Build();
  job.attempt = 1;
  Put(test::WithHosts(std::move(job), 1));
  hosts_.Add("list", {.hangs = true});
  const auto garbage = Look(Query(true));
  ASSERT_THAT(garbage->silent, SizeIs(1));
  EXPECT_EQ(garbage->silent[0].error.reason, base::Reason::kHostHangs);
}

TEST_F(GarbageTest, ARunOnAHostThatHangsIsNotStopped) {
  JobWithAStrayRun();
  const auto garbage = Look(Query(true));
  ASSERT_THAT(garbage->runs, SizeIs(1));
  hosts_.Add("stop", {.hangs = true});
  const auto row = Await(collector().Stop(garbage->runs[0]));
  EXPECT_EQ(row.fate, Garbage::Fate::kFailed);
  EXPECT_EQ(row.error->reason, base::Reason::kHostHangs);
}

}  // namespace
}  // namespace jobman::client
