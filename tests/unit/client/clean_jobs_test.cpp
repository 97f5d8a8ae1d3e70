#include "jobman/client/clean_jobs.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include "tests/unit/client/client_world.hpp"
#include "tests/unit/client/nudge_listener.hpp"

namespace jobman::client {
namespace {

using core::JobId;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class CleanJobsTest : public test::ClientWorld {
 protected:
  CleanJobsTest() { HoldLease(); }
  JobId Job(core::JobState state) {
    core::Job job = test::JobBuilder().Build();
    job.state = std::move(state);
    return Put(std::move(job)).id;
  }
  JobId Deleted() { return Job(core::Done{.outcome = core::Outcome::kDeleted}); }
  base::Path WriteLog(JobId job) {
    const base::Path path = Context().paths.LogPath(job.value, 1, "run", 0);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << "said\n";
    return path;
  }
};

TEST_F(CleanJobsTest, JobsThatHaveSomethingInTheCloudAreDeletedFirst) {
  const JobId running = Job(core::Running{});
  const JobId deleted = Deleted();
  test::NudgeListener controller(loop_, Context().paths.ControllerSocket());
  std::vector<JobId> told;
  const auto held =
      Await(DeleteSlices(Context(), {running, deleted}, [&told](JobId id) { told.push_back(id); }));
  ASSERT_TRUE(held.ok()) << held.error().ToString();
  EXPECT_THAT(*held, ElementsAre(running));
  EXPECT_THAT(told, ElementsAre(running));
  EXPECT_EQ(store_.Get(running)->wish, core::Wish::kDelete);
  EXPECT_TRUE(store_.Get(running)->wish_new);
  EXPECT_FALSE(store_.Get(deleted)->wish_new);
  EXPECT_THAT(controller.Take(), SizeIs(1));
}

TEST_F(CleanJobsTest, WithNothingInTheCloudNoControllerIsWoken) {
  test::NudgeListener controller(loop_, Context().paths.ControllerSocket());
  const auto held = Await(DeleteSlices(Context(), {Deleted()}, {}));
  ASSERT_TRUE(held.ok());
  EXPECT_THAT(*held, IsEmpty());
  EXPECT_THAT(controller.Take(), IsEmpty());
}

TEST_F(CleanJobsTest, RecordsAndLogsAreErased) {
  const JobId id = Deleted();
  const base::Path log = WriteLog(id);
  const auto erased = Await(EraseJobs(Context(), {id}));
  EXPECT_THAT(erased.refused, IsEmpty());
  ASSERT_THAT(erased.jobs, SizeIs(1));
  EXPECT_EQ(erased.jobs.front().name, "train");
  EXPECT_EQ(store_.Get(id).error().code, base::Code::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(Context().paths.JobDir(id.value)));
}

TEST_F(CleanJobsTest, AJobThatIsToRunAgainIsKeptWithItsLogs) {
  const JobId first = Deleted();
  const JobId resumed = Deleted();
  const base::Path log = WriteLog(resumed);
  ASSERT_TRUE(
      store_.SetWish(resumed, core::Wish::kRun, core::SetupWish::kAsNeeded, clock_.Now()).ok());
  const JobId last = Deleted();
  const auto erased = Await(EraseJobs(Context(), {first, resumed, last}));
  ASSERT_THAT(erased.refused, SizeIs(1));
  EXPECT_EQ(erased.refused.front().job, resumed);
  EXPECT_EQ(erased.refused.front().error.reason, base::Reason::kStale);
  EXPECT_THAT(erased.jobs, SizeIs(2));
  EXPECT_FALSE(store_.Get(last).ok()) << "the others are erased";
  EXPECT_FALSE(store_.Get(first).ok());
  EXPECT_TRUE(store_.Get(resumed).ok());
  EXPECT_TRUE(std::filesystem::exists(log));
}

}  // namespace
}  // namespace jobman::client
