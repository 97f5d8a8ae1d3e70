#include "jobman/client/log_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST(LogFolder, IsReadSeldomWhileNothingChanges) {
  const test::Logs world;
  world.WriteLog(1, 1, "run", 0, "x");
  const base::Path path = world.paths().LogPath(1, 1, "run", 0).parent_path();
  LogFolder folder;
  EXPECT_TRUE(folder.MayHaveChanged(path));
  EXPECT_TRUE(folder.MayHaveChanged(path)) << "its time is not exact enough to tell so soon";
  int changed = 0;
  for (int look = 0; look < 1000; ++look) changed += folder.MayHaveChanged(path) ? 1 : 0;
  EXPECT_LT(changed, 50);
  EXPECT_GT(changed, 5) << "in any case now and then";
  // At once, and not only when the next look is due in any case.
  const auto later = std::filesystem::last_write_time(path) + std::chrono::seconds{1};
  std::filesystem::last_write_time(path, later);
  EXPECT_TRUE(folder.MayHaveChanged(path));
}

TEST(LogFolder, ThatDoesNotExistYetMayComeAtAnyTime) {
  const test::Logs world;
  LogFolder folder;
  for (int look = 0; look < 100; ++look)
    EXPECT_TRUE(folder.MayHaveChanged(world.home.path() / "later"));
}

}  // namespace
}  // namespace jobman::client
