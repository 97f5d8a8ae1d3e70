#include "jobman/ui/host_bytes.hpp"

#include <gtest/gtest.h>

namespace jobman::ui {
namespace {

std::string Cleaned(std::string_view text) {
  return HostBytes().Take(text);
}

TEST(HostBytes, KeepsTextAndLeavesOutColours) {
  EXPECT_EQ(Cleaned("\x1b[1;31mloss\x1b[0m\t0.5 Größe 日本\n"), "loss\t0.5 Größe 日本\n");
  EXPECT_EQ(Cleaned("\x1b[2K\x1b[1Abar"), "bar");
}

TEST(HostBytes, ACarriageReturnEndsALine) {
  EXPECT_EQ(Cleaned("10%\r20%\r\ndone\n"), "10%\n20%\ndone\n");
}

TEST(HostBytes, ShowsWhatElseControlsAsQuestionMarks) {
  EXPECT_EQ(Cleaned("\x1b]0;title\a"), "?]0;title?");
  EXPECT_EQ(Cleaned("a\x9b"
                    "b\xc2\x9b"
                    "c\xe2\x80\xae"
                    "d\x7f\b."),
            "a?b?c?d??.");
  EXPECT_EQ(Cleaned("\x1b[" + std::string(100, '1') + "m"), "?[" + std::string(100, '1') + "m");
}

TEST(HostBytes, IsTheSameWhereverTheOutputIsCut) {
  const std::string text =
      "a\x1b[1;31mb\r\nc\xe2\x82"
      "d日e\x1b]f\xf0\x9f\x98\x80g\rh\n";
  const std::string whole = Cleaned(text);
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    HostBytes bytes;
    std::string parts = bytes.Take(text.substr(0, cut));
    parts += bytes.Take(text.substr(cut));
    EXPECT_EQ(parts, whole) << cut;
  }
}

}  // namespace
}  // namespace jobman::ui
