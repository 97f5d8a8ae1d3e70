#include "jobman/ui/folding.hpp"

#include <gtest/gtest.h>

namespace jobman::ui {
namespace {

TEST(Folding, HostsWithEqualOutputAreOneGroup) {
  Folding folding;
  for (const int host : {5, 0, 2, 1}) folding.Add(host, "ok\n");
  folding.Add(3, "boom\n");
  EXPECT_EQ(folding.Render(), "hosts 0-2,5 (4): ok\nhost 3: boom\n");
}

TEST(Folding, SeveralLinesStandBelowTheirHosts) {
  Folding folding;
  folding.Add(0, "a\nb\n");
  folding.Add(1, "a\nb\n");
  EXPECT_EQ(folding.Render(), "hosts 0-1 (2):\na\nb\n");
}

TEST(Folding, AMissingLastLineBreakIsAddedAndNoOutputIsNamed) {
  Folding folding;
  folding.Add(0, "x");
  folding.Add(1, "");
  folding.Add(2, "\n");
  EXPECT_EQ(folding.Render(), "host 0: x\nhost 1: (no output)\nhost 2: \n");
}

TEST(Folding, NoOutputShowsNothing) {
  EXPECT_EQ(Folding().Render(), "");
}

}  // namespace
}  // namespace jobman::ui
