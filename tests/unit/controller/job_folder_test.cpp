#include "jobman/controller/job_folder.hpp"

#include <gtest/gtest.h>

#include "jobman/base/files.hpp"
#include "tests/support/sample_job.hpp"
#include "tests/support/temp_dir.hpp"

namespace jobman::controller {
namespace {

class JobFolder : public testing::Test {
 protected:
  static core::Job Job(const std::string& name) {
    core::Job job = test::SampleJob(name);
    job.id = {4};
    job.created_at = test::kNow;
    return job;
  }
  void Write(const std::string& file, const std::string& text) const {
    ASSERT_TRUE(base::EnsureDir(paths_.JobDir(4)).ok());
    ASSERT_TRUE(base::WriteFileAtomic(paths_.JobDir(4) / file, text).ok());
  }
  std::string Read(const base::Path& file) const {
    return base::ReadFile(paths_.home / "jobs" / file).value_or("none");
  }

  test::TempDir dir_;
  base::StatePaths paths_ = {.home = dir_.path()};
};

TEST_F(JobFolder, ANewJobNeverGetsTheFolderOfAnEarlierOneOfItsNumber) {
  Write("log", "earlier");  // an older jobman did not write whose it is
  ASSERT_TRUE(TakeNewFolder(paths_, Job("train")).ok());
  EXPECT_EQ(Read("000004/log"), "none");
  EXPECT_EQ(Read("000004.1/log"), "earlier") << "moved, not lost";
  Write("log", "own");
  ASSERT_TRUE(TakeNewFolder(paths_, Job("train")).ok());
  EXPECT_EQ(Read("000004/log"), "own") << "safe to repeat";
}

TEST_F(JobFolder, AFolderIsKnownByNameAndTimeOfCreation) {
  const core::Job first = Job("train");
  ASSERT_TRUE(TakeFolder(paths_, first).ok());
  Write("log", "first");
  EXPECT_TRUE(IsOwnFolder(paths_, first));
  core::Job second = first;
  second.created_at += std::chrono::milliseconds{1};
  EXPECT_FALSE(IsOwnFolder(paths_, second));
  EXPECT_FALSE(IsOwnFolder(paths_, Job("eval")));
  ASSERT_TRUE(TakeFolder(paths_, second).ok());
  EXPECT_EQ(Read("000004.1/log"), "first");
  ASSERT_TRUE(TakeFolder(paths_, first).ok());
  EXPECT_EQ(Read("000004/log"), "none") << "the store that was put back is used on";
  EXPECT_EQ(Read("000004.1/log"), "first");
}

TEST_F(JobFolder, AnOlderJobmansFolderIsTheJobsOwn) {
  Write("log", "old");
  EXPECT_TRUE(IsOwnFolder(paths_, Job("train")));
  ASSERT_TRUE(TakeFolder(paths_, Job("train")).ok());
  EXPECT_EQ(Read("000004/log"), "old");
}

}  // namespace
}  // namespace jobman::controller
