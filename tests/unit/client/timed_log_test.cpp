#include "jobman/client/timed_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobman/base/file_times.hpp"
#include "jobman/client/log_files.hpp"
#include "tests/support/modified.hpp"
#include "tests/unit/client/logs.hpp"

namespace jobman::client {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::Pair;

/// A log of which "one\n" came at second 100, "two\nth" at 200, "ree\n" at 300.
class TimedLog : public testing::Test {
 protected:
  TimedLog() {
    Came(100, "one\n");
    Came(200, "two\nth");
    Came(300, "ree\n");
  }
  static base::TimePoint Second(std::int64_t second) { return base::TimePoint{seconds{second}}; }
  void Came(std::int64_t second, const std::string& text) {
    std::filesystem::create_directories(path_.parent_path());
    base::FileTimesWriter(path_).Record(base::FileSize(path_).value_or(0), Second(second),
                                        std::ssize(text));
    logs_.WriteLog(1, 1, "run", 0, text);
    test::SetModified(path_, Second(second));
  }
  std::string From(const LogPart& part) {
    std::string text;
    const auto end = ReadLog(path_, BeginOf(path_, part), [&text](std::string_view bytes) {
      text.append(bytes);
      return true;
    });
    EXPECT_TRUE(end.ok());
    return text;
  }
  std::vector<std::pair<std::string, std::optional<base::TimePoint>>> Pieces(bool timed) {
    std::vector<std::pair<std::string, std::optional<base::TimePoint>>> pieces;
    const auto end = ReadPieces(path_, 0, timed, [&pieces](const LogPiece& piece) {
      pieces.emplace_back(piece.bytes, piece.at);
      return true;
    });
    EXPECT_EQ(*end, base::FileSize(path_));
    return pieces;
  }

  test::Logs logs_ = {};
  base::Path path_ = logs_.paths().LogPath(1, 1, "run", 0);
};

TEST_F(TimedLog, PiecesSayWhenTheyCame) {
  EXPECT_THAT(Pieces(true), ElementsAre(Pair("one\n", Second(100)), Pair("two\nth", Second(200)),
                                        Pair("ree\n", Second(300))));
  EXPECT_THAT(Pieces(false), ElementsAre(Pair("one\ntwo\nthree\n", std::nullopt)));
}

TEST_F(TimedLog, WhatComesWhileItIsReadHasItsOwnTime) {
  Came(400, std::string(600'000, 'x') + "\n");
  std::vector<std::optional<base::TimePoint>> times;
  ASSERT_TRUE(ReadPieces(path_, 0, true, [&](const LogPiece& piece) {
                if (piece.bytes == "one\n") Came(500, "late\n");
                times.push_back(piece.at);
                return true;
              }).ok());
  EXPECT_EQ(times.front(), Second(100));
  EXPECT_EQ(times.back(), Second(500));
}

TEST_F(TimedLog, WhatCameSinceATimeBeginsWithALine) {
  EXPECT_EQ(From({}), "one\ntwo\nthree\n");
  EXPECT_EQ(From({.since = Second(50)}), "one\ntwo\nthree\n");
  EXPECT_EQ(From({.since = Second(150)}), "two\nthree\n");
  EXPECT_EQ(From({.since = Second(250)}), "three\n") << "it was complete then";
  EXPECT_EQ(From({.since = Second(301)}), "");
}

TEST_F(TimedLog, OfWhatCameSinceOnlyTheLastLines) {
  EXPECT_EQ(From({.tail = 1, .since = Second(150)}), "three\n");
  EXPECT_EQ(From({.tail = 3, .since = Second(150)}), "two\nthree\n");
}

TEST_F(TimedLog, AShortLogWithoutARecordCameWhenItWasWritten) {
  const base::Path path = logs_.paths().LogPath(1, 1, "run", 1);
  logs_.WriteLog(1, 1, "run", 1, "one\ntwo\n");
  test::SetModified(path, Second(100));
  EXPECT_FALSE(IsUntimed(path));
  path_ = path;
  EXPECT_THAT(Pieces(true), ElementsAre(Pair("one\ntwo\n", Second(100))));
  EXPECT_EQ(From({.since = Second(100)}), "one\ntwo\n");
  EXPECT_EQ(From({.since = Second(101)}), "");
}

TEST_F(TimedLog, AnOlderLogIsShownWhole) {
  Came(400, std::string(base::FileTimes::kMostUnrecorded, 'x') + "\n");
  EXPECT_FALSE(IsUntimed(path_));
  ASSERT_TRUE(base::RemoveAll(path_.string() + ".times").ok());
  EXPECT_TRUE(IsUntimed(path_));
  EXPECT_THAT(From({.since = Second(1000)}), testing::StartsWith("one\ntwo\nthree\nxxx"));
  EXPECT_THAT(From({.tail = 1, .since = Second(1000)}), testing::StartsWith("xxx"));
  EXPECT_THAT(Pieces(true), ElementsAre(Pair(testing::StartsWith("one\n"), std::nullopt)));
  EXPECT_FALSE(IsUntimed(logs_.paths().LogPath(1, 1, "run", 7))) << "it is not there";
}

TEST_F(TimedLog, WhatALongLogHasLostIsPassedOver) {
  ASSERT_TRUE(base::WriteFileAtomic(path_.string() + ".gap", "4 8\n").ok());
  const auto pieces = Pieces(true);
  ASSERT_EQ(pieces.size(), 4U);
  EXPECT_THAT(pieces[0], Pair("one\n", Second(100)));
  EXPECT_THAT(pieces[2], Pair("th", Second(200)));
  EXPECT_THAT(pieces[3], Pair("ree\n", Second(300)));
}

TEST_F(TimedLog, ALineWithoutEndIsNotLookedForFarBack) {
  Came(400, std::string(100'000, 'x'));
  Came(500, "y\n");
  EXPECT_EQ(From({.since = Second(500)}), "y\n");
}

}  // namespace
}  // namespace jobman::client
