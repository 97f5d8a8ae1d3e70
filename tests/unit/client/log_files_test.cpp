#include "jobman/client/log_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "tests/unit/client/logs.hpp"

namespace jobman::client {
namespace {

using testing::ElementsAre;

TEST(LogFiles, LogsOfTheControllerAreFoundInOrder) {
  const test::Logs world;
  for (const int attempt : {10, 2}) world.WriteLog(1, attempt, "run", 0, "x");
  for (const char* stage : {"setup-10-z", "setup-9-a"}) world.WriteLog(1, 2, stage, 0, "x");
  for (const int host : {1023, 7}) world.WriteLog(1, 2, "run", host, "x");
  const auto paths = world.paths();
  EXPECT_THAT(LogAttempts(paths, {1}), ElementsAre(2, 10));
  EXPECT_THAT(LogStages(paths, {1}, 2),
              ElementsAre(LogStage{2, "setup-9-a"}, LogStage{2, "setup-10-z"}, LogStage{2, "run"}));
  const auto files = LogFiles(paths, {1}, {2, "run"});
  ASSERT_EQ(files.size(), 3u);
  EXPECT_EQ(files[1].host, 7);
  EXPECT_EQ(files[2].path, paths.LogPath(1, 2, "run", 1023));
  EXPECT_TRUE(LogAttempts(paths, {99}).empty());
}

TEST(LogFiles, ReadingResumesWhereItStopped) {
  const test::Logs world;
  const auto path = world.paths().LogPath(1, 1, "run", 0);
  std::string text;
  const auto take = [&](std::string_view bytes) {
    text.append(bytes);
    return true;
  };
  EXPECT_EQ(*ReadLog(path, 0, take), 0) << "an absent file holds nothing";
  world.WriteLog(1, 1, "run", 0, std::string("a\0b", 3));
  EXPECT_EQ(*ReadLog(path, 0, take), 3);
  world.WriteLog(1, 1, "run", 0, "c");
  EXPECT_EQ(*ReadLog(path, 3, take), 4);
  EXPECT_EQ(text, std::string("a\0bc", 4));
}

TEST(LogFiles, ReadingSaysWhatALongLogHasLost) {
  const test::Logs world;
  world.WriteLog(1, 1, "run", 0, "head" + std::string(1000, '\0') + "tail");
  const base::Path path = world.paths().LogPath(1, 1, "run", 0);
  ASSERT_TRUE(base::WriteFileAtomic(path.string() + ".gap", "4 1004\n").ok());
  std::string text;
  const auto take = [&text](std::string_view bytes) {
    text.append(bytes);
    return true;
  };
  const std::string tail = " bytes of this log are gone: it is longer than logs.max_bytes\ntail";
  EXPECT_EQ(*ReadLog(path, 0, take), 1008);
  EXPECT_EQ(std::exchange(text, {}), "head\njobman: 1000" + tail);
  EXPECT_EQ(*ReadLog(path, 904, take), 1008);
  EXPECT_EQ(std::exchange(text, {}), "\njobman: 100" + tail);
  EXPECT_EQ(*ReadLog(path, 1004, take), 1008);
  EXPECT_EQ(text, "tail");
}

TEST(LogFiles, ReadingStopsWhenTheCallerSaysSo) {
  const test::Logs world;
  world.WriteLog(1, 1, "run", 0, std::string(std::size_t{600} * 1024, 'x'));
  int pieces = 0;
  const auto end = ReadLog(world.paths().LogPath(1, 1, "run", 0), 0, [&](std::string_view) {
    ++pieces;
    return false;
  });
  EXPECT_EQ(pieces, 1);
  EXPECT_LT(*end, 600 * 1024);
}

}  // namespace
}  // namespace jobman::client
