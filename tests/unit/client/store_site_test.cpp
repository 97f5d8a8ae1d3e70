#include "jobman/client/store_site.hpp"

#include <gmock/gmock.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "jobman/core/slice_name.hpp"
#include "tests/support/tasks.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/unit/client/client_world.hpp"

namespace jobman::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class StoreSiteTest : public test::ClientWorld {
 protected:
  client::Context Here() {
    client::Context context = Context();
    context.look_at_site = [this](const base::StatePaths&) { return here_; };
    return context;
  }
  base::Status Check(bool record = true) { return Await(CheckSite(Here(), record)); }
  /// What a copy of the folder looks like.
  void Copy() {
    here_.path = "/home/alice/copy";
    here_.file = 8;
  }
  core::Job Running() {
    core::Job job = test::JobBuilder().Build();
    job.state = core::Requesting{};
    job.attempt = 1;
    job.wake_at = clock_.Now();
    job.slice = core::IntendedSlice(core::SliceFor(job, 1), clock_.Now());
    return Put(job);
  }
  core::Site here_{
      .machine = "m1", .cards = {}, .host = "laptop", .path = "/home/alice/store", .file = 7};
};

TEST_F(StoreSiteTest, TheFirstCommandThatWritesRecordsTheSite) {
  EXPECT_TRUE(Check(/*record=*/false).ok());
  EXPECT_THAT(*store_.Sites(), IsEmpty());
  EXPECT_TRUE(Check().ok());
  EXPECT_THAT(*store_.Sites(), ElementsAre(here_));
  EXPECT_TRUE(Check().ok());
  EXPECT_TRUE(Check(/*record=*/false).ok());
}

TEST_F(StoreSiteTest, ACopyIsRefusedWithTheCure) {
  ASSERT_TRUE(Check().ok());
  const core::Site home = here_;
  Copy();
  for (const bool record : {false, true}) {
    const auto refused = Check(record);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().reason, base::Reason::kCopiedStore);
    EXPECT_EQ(refused.error().message,
              "this store was moved or copied: it was used in /home/alice/store on laptop, and is "
              "in /home/alice/copy on laptop");
    EXPECT_THAT(refused.error().hint, HasSubstr("if it was moved: jobman store adopt;"));
    EXPECT_THAT(refused.error().hint, HasSubstr("jobman store adopt --new-id"));
  }
  EXPECT_THAT(*store_.Sites(), ElementsAre(home)) << "and nothing is recorded";
}

TEST_F(StoreSiteTest, AFolderThatWasRenamedIsNoCopyAndItsOldPathIsForgotten) {
  ASSERT_TRUE(Check().ok());
  const core::Site home = here_;
  here_.path = "/home/alice/renamed";
  EXPECT_TRUE(Check(/*record=*/false).ok());
  EXPECT_THAT(*store_.Sites(), ElementsAre(home));
  EXPECT_TRUE(Check().ok());
  EXPECT_THAT(*store_.Sites(), ElementsAre(here_));
  core::Site copied_back = home;
  copied_back.file = 9;
  here_ = copied_back;
  EXPECT_FALSE(Check().ok());
}

TEST_F(StoreSiteTest, ACopyInThePlaceOfTheOriginalIsAskedAboutOnce) {
  ASSERT_TRUE(Check().ok());
  here_.file = 8;
  EXPECT_EQ(Check().error().message,
            "this store was moved or copied: it is not the file that was used in "
            "/home/alice/store on laptop");
  ASSERT_TRUE(Await(AdoptStore(Here())).ok());
  EXPECT_TRUE(Check().ok());
  EXPECT_THAT(*store_.Sites(), ElementsAre(here_));
}

/// A folder with a file system of its own, which numbers its files as every other of its kind.
class Disk {
 public:
  Disk() {
    mounted_ = ::geteuid() == 0 && ::mount("jobman", dir_.path().c_str(), "tmpfs", 0, "") == 0;
    if (mounted_) std::ofstream(dir_ / "jobman.db") << "a store";
  }
  ~Disk() { Unmount(); }
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;
  bool mounted() const { return mounted_; }
  void Unmount() {
    if (mounted_) ::umount(dir_.path().c_str());
    mounted_ = false;
  }
  std::string path() const { return dir_.path().string(); }
  std::uint64_t Inode() const {
    struct stat info = {};
    EXPECT_EQ(::stat((dir_ / "jobman.db").c_str(), &info), 0);
    return info.st_ino;
  }

 private:
  test::TempDir dir_;
  bool mounted_ = false;
};

TEST_F(StoreSiteTest, ASnapshotHasTheInodeOfTheOriginal) {
  Disk original;
  const Disk snapshot;
  if (!snapshot.mounted()) GTEST_SKIP() << "only root can mount a file system";
  if (original.Inode() != snapshot.Inode()) GTEST_SKIP() << "the two files have different inodes";
  here_.path = original.path();
  here_.file = original.Inode();
  ASSERT_TRUE(Check().ok());
  here_.path = snapshot.path();
  const auto refused = Check();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().reason, base::Reason::kCopiedStore);
  original.Unmount();
  EXPECT_TRUE(Check().ok()) << "the disk is mounted elsewhere";
}

