#include "jobman/ui/line_folding.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobman/base/strings.hpp"

namespace jobman::ui {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class LineFoldingTest : public testing::Test {
 protected:
  std::vector<std::string> shown_ = {};
  LineFolding folding_{
      [this](const std::vector<int>& hosts, std::string_view line, bool continued) {
        shown_.push_back(base::FormatRanges(hosts) + (continued ? "+" : "|") + std::string(line));
      }};
};

TEST_F(LineFoldingTest, ALineOfSeveralHostsIsShownOnce) {
  for (const int host : {2, 0, 1}) folding_.Add(host, "step 1\n", false);
  folding_.Add(3, "boom\n", false);
  EXPECT_THAT(shown_, IsEmpty()) << "others may write it yet";
  EXPECT_FALSE(folding_.empty());
  folding_.Flush();
  EXPECT_THAT(shown_, ElementsAre("0-2|step 1\n", "3|boom\n"));
  EXPECT_TRUE(folding_.empty());
}

TEST_F(LineFoldingTest, TheLinesOfEachHostKeepTheirOrder) {
  for (const char* line : {"a", "b"}) folding_.Add(0, line, false);
  for (const char* line : {"b", "a"}) folding_.Add(1, line, false);
  folding_.Flush();
  EXPECT_THAT(shown_, ElementsAre("0|a", "0-1|b", "1|a"));
}

TEST_F(LineFoldingTest, WhatAHostWritesTwiceIsShownTwice) {
  for (int i = 0; i < 2; ++i) folding_.Add(0, "x", false);
  folding_.Add(1, "x", false);
  folding_.Flush();
  EXPECT_THAT(shown_, ElementsAre("0-1|x", "0|x"));
}

TEST_F(LineFoldingTest, APieceOfALineIsNoLine) {
  folding_.Add(0, "x", false);
  folding_.Add(1, "x", true);
  folding_.Flush();
  EXPECT_THAT(shown_, ElementsAre("0|x", "1+x"));
}

TEST_F(LineFoldingTest, HoldsNoMoreThanItMay) {
  const std::string line(100'000, 'x');
  for (int i = 0; i < 50; ++i) folding_.Add(0, line + std::to_string(i), false);
  EXPECT_GT(shown_.size(), 10u);
  folding_.Flush();
  EXPECT_EQ(shown_.size(), 50u);
}

}  // namespace
}  // namespace jobman::ui
