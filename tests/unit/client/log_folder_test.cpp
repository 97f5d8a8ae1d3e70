#include "jobman/client/log_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "tests/unit/client/logs.hpp"

namespace jobman::client {
namespace {

using testing::ElementsAre;

std::int64_t AtBegin(const base::Path&) {
  return 0;
}

std::vector<int> HostsOf(LogFolder& folder) {
  std::vector<int> hosts;
  for (const LogPlace& log : folder.logs()) hosts.push_back(log.file.host);
  return hosts;
}

TEST(LogFolder, KeepsThePlacesOfTheLogsThatItKnows) {
  LogFolder folder;
  folder.Add({{.host = 1, .path = "b"}, {.host = 5, .path = "f"}}, AtBegin);
  folder.logs()[1].offset = 42;
  folder.Add({{.host = 0, .path = "a"},
              {.host = 1, .path = "b"},
              {.host = 3, .path = "d"},
              {.host = 5, .path = "f"},
              {.host = 9, .path = "j"}},
             [](const base::Path&) { return std::int64_t{7}; });
  EXPECT_THAT(HostsOf(folder), ElementsAre(0, 1, 3, 5, 9));
  EXPECT_EQ(folder.logs()[0].offset, 7);
  EXPECT_EQ(folder.logs()[1].offset, 0);
  EXPECT_EQ(folder.logs()[3].offset, 42);
}

/// How often a folder is looked at again in so many looks.
int CountChanges(LogFolder& folder, const base::Path& path, int looks) {
  int changed = 0;
  for (int look = 0; look < looks; ++look) changed += folder.MayHaveChanged(path, false) ? 1 : 0;
  return changed;
}

std::vector<int> GrownOf(LogFolder& folder) {
  std::vector<int> hosts;
  for (LogPlace& log : folder.logs())
    if (std::exchange(log.may_have_grown, false)) hosts.push_back(log.file.host);
  return hosts;
}

/// All watches that a user may have, so that no other is to be had.
std::vector<base::FolderWatch> AllWatches(const base::Path& folder) {
  std::vector<base::FolderWatch> watches;
  constexpr int kMost = 4096;
  for (int i = 0; i < kMost; ++i) {
    base::FolderWatch one(folder);
    if (!one.Changed()) break;
    watches.push_back(std::move(one));
  }
  return watches;
}

class LogFolderOfHosts : public testing::Test {
 protected:
  void Write(int host) { world_.WriteLog(1, 1, "run", host, "x"); }
  void AddAll() {
    folder_.Add(LogFiles(world_.paths(), core::JobId{1}, {.attempt = 1, .name = "run"}), AtBegin);
  }
  base::Path path() const { return world_.paths().LogPath(1, 1, "run", 0).parent_path(); }

  const test::Logs world_;
  LogFolder folder_;
};

TEST_F(LogFolderOfHosts, OnlyLogsThatWereWrittenToAreLookedAt) {
  Write(0);
  Write(1);
  EXPECT_TRUE(folder_.MayHaveChanged(path(), false));
  AddAll();
  EXPECT_THAT(GrownOf(folder_), ElementsAre(0, 1));
  EXPECT_FALSE(folder_.MayHaveChanged(path(), false));
  EXPECT_THAT(GrownOf(folder_), ElementsAre());
  Write(1);
  EXPECT_FALSE(folder_.MayHaveChanged(path(), false)) << "no new log";
  EXPECT_THAT(GrownOf(folder_), ElementsAre(1));
  Write(2);
  EXPECT_TRUE(folder_.MayHaveChanged(path(), false));
  AddAll();
  EXPECT_THAT(GrownOf(folder_), ElementsAre(2));
}

TEST_F(LogFolderOfHosts, AllAreLookedAtNowAndThenAndWhenItMustBeSure) {
  Write(0);
  EXPECT_TRUE(folder_.MayHaveChanged(path(), false));
  AddAll();
  GrownOf(folder_);
  int grown = 0;
  for (int look = 0; look < 110; ++look) {
    folder_.MayHaveChanged(path(), false);
    grown += static_cast<int>(GrownOf(folder_).size());
  }
  EXPECT_EQ(grown, 10) << "another machine may have written to it";
  EXPECT_TRUE(folder_.MayHaveChanged(path(), true));
  EXPECT_THAT(GrownOf(folder_), ElementsAre(0));
}

TEST_F(LogFolderOfHosts, AFolderThatIsMadeAnewIsWatchedAgain) {
  Write(0);
  EXPECT_TRUE(folder_.MayHaveChanged(path(), false));
  AddAll();
  std::filesystem::remove_all(path());
  folder_.MayHaveChanged(path(), false);
  Write(0);
  EXPECT_TRUE(folder_.MayHaveChanged(path(), false));
  GrownOf(folder_);
  Write(0);
  folder_.MayHaveChanged(path(), false);
  EXPECT_THAT(GrownOf(folder_), ElementsAre(0));
}

TEST_F(LogFolderOfHosts, WithoutAWatchAllAreLookedAtAndTheFolderIsReadSeldom) {
  const test::Logs other;
  other.WriteLog(1, 1, "run", 0, "x");
  const auto watches = AllWatches(other.paths().LogPath(1, 1, "run", 0).parent_path());
  if (watches.size() >= 4096) GTEST_SKIP() << "a user may have many watches here";
  Write(0);
  EXPECT_TRUE(folder_.MayHaveChanged(path(), false));
  AddAll();
  EXPECT_TRUE(folder_.MayHaveChanged(path(), false)) << "its time does not tell so soon";
  GrownOf(folder_);
  const int changed = CountChanges(folder_, path(), 1000);
  EXPECT_LT(changed, 50);
  EXPECT_GT(changed, 5) << "in any case now and then";
  EXPECT_THAT(GrownOf(folder_), ElementsAre(0));
  // At once, and not only when the next look is due in any case.
  const auto later = std::filesystem::last_write_time(path()) + std::chrono::seconds{1};
  std::filesystem::last_write_time(path(), later);
  EXPECT_TRUE(folder_.MayHaveChanged(path(), false));
}

TEST(LogFolder, ThatDoesNotExistYetMayComeAtAnyTime) {
  const test::Logs world;
  LogFolder folder;
  EXPECT_EQ(CountChanges(folder, world.home.path() / "later", 100), 100);
}

}  // namespace
}  // namespace jobman::client
