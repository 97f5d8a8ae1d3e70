#include "controller/output_scanner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jobman::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class OutputScannerTest : public testing::Test {
 protected:
  OutputScanner Scanner(std::vector<core::OutputRule> rules, std::int64_t scanned = 0) {
    return {CompileRules(rules), scanned, [this](int rule, std::string line) {
              found_.push_back(std::to_string(rule) + ": " + line);
            }};
  }
  std::vector<std::string> found_;
};

const std::vector<core::OutputRule> kRules = {{.match = "loss.*nan"}, {.match = "ERROR"}};

TEST_F(OutputScannerTest, FindsALineHoweverTheInputIsCut) {
  const std::string log = "step 1 loss 0.5\nstep 2 loss nan now\nstep 3\n";
  for (std::size_t cut = 0; cut <= log.size(); ++cut) {
    found_.clear();
    OutputScanner scanner = Scanner(kRules);
    scanner.Take(log.substr(0, cut));
    scanner.Take(log.substr(cut));
    EXPECT_THAT(found_, ElementsAre("0: step 2 loss nan now")) << cut;
  }
}

TEST_F(OutputScannerTest, GoesOnAfterAPartThatIsGone) {
  OutputScanner scanner = Scanner(kRules);
  scanner.Take("fine\nloss ");
  scanner.Skip({.begin = 5, .end = 8});
  EXPECT_EQ(scanner.taken(), 10) << "not the next part";
  scanner.Skip({.begin = 9, .end = 1000});
  EXPECT_EQ(scanner.taken(), 1000);
  EXPECT_EQ(scanner.scanned(), 1000);
  scanner.Take("nan\nloss nan\n");
  EXPECT_THAT(found_, ElementsAre("0: loss nan"));
}

TEST_F(OutputScannerTest, APatternDoesNotMatchAcrossLines) {
  OutputScanner scanner = Scanner(kRules);
  scanner.Take("loss\nnan\rnan\n");
  scanner.End();
  EXPECT_THAT(found_, IsEmpty());
}

TEST_F(OutputScannerTest, TheFirstMatchIsTheOnlyOne) {
  OutputScanner scanner = Scanner(kRules);
  scanner.Take("an ERROR with loss=nan\nERROR\n");
  EXPECT_THAT(found_, ElementsAre("0: an ERROR with loss=nan"));
}

TEST_F(OutputScannerTest, TheLastLineNeedsNoLineBreak) {
  OutputScanner scanner = Scanner(kRules);
  scanner.Take("ERROR");
  EXPECT_THAT(found_, IsEmpty()) << "the line may go on";
  scanner.End();
  EXPECT_THAT(found_, ElementsAre("1: ERROR"));
}

TEST_F(OutputScannerTest, LongLinesAreCut) {
  OutputScanner scanner = Scanner({{.match = "ab$"}});
  const std::string padding(OutputScanner::kLongestLine - 2, '.');
  for (int i = 0; i < 3; ++i) scanner.Take(padding);
  scanner.Take("ab\n");
  EXPECT_THAT(found_, IsEmpty());
  scanner.Take(padding + "ab and more\n");
  EXPECT_EQ(found_.size(), 1U);
  EXPECT_EQ(scanner.taken(), static_cast<std::int64_t>(padding.size() * 4 + 15));
}

TEST_F(OutputScannerTest, ScannedCountsWholeLinesUpToTheMatch) {
  OutputScanner scanner = Scanner(kRules, 100);
  scanner.Take("good\nhalf");
  EXPECT_EQ(scanner.scanned(), 105);
  EXPECT_EQ(scanner.taken(), 109);
  scanner.Take(" a line\nERROR\ngood\n");
  EXPECT_EQ(scanner.scanned(), 117) << "a new controller finds it again";
}

TEST_F(OutputScannerTest, AMatchIsShownWithoutControlCharacters) {
  OutputScanner scanner = Scanner({{.match = "ERROR"}});
  scanner.Take("\x1b[31mERROR\x07 " + std::string(500, 'x') + "\n");
  ASSERT_EQ(found_.size(), 1U);
  EXPECT_EQ(found_[0].substr(0, 16), "0: ?[31mERROR? x");
  EXPECT_LT(found_[0].size(), 220U);
}

}  // namespace
}  // namespace jobman::controller
