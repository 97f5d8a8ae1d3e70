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
  for (int look = 0; look < looks; ++look) changed += folder.MayHaveChanged(path, {}) ? 1 : 0;
  return changed;
}

std::vector<int> GrownOf(LogFolder& folder) {
  std::vector<int> hosts;
  for (LogPlace& log : folder.logs())
    if (std::exchange(log.may_have_grown, false)) hosts.push_back(log.file.host);
  return hosts;
}

/// Many enough that a watch is worth it.
constexpr int kHosts = 20;

class LogFolderOfHosts : public testing::Test {
 protected:
  LogFolderOfHosts() {
    WriteAll();
    // The watch comes with the first look at so many.
    EXPECT_TRUE(Changed());
    AddAll();
    EXPECT_TRUE(Changed());
    AddAll();
    GrownOf(folder_);
  }
  void Write(int host) { world_.WriteLog(1, 1, "run", host, "x"); }
  void WriteAll() {
    for (int host = 0; host < kHosts; ++host) Write(host);
  }
  void AddAll() {
    folder_.Add(LogFiles(world_.paths(), core::JobId{1}, {.attempt = 1, .name = "run"}), AtBegin);
  }
  bool Changed() { return folder_.MayHaveChanged(path(), {}); }
  base::Path path() const { return world_.paths().LogPath(1, 1, "run", 0).parent_path(); }

  const test::Logs world_;
  LogFolder folder_;
};

TEST_F(LogFolderOfHosts, OnlyLogsThatWereWrittenToAreLookedAt) {
  EXPECT_FALSE(Changed());
  EXPECT_THAT(GrownOf(folder_), ElementsAre());
  Write(1);
  EXPECT_FALSE(Changed()) << "no new log";
  EXPECT_THAT(GrownOf(folder_), ElementsAre(1));
  Write(kHosts);
  EXPECT_TRUE(Changed());
  AddAll();
  EXPECT_THAT(GrownOf(folder_), ElementsAre(kHosts));
}

TEST_F(LogFolderOfHosts, FilesBesideALogAreNone) {
  std::ofstream(world_.paths().LogPath(1, 1, "run", 3).native() + ".times") << 'x';
  EXPECT_FALSE(Changed());
  EXPECT_THAT(GrownOf(folder_), ElementsAre());
}

TEST_F(LogFolderOfHosts, AllAreLookedAtNowAndThenAndWhenItMustBeSure) {
  int all = 0;
  int changed = 0;
  for (int look = 0; look < 550; ++look) {
    changed += Changed() ? 1 : 0;
    all += std::ssize(GrownOf(folder_)) == kHosts ? 1 : 0;
  }
  EXPECT_EQ(all, 22) << "another machine may have written to it";
  EXPECT_THAT(changed, testing::AllOf(testing::Ge(9), testing::Le(15))) << "or made a log";
  EXPECT_TRUE(folder_.MayHaveChanged(path(), {.sure = true}));
  EXPECT_EQ(std::ssize(GrownOf(folder_)), kHosts);
}

TEST_F(LogFolderOfHosts, AFolderThatIsMadeAnewIsWatchedAgain) {
  std::filesystem::remove_all(path());
  Changed();
  WriteAll();
  EXPECT_TRUE(Changed());
  GrownOf(folder_);
  Write(0);
  Changed();
  EXPECT_THAT(GrownOf(folder_), ElementsAre(0));
}

TEST_F(LogFolderOfHosts, WithoutAWatchAllAreLookedAtAndTheFolderIsReadSeldom) {
  std::vector<base::FolderWatch> others;
  LogFolder folder;
  for (int i = 0; i < base::FolderWatch::kMostOfAProcess; ++i) others.emplace_back(path());
  folder.Add(LogFiles(world_.paths(), core::JobId{1}, {.attempt = 1, .name = "run"}), AtBegin);
  EXPECT_TRUE(folder.MayHaveChanged(path(), {}));
  EXPECT_TRUE(folder.MayHaveChanged(path(), {})) << "its time does not tell so soon";
  GrownOf(folder);
  const int changed = CountChanges(folder, path(), 1000);
  EXPECT_LT(changed, 50);
  EXPECT_GT(changed, 5) << "in any case now and then";
  EXPECT_EQ(std::ssize(GrownOf(folder)), kHosts);
  // At once, and not only when the next look is due in any case.
  const auto later = std::filesystem::last_write_time(path()) + std::chrono::seconds{1};
  std::filesystem::last_write_time(path(), later);
  EXPECT_TRUE(folder.MayHaveChanged(path(), {}));
}

TEST_F(LogFolderOfHosts, TheLogsOfAnEarlierAttemptTakeNoWatch) {
  EXPECT_FALSE(folder_.MayHaveChanged(path(), {}));
  folder_.MayHaveChanged(path(), {.watched = false});
  EXPECT_EQ(std::ssize(GrownOf(folder_)), kHosts);
}

TEST(LogFolder, ThatDoesNotExistYetMayComeAtAnyTime) {
  const test::Logs world;
  LogFolder folder;
  EXPECT_EQ(CountChanges(folder, world.home.path() / "later", 100), 100);
}

}  // namespace
}  // namespace jobman::client
