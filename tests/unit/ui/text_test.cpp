#include "jobman/ui/text.hpp"

#include <gtest/gtest.h>

namespace jobman::ui {
namespace {

TEST(Text, ControlCharactersCannotReachTheTerminal) {
  EXPECT_EQ(Clean("a\x1b[31mb\x07\x7f", true), "a?[31mb??");
  EXPECT_EQ(Clean("two\nlines\tand\ra tab", true), "two lines and a tab");
  EXPECT_EQ(Clean("\xC2\x9B"
                  "31m",
                  true),
            "?31m");  // C1: CSI as one character
  EXPECT_EQ(Clean("abc\xE2\x80\xAE"
                  "def",
                  true),
            "abc?def");  // right-to-left override
}

TEST(Text, InvalidUtf8BecomesQuestionMarks) {
  EXPECT_EQ(Clean("a\xFFz", true), "a?z");
  EXPECT_EQ(Clean("a\xC0\xAFz", true), "a??z");       // overlong
  EXPECT_EQ(Clean("a\xED\xA0\x80z", true), "a???z");  // surrogate
  EXPECT_EQ(Clean("a\xE2\x82", true), "a??");         // cut off
}

TEST(Text, WithoutUtf8EveryOtherCharacterIsAQuestionMark) {
  EXPECT_EQ(Clean("Größe 日本", false), "Gr??e ??");
  EXPECT_EQ(Clean("Größe 日本", true), "Größe 日本");
}

TEST(Text, WidthCountsColumnsNotBytes) {
  EXPECT_EQ(DisplayWidth("train"), 5);
  EXPECT_EQ(DisplayWidth("Größe"), 5);
  EXPECT_EQ(DisplayWidth("日本"), 4);
  EXPECT_EQ(DisplayWidth("e\xCC\x81"), 1);  // e and a combining accent
  EXPECT_EQ(DisplayWidth(""), 0);
}

TEST(Text, TruncateKeepsWhatFitsAndSaysThatItCut) {
  EXPECT_EQ(Truncate("abcdef", 6, true), "abcdef");
  EXPECT_EQ(Truncate("abcdefg", 6, true), "abcde…");
  EXPECT_EQ(Truncate("abcdefg", 6, false), "abc...");
  EXPECT_EQ(Truncate("日本語", 4, true), "日…");  // half of a wide character is not shown
  EXPECT_EQ(Truncate("abcdef", 2, false), "..");
  EXPECT_EQ(Truncate("abcdef", 0, true), "");
}

TEST(Text, TruncateFrontKeepsTheEnd) {
  EXPECT_EQ(TruncateFront("abcdef", 6, true), "abcdef");
  EXPECT_EQ(TruncateFront("abcdefg", 6, true), "…cdefg");
  EXPECT_EQ(TruncateFront("abcdefg", 6, false), "...efg");
  EXPECT_EQ(TruncateFront("日本語", 4, true), "…語");
  EXPECT_EQ(TruncateFront("abcdef", 2, false), "..");
  EXPECT_EQ(TruncateFront("abcdef", 0, true), "");
}

TEST(Text, WrapBreaksBetweenWords) {
  EXPECT_EQ(Wrap("asking for slice a1 in zone b", 4, 20), "asking for slice\n    a1 in zone b");
  EXPECT_EQ(Wrap("asking for slice a1 in zone b", 4, 0), "asking for slice a1 in zone b");
  EXPECT_EQ(Wrap("a-word-longer-than-the-line b", 2, 10), "a-word-longer-than-the-line\n  b");
  EXPECT_EQ(Wrap("日本 語", 0, 5), "日本\n語");
}

TEST(Text, WrapMayBeginInAnotherColumn) {
  EXPECT_EQ(WrapFrom("one two three four", 0, 4, 13), "one two three\n    four");
  EXPECT_EQ(WrapFrom("one two three four", 6, 2, 13), "one two\n  three four");
  EXPECT_EQ(WrapFrom("one two", 6, 2, 0), "one two");
}

TEST(Text, ColourOnlyWhenEnabled) {
  EXPECT_EQ(Paint(Tone::kBad, "FAILED", {.colour = false}), "FAILED");
  EXPECT_EQ(Paint(Tone::kBad, "FAILED", {.colour = true}), "\x1b[31mFAILED\x1b[0m");
  EXPECT_EQ(Paint(Tone::kPlain, "x", {.colour = true}), "x");
}

TEST(Text, WhatControlsATerminalIsReplacedWhereverItStands) {
  EXPECT_EQ(CleanText("", false), "");
  EXPECT_EQ(CleanText("one\ttwo\n", false), "one\ttwo\n");
  EXPECT_EQ(CleanText("\aone \x1b[2Jzwei \xc3\xbc \xff\u202e end\x7f", false),
            "?one ?[2Jzwei \xc3\xbc ?? end?");
  EXPECT_EQ(CleanText("a \x1b[31mred\x1b[0m b\x1b[2J", true), "a \x1b[31mred\x1b[0m b?[2J");
}

TEST(Text, NeighboursHaveDifferentColours) {
  const Style colour{.colour = true};
  EXPECT_NE(PaintHost(0, "host 0", colour), PaintHost(1, "host 0", colour));
  EXPECT_EQ(PaintHost(0, "host 0", {}), "host 0");
  for (int host = 0; host < 8; ++host) {
    const std::string painted = PaintHost(host, "x", colour);
    EXPECT_EQ(CleanText(painted, true), painted);
    EXPECT_NE(painted, Paint(Tone::kBad, "x", colour)) << "red is for failures";
  }
}

}  // namespace
}  // namespace jobman::ui