TEST_F(StoreSiteTest, SeveralMachinesAreRememberedOnceAdopted) {
  ASSERT_TRUE(Check().ok());
  const core::Site first = here_;
  here_.machine = "m2";
  EXPECT_FALSE(Check().ok());
  const auto adopted = Await(AdoptStore(Here()));
  ASSERT_TRUE(adopted.ok());
  EXPECT_EQ(adopted->store_id, "memory");
  const core::Site second = here_;
  for (int round = 0; round < 2; ++round) {
    here_ = first;
    EXPECT_TRUE(Check().ok()) << "not asked each time in turn";
    here_ = second;
    EXPECT_TRUE(Check().ok());
  }
}

TEST_F(StoreSiteTest, AMovedStoreKeepsItsJobs) {
  ASSERT_TRUE(Check().ok());
  const core::Job job = Running();
  Copy();
  ASSERT_TRUE(Await(AdoptStore(Here())).ok());
  EXPECT_TRUE(Check().ok());
  EXPECT_EQ(*store_.Get(job.id), job);
  EXPECT_EQ(*store_.StoreId(), "memory");
}

TEST_F(StoreSiteTest, ACopyGetsItsOwnIdAndLeavesItsJobsToTheOriginal) {
  ASSERT_TRUE(Check().ok());
  const core::Job job = Running();
  core::Job over = test::JobBuilder().Build();
  over.state = core::Done{.outcome = core::Outcome::kSucceeded};
  over.wake_at.reset();
  over = Put(over);
  HoldLease();
  Copy();
  const auto adopted = Await(AdoptCopy(Here()));
  ASSERT_TRUE(adopted.ok()) << adopted.error().ToString();
  EXPECT_THAT(adopted->left, ElementsAre(job.id));
  EXPECT_EQ(*store_.StoreId(), adopted->store_id);
  EXPECT_NE(adopted->store_id, "memory");
  EXPECT_EQ(adopted->store_id.size(), 12u);
  const core::Job left = *store_.Get(job.id);
  EXPECT_EQ(core::StateName(left.state), "CANCELLED");
  EXPECT_FALSE(left.slice);
  EXPECT_EQ(store_.Events(job.id, 0)->back().text, left.why);
  const auto attempts = store_.Attempts(job.id);
  ASSERT_EQ(attempts->size(), 1u);
  EXPECT_EQ(attempts->front().outcome, "cancelled");
  EXPECT_EQ(*store_.Get(over.id), over);
  EXPECT_FALSE(store_.CurrentLease()->has_value()) << "it names the original's controller";
  EXPECT_TRUE(Check().ok());
}

TEST_F(StoreSiteTest, ACopyRunsNoTaskOfTheJobsThatItLeaves) {
  ASSERT_TRUE(Check().ok());
  const core::JobId first = Running().id;
  const core::JobId second = Running().id;
  core::Task task = test::MakeTask("train-1");
  task.queue = *store_.OpenQueue("/home/alice/tasks.yaml");
  task.definition.max_jobs = 2;
  ASSERT_TRUE(store_.ChangeTasks({task}).ok());
  for (const core::JobId worker : {second, first}) {
    const core::Task seen = *store_.GetTask(task.queue, "train-1");
    auto claimed = core::ClaimTask(seen, test::MakeWorker(worker.value), clock_.Now());
    ASSERT_TRUE(claimed);
    ASSERT_TRUE(store_.Commit({.job = *store_.Get(worker), .tasks = {*claimed}}, 0).ok());
  }
  Copy();
  const auto adopted = Await(AdoptCopy(Here()));
  ASSERT_TRUE(adopted.ok()) << adopted.error().ToString();
  const core::Task left = *store_.GetTask(task.queue, "train-1");
  EXPECT_THAT(left.claims, IsEmpty());
  EXPECT_EQ(core::StateOfTask(left, false), core::TaskState::kQueued);
  EXPECT_EQ(left.why, "run 1 on job " + core::FormatJobId(second) +
                          " was stopped: left to the store that this one is a copy of");
  const auto runs = *store_.Runs(task.queue, "train-1");
  ASSERT_EQ(runs.size(), 2u);
  for (const core::TaskRun& run : runs) EXPECT_TRUE(run.end) << run.number;
}

/// At home, nobody else would have what the jobs hold.
TEST_F(StoreSiteTest, AStoreThatIsNoCopyDoesNotLeaveItsJobs) {
  ASSERT_TRUE(Check().ok());
  const core::Job job = Running();
  const auto refused = Await(AdoptCopy(Here()));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, base::Code::kFailedPrecondition);
  EXPECT_THAT(refused.error().message, HasSubstr("1 job"));
  EXPECT_EQ(*store_.Get(job.id), job);
  EXPECT_EQ(*store_.StoreId(), "memory");
}

}  // namespace
}  // namespace jobman::client
