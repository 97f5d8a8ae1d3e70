#include "jobman/ui/table.hpp"

#include <gtest/gtest.h>

namespace jobman::ui {
namespace {

Table Jobs() {
  Table table({{.header = "ID", .right = true},
               {.header = "NAME", .flexible = 1},
               {.header = "STATUS"},
               {.header = "WHY", .flexible = 1}});
  table.AddRow({"7", "a", Cell{"RUNNING", Tone::kGood}, "the command runs on 4 hosts"});
  table.AddRow({"42", "resnet-ablation", Cell{"FAILED", Tone::kBad}, ""});
  return table;
}

TEST(Table, ColumnsAreAlignedAndLinesHaveNoTrailingBlanks) {
  EXPECT_EQ(Jobs().Render({}),
            "ID  NAME             STATUS   WHY\n"
            " 7  a                RUNNING  the command runs on 4 hosts\n"
            "42  resnet-ablation  FAILED\n");
}

TEST(Table, TheWidestFlexibleColumnShrinksFirst) {
  EXPECT_EQ(Jobs().Render({.width = 46, .utf8 = true}),
            "ID  NAME             STATUS   WHY\n"
            " 7  a                RUNNING  the command run…\n"
            "42  resnet-ablation  FAILED\n");
  EXPECT_EQ(Jobs().Render({.width = 40, .utf8 = false}),
            "ID  NAME          STATUS   WHY\n"
            " 7  a             RUNNING  the comman...\n"
            "42  resnet-ab...  FAILED\n");
}

TEST(Table, ColumnsThatComeLaterStayWholeLonger) {
  Table table({{.header = "NAME", .flexible = 2, .enough = 20},
               {.header = "HOST", .drop = 1},
               {.header = "WHY", .flexible = 1, .enough = 10}});
  table.AddRow({"a-long-name-of-a-job", "10.0.0.2", "it waits for capacity"});
  EXPECT_EQ(table.Render({.width = 44}, false), "a-long-name-of-a-job  10.0.0.2  it waits ...\n");
  EXPECT_EQ(table.Render({.width = 36}, false), "a-long-name-of-a-job  it waits fo...\n")
      << "the host goes before WHY is of no use";
  EXPECT_EQ(table.Render({.width = 30}, false), "a-long-name-of-a-job  it wa...\n");
  EXPECT_EQ(table.Render({.width = 20}, false), "a-long-...  it wa...\n");
}

TEST(Table, AFlexibleColumnStaysReadable) {
  EXPECT_EQ(Jobs().Render({.width = 10, .utf8 = true}),
            "ID  NAME      STATUS   WHY\n"
            " 7  a         RUNNING  the com…\n"
            "42  resnet-…  FAILED\n");
}

TEST(Table, AColumnMayKeepTheEndThatTellsItsCellsApart) {
  Table table({{.header = "SLICE", .flexible = 1, .by_end = true},
               {.header = "REASON", .wraps = true, .enough = 16}});
  table.AddRow({"a-long-name-000001-a1", ""});
  table.AddRow({"a-long-name-000001-a2", "it was preempted"});
  EXPECT_EQ(table.Render({.width = 39, .utf8 = true}),
            "SLICE                  REASON\n"
            "a-long-name-000001-a1\n"
            "a-long-name-000001-a2  it was preempted\n");
  EXPECT_EQ(table.Render({.width = 30, .utf8 = true}),
            "SLICE         REASON\n"
            "…e-000001-a1\n"
            "…e-000001-a2  it was preempted\n");
}

TEST(Table, WhatWrapsGoesOnBelowBeforeOthersAreShortened) {
  Table table({{.header = "NAME", .flexible = 1}, {.header = "WHY", .wraps = true, .enough = 20}});
  table.AddRow({"a-long-name-of-a-job", "the cloud has no capacity for it"});
  EXPECT_EQ(table.Render({.width = 42}, false),
            "a-long-name-of-a-job  the cloud has no\n"
            "                      capacity for it\n");
}

TEST(Table, ATableThatIsStillTooWideDropsColumnsInOrder) {
  Table table({{.header = "A", .drop = 2}, {.header = "B"}, {.header = "C", .drop = 1}});
  table.AddRow({"aaaa", "bbbb", "cccc"});
  EXPECT_EQ(table.Render({.width = 16}), "A     B     C\naaaa  bbbb  cccc\n");
  EXPECT_EQ(table.Render({.width = 15}), "A     B\naaaa  bbbb\n");
  EXPECT_EQ(table.Render({.width = 9}), "B\nbbbb\n");
  EXPECT_EQ(table.Render({.width = 1}), "B\nbbbb\n") << "the required column stays";
}

TEST(Table, ANoteIsBelowItsRowAndAsWideAsTheTableMayBe) {
  Table table({{.header = "ID"}, {.header = "NAME"}});
  table.AddRow({"1", "a"});
  table.AddNote("one two\nthree");
  table.AddRow({"2", "b"});
  EXPECT_EQ(table.Render({}), "ID  NAME\n1   a\n    one two three\n2   b\n");
  EXPECT_EQ(table.Render({.width = 12}), "ID  NAME\n1   a\n    one t...\n2   b\n");
}

TEST(Table, ColourDoesNotCountAsWidth) {
  const std::string text = Jobs().Render({.colour = true});
  EXPECT_NE(text.find("\x1b[32mRUNNING\x1b[0m  the command"), std::string::npos) << text;
  EXPECT_NE(text.find("\x1b[2mSTATUS\x1b[0m   \x1b[2mWHY"), std::string::npos) << text;
}

TEST(Table, WideCharactersKeepTheColumnsInLine) {
  Table table({{.header = "NAME"}, {.header = "X"}});
  table.AddRow({"日本", "1"});
  table.AddRow({"abcd", "2"});
  EXPECT_EQ(table.Render({.utf8 = true}), "NAME  X\n日本  1\nabcd  2\n");
}

TEST(Table, HostileTextStaysInItsCell) {
  Table table({{.header = "NAME"}, {.header = "X"}});
  table.AddRow({"a\nb\x1b[2J", "1"});
  EXPECT_EQ(table.Render({}), "NAME     X\na b?[2J  1\n");
}

TEST(Table, TheLastColumnMayGoOnInTheNextLine) {
  Table table({{.header = "WHAT"}, {.header = "TEXT", .wraps = true}});
  table.AddRow({"hook", "one two three four five"});
  table.AddRow({"", "six"});
  EXPECT_EQ(table.Render({.width = 22}),
            "WHAT  TEXT\nhook  one two three\n      four five\n      six\n");
  EXPECT_EQ(table.Render({}), "WHAT  TEXT\nhook  one two three four five\n      six\n");
}

}  // namespace
}  // namespace jobman::ui
