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

TEST(Regex, SaysWhatIsWrong) {
  const auto of = [](const std::string& pattern) { return Regex::Compile(pattern).error(); };
  EXPECT_THAT(of("(a").message, HasSubstr("\"(a\" is not a regular expression: "));
  EXPECT_THAT(of("(a").hint, HasSubstr("grep -E"));
  EXPECT_THAT(of("[z-a]").message, HasSubstr("is not a regular expression"));
  EXPECT_EQ(of("loss \\d+").hint, "write [0-9]");
  EXPECT_THAT(of("(a)\\1").message, HasSubstr("back references"));
  EXPECT_THAT(of("").message, HasSubstr("matches every line"));
  EXPECT_THAT(of(std::string("a\0b", 3)).message, HasSubstr("NUL"));
  EXPECT_THAT(of(std::string(1001, 'a')).message, HasSubstr("longer than 1000"));
}

}  // namespace
}  // namespace jobman::base
