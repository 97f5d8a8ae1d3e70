#include "controller/task_folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "jobman/base/files.hpp"
#include "jobman/ports/queue_store.hpp"
#include "tests/support/temp_dir.hpp"

namespace jobman::controller {
namespace {

class TaskFolder : public testing::Test {
 protected:
  base::Path Make(int run) const {
    const base::Path folder = paths_.TaskRunDir(7, "lr1", {.number = run, .job = 4});
    EXPECT_TRUE(base::EnsureDir(folder).ok());
    EXPECT_TRUE(base::WriteFileAtomic(folder / "host-0000.log", "text").ok());
    return folder;
  }
  test::TempDir dir_;
  base::StatePaths paths_ = {.home = dir_.path()};
};

TEST_F(TaskFolder, KeepsTheRunsThatTheStoreRemembers) {
  const base::Path first = Make(1), second = Make(2), third = Make(3);
  DropOldRuns(paths_, 7, "lr1", ports::kRunsKept);
  EXPECT_TRUE(std::filesystem::exists(first));
  DropOldRuns(paths_, 7, "lr1", ports::kRunsKept + 2);
  EXPECT_FALSE(std::filesystem::exists(first));
  EXPECT_FALSE(std::filesystem::exists(second));
  EXPECT_TRUE(std::filesystem::exists(third));
}

TEST_F(TaskFolder, LeavesWhatIsNoRunAndOtherTasks) {
  Make(1);
  const base::Path notes = paths_.TaskDir(7, "lr1") / "notes";
  ASSERT_TRUE(base::EnsureDir(notes).ok());
  const base::Path other = paths_.TaskRunDir(7, "lr2", {.number = 1, .job = 4});
  ASSERT_TRUE(base::EnsureDir(other).ok());
  DropOldRuns(paths_, 7, "lr1", 10 * ports::kRunsKept);
  EXPECT_TRUE(std::filesystem::exists(notes));
  EXPECT_TRUE(std::filesystem::exists(other));
  DropOldRuns(paths_, 7, "never-run", 10 * ports::kRunsKept);
}

}  // namespace
}  // namespace jobman::controller
