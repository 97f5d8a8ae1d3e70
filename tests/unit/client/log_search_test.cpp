#include "jobman/client/log_search.hpp"

#include <gtest/gtest.h>

#include "jobman/client/log_files.hpp"
#include "tests/unit/client/logs.hpp"

namespace jobman::client {
namespace {

class LogSearch : public testing::Test {
 protected:
  void Write(const std::string& text) { logs_.WriteLog(1, 1, "run", 0, text); }
  /// What follows from the place that is found, for lines with an "x".
  std::string From(std::int64_t lines, std::int64_t from = 0) {
    const auto fits = [this](std::string_view line) {
      ++looks_;
      return line.find('x') != std::string_view::npos;
    };
    std::string text;
    const auto read = ReadLog(path_, LastFittingFrom(path_, lines, from, fits), [&](auto bytes) {
      text.append(bytes);
      return true;
    });
    EXPECT_TRUE(read.ok());
    return text;
  }

  test::Logs logs_ = {};
  base::Path path_ = logs_.paths().LogPath(1, 1, "run", 0);
  int looks_ = 0;
};

TEST_F(LogSearch, FindsTheLastLinesThatFit) {
  Write("x1\nx2\n\nno\nx3\ndone\n");
  EXPECT_EQ(From(1), "x3\ndone\n");
  EXPECT_EQ(From(2), "x2\n\nno\nx3\ndone\n");
  EXPECT_EQ(From(3), From(4)) << "there are three";
  EXPECT_EQ(From(2, 6), "x3\ndone\n") << "not before that place";
  EXPECT_EQ(From(0), "");
  Write("x4");
  EXPECT_EQ(From(1), "x4") << "it is not finished";
}

TEST_F(LogSearch, AMissingFileHasNone) {
  EXPECT_EQ(From(1), "");
}

/// Nobody has to look at the whole log again to find that out.
TEST_F(LogSearch, WhereNoLineFitsNothingIsLeftButWhatIsNotFinished) {
  Write("no\nno\n");
  EXPECT_EQ(From(1), "");
  Write("hal");
  EXPECT_EQ(From(1), "hal") << "an x may follow";
  EXPECT_EQ(From(1, 6), "hal");
  Write(std::string(200'000, 'f'));
  EXPECT_EQ(From(1), "no\nno\nhal" + std::string(200'000, 'f'));
}

TEST_F(LogSearch, ALongLineIsOne) {
  const std::string line = "x" + std::string(500'000, '-') + "\n";
  Write("x1\n" + line + "no\n");
  EXPECT_EQ(From(1), line + "no\n");
  EXPECT_EQ(looks_, 2);
  EXPECT_EQ(From(2), "x1\n" + line + "no\n");
}

TEST_F(LogSearch, GoesBackAsFarAsItHasTo) {
  std::string text = "x first\n";
  while (text.size() < std::size_t{5} << 20) text += "line " + std::to_string(text.size()) + "\n";
  Write(text + "x last\n");
  EXPECT_EQ(From(1), "x last\n");
  EXPECT_EQ(looks_, 1) << "and no farther";
  EXPECT_EQ(From(2), text + "x last\n");
}

TEST_F(LogSearch, ALineThatFillsABlockIsNoReasonToStopOrToGoOnForEver) {
  Write("x1\n" + std::string(std::size_t{3} << 20, '-') + "\nx2\n");
  EXPECT_EQ(From(1), "x2\n");
  EXPECT_EQ(From(2).substr(0, 3), "x1\n");
}

TEST_F(LogSearch, WhatALongLogHasLostIsPassedOver) {
  Write("x1\nx2" + std::string(1000, 'x') + "x3\nno\n");
  ASSERT_TRUE(base::WriteFileAtomic(path_.string() + ".gap", "5 1005\n").ok());
  EXPECT_EQ(From(1), "x3\nno\n");
  EXPECT_EQ(From(2).substr(0, 3), "x2\n");
  EXPECT_EQ(From(3).substr(0, 3), "x1\n");
}

}  // namespace
}  // namespace jobman::client
