#include "jobman/base/folder_watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <vector>

#include "tests/support/temp_dir.hpp"

namespace jobman::base {
namespace {

using testing::ElementsAre;

bool IsQuiet(FolderWatch& watch) {
  const auto changed = watch.Changed();
  return changed && changed->made.empty() && changed->written.empty();
}

class FolderWatchTest : public testing::Test {
 protected:
  void Append(const char* name) const { std::ofstream(dir_ / name, std::ios::app) << 'x'; }
  test::TempDir dir_;
};

TEST_F(FolderWatchTest, TellsOnceWhichFilesWereMadeOrWrittenTo) {
  Append("old");
  FolderWatch watch(dir_.path());
  EXPECT_TRUE(IsQuiet(watch));
  Append("old");
  Append("new");
  ASSERT_TRUE(WriteFileAtomic(dir_ / "renamed", "text").ok());
  auto changed = watch.Changed();
  ASSERT_TRUE(changed);
  EXPECT_TRUE(changed->made.contains("new") && changed->made.contains("renamed"));
  EXPECT_FALSE(changed->made.contains("old"));
  EXPECT_TRUE(changed->written.contains("old") && changed->written.contains("new"));
  EXPECT_TRUE(IsQuiet(watch));
  Append("new");
  changed = watch.Changed();
  ASSERT_TRUE(changed);
  EXPECT_THAT(changed->made, ElementsAre());
  EXPECT_THAT(changed->written, ElementsAre("new"));
}

TEST_F(FolderWatchTest, AProcessHasAFewAtOnce) {
  {
    std::vector<FolderWatch> watches;
    for (int i = 0; i < FolderWatch::kMostOfAProcess; ++i) watches.emplace_back(dir_.path());
    EXPECT_TRUE(IsQuiet(watches.back()));
    FolderWatch other(dir_.path());
    EXPECT_FALSE(other.Changed());
  }
  FolderWatch again(dir_.path());
  EXPECT_TRUE(IsQuiet(again));
}

TEST_F(FolderWatchTest, KnowsNothingOfAFolderThatIsNotThere) {
  FolderWatch watch(dir_ / "none");
  EXPECT_FALSE(watch.Changed());
}

TEST_F(FolderWatchTest, SaysSoWhenTheFolderGoes) {
  const Path folder = dir_ / "gone";
  std::filesystem::create_directory(folder);
  FolderWatch watch(folder);
  std::filesystem::remove(folder);
  EXPECT_FALSE(watch.Changed());
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
  EXPECT_FALSE(watch.Changed());
  one << 'x' << std::flush;
  const auto changed = watch.Changed();
  ASSERT_TRUE(changed) << "from then on it knows again";
  EXPECT_THAT(changed->written, ElementsAre("one"));
}

}  // namespace
}  // namespace jobman::base
