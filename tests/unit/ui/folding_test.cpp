#include "jobman/ui/folding.hpp"

#include <gtest/gtest.h>

#include "tests/support/string_sink.hpp"

namespace jobman::ui {
namespace {

class FoldingTest : public testing::Test {
 protected:
  void Add(int host, const std::string& text) {
    HostText kept;
    kept.facts.Add(text);
    kept.read = [this, text](const TakePiece& take) {
      ++reads_;
      return take(text);
    };
    folding_.Add(host, kept);
  }
  std::string Printed() {
    test::StringSink out;
    test::StringSink err;
    {
      Terminal terminal({}, out, err);
      EXPECT_TRUE(folding_.Print(terminal).ok());
    }
    return out.Take();
  }

  Folding folding_;
  int reads_ = 0;
};

TEST_F(FoldingTest, HostsWithEqualOutputAreOneGroup) {
  for (const int host : {5, 0, 2, 1}) Add(host, "ok\n");
  Add(3, "boom\n");
  EXPECT_EQ(Printed(), "hosts 0-2,5 (4): ok\nhost 3: boom\n");
  EXPECT_EQ(reads_, 2);
}

TEST_F(FoldingTest, SeveralLinesStandBelowTheirHosts) {
  Add(0, "a\nb\n");
  Add(1, "a\nb\n");
  EXPECT_EQ(Printed(), "hosts 0-1 (2):\na\nb\n");
}

TEST_F(FoldingTest, AMissingLastLineBreakIsAddedAndNoOutputIsNamed) {
  Add(0, "x");
  Add(1, "");
  Add(2, "\n");
  EXPECT_EQ(Printed(), "host 0: x\nhost 1: (no output)\nhost 2: \n");
}

TEST_F(FoldingTest, NoOutputShowsNothing) {
  EXPECT_EQ(Printed(), "");
}

TEST(TextFacts, AreTheSameWhereverTheTextIsCut) {
  for (const std::string text : {"one\n", "two\nlines\n", "two\nhalves", "x", "\n\n"}) {
    TextFacts whole;
    whole.Add(text);
    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
      TextFacts parts;
      parts.Add(text.substr(0, cut));
      parts.Add(text.substr(cut));
      EXPECT_EQ(parts.Digest(), whole.Digest());
      EXPECT_EQ(parts.one_line(), whole.one_line()) << text << cut;
      EXPECT_EQ(parts.ends_line(), whole.ends_line());
    }
  }
}

}  // namespace
}  // namespace jobman::ui
