#include "jobman/base/folder_watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temp_dir.hpp"

namespace jobman::base {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

class FolderWatchTest : public testing::Test {
 protected:
  void Append(const char* name) const { std::ofstream(dir_ / name, std::ios::app) << 'x'; }
  test::TempDir dir_;
};

TEST_F(FolderWatchTest, TellsOnceWhichFilesWereMadeOrWrittenTo) {
  Append("old");
  FolderWatch watch(dir_.path());
  EXPECT_THAT(watch.Changed(), Optional(IsEmpty()));
  Append("old");
  Append("new");
  WriteFileAtomic(dir_ / "renamed", "text").value();
  const auto changed = watch.Changed();
  ASSERT_TRUE(changed);
  EXPECT_TRUE(changed->contains("old") && changed->contains("new") && changed->contains("renamed"));
  EXPECT_THAT(watch.Changed(), Optional(IsEmpty()));
  Append("new");
  EXPECT_THAT(watch.Changed(), Optional(ElementsAre("new")));
}

TEST_F(FolderWatchTest, KnowsNothingOfAFolderThatIsNotThere) {
  FolderWatch watch(dir_ / "none");
  EXPECT_EQ(watch.Changed(), std::nullopt);
}

TEST_F(FolderWatchTest, SaysSoWhenTheFolderGoes) {
  const Path folder = dir_ / "gone";
  std::filesystem::create_directory(folder);
  FolderWatch watch(folder);
  std::filesystem::remove(folder);
  EXPECT_EQ(watch.Changed(), std::nullopt);
}

TEST_F(FolderWatchTest, SaysSoWhenMoreHappenedThanTheKernelKeeps) {
  std::int64_t most = 0;
  std::ifstream("/proc/sys/fs/inotify/max_queued_events") >> most;
  if (most <= 0 || most > 100'000) GTEST_SKIP() << "the kernel keeps " << most << " events";
  FolderWatch watch(dir_.path());
  std::ofstream one(dir_ / "one"), other(dir_ / "other");
  // Equal events that follow each other count once.
  for (std::int64_t i = 0; i <= most / 2; ++i) {
    one << 'x' << std::flush;
    other << 'x' << std::flush;
  }
  EXPECT_EQ(watch.Changed(), std::nullopt);
  one << 'x' << std::flush;
  EXPECT_THAT(watch.Changed(), Optional(ElementsAre("one"))) << "from then on it knows again";
}

}  // namespace
}  // namespace jobman::base
