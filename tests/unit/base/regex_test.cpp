#include "jobman/base/regex.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jobman::base {
namespace {

using ::testing::HasSubstr;

bool Finds(const std::string& pattern, std::string_view text) {
  const auto regex = Regex::Compile(pattern);
  EXPECT_TRUE(regex.ok()) << regex.error().ToString();
  return regex.ok() && regex->Matches(text);
}

TEST(Regex, MatchesAnywhereInTheText) {
  EXPECT_TRUE(Finds("loss.*nan", "step 3: loss = nan"));
  EXPECT_FALSE(Finds("loss.*nan", "step 3: loss = 0.3"));
  EXPECT_TRUE(Finds("^a+$|b{2}", "xbbx"));
  EXPECT_FALSE(Finds("^a+$|b{2}", "xaab"));
  EXPECT_FALSE(Finds("^a$", "b\na"));
}

TEST(Regex, TakesAnyBytes) {
  using namespace std::string_view_literals;
  EXPECT_TRUE(Finds("nan", "x\0nan"sv));
  EXPECT_TRUE(Finds("nan", "\xff\xfenan"));
  EXPECT_FALSE(Finds("nan", {}));
  EXPECT_FALSE(Finds("nan", std::string_view("nanny").substr(0, 2))) << "reads beyond the end";
}

TEST(Regex, ALongLineOfManyChoicesDoesNotBacktrack) {
  // With backtracking this would never end.
  EXPECT_FALSE(Finds("(a*)*b", std::string(5000, 'a')));
}

TEST(Regex, KnowsTheUsualClasses) {
  EXPECT_TRUE(Finds("loss \\d+\\.\\d", "loss 12.5"));
  EXPECT_TRUE(Finds("\\bnan\\b", "loss=nan"));
  EXPECT_FALSE(Finds("\\bnan\\b", "nanny"));
  EXPECT_TRUE(Finds("[[:space:]]\\w+$", "a b"));
}

TEST(Regex, APatternThatExplodesIsRefused) {
  // glibc's regcomp needs gigabytes for these.
  for (const char* pattern :
       {"((((a{1,100}){1,100}){1,100}){1,100})", "(((a{0,999}){0,999}){0,999})",
        "((a{1000}b{1000}){1000}){1000}", "(.{1000}|x){1000}"}) {
    const auto regex = Regex::Compile(pattern);
    ASSERT_FALSE(regex.ok()) << pattern;
    EXPECT_THAT(regex.error().hint, HasSubstr("at most 1000"));
  }
}

TEST(Regex, APatternThatWouldBeSlowIsRefused) {
  // Each has too many states for a table, and thousands of steps for a byte without one.
  for (const char* pattern : {"c(.*){1000}c", "[ab]*a[ab]{999}c", "(a|b|ab|ba|aa|bb){900}c"}) {
    const auto regex = Regex::Compile(pattern);
    ASSERT_FALSE(regex.ok()) << pattern;
    EXPECT_THAT(regex.error().message, HasSubstr("too large")) << regex.error().ToString();
  }
  EXPECT_LT(Regex::Compile("loss.*nan|Traceback").value().steps(), 50);
}

TEST(Regex, OneThatIsLargeMatchesInLittleMemory) {
  // The states of (a|b)*a(a|b){9} as a table are 2^10, and RE2 keeps only as many as fit.
  std::string line;
  for (int i = 0; i < 4096; ++i) line += (i * i / 7) % 3 == 0 ? 'a' : 'b';
  EXPECT_FALSE(Finds("(a|b)*a(a|b){200}c", line));
}

TEST(Regex, SaysWhatIsWrong) {
  const auto of = [](const std::string& pattern) { return Regex::Compile(pattern).error(); };
  EXPECT_THAT(of("(a").message, HasSubstr("\"(a\" is not a regular expression: "));
  EXPECT_THAT(of("(a").hint, HasSubstr("grep -E"));
  EXPECT_THAT(of("[z-a]").message, HasSubstr("is not a regular expression"));
  EXPECT_EQ(of("\\<nan").hint, "write \\b");
  EXPECT_THAT(of("(a)\\1").message, HasSubstr("back references"));
  EXPECT_THAT(of("").message, HasSubstr("matches every line"));
  EXPECT_THAT(of(std::string("a\0b", 3)).message, HasSubstr("NUL"));
  EXPECT_THAT(of(std::string(1001, 'a')).message, HasSubstr("longer than 1000"));
}

}  // namespace
}  // namespace jobman::base
