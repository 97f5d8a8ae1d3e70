#include "jobman/base/strings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jobman::base {
namespace {

using ::testing::ElementsAre;

TEST(Split, KeepsEmptyParts) {
  EXPECT_THAT(Split("a,b,,c,", ','), ElementsAre("a", "b", "", "c", ""));
  EXPECT_THAT(Split("", ','), ElementsAre(""));
}

TEST(Join, PutsTheSeparatorBetween) {
  EXPECT_EQ(Join({"a", "b", "c"}, ", "), "a, b, c");
  EXPECT_EQ(Join({}, ", "), "");
}

TEST(Trim, RemovesBlanksFromBothEnds) {
  EXPECT_EQ(Trim(" \t a b \r\n"), "a b");
  EXPECT_EQ(Trim(" \n "), "");
  EXPECT_EQ(Trim("a"), "a");
}

TEST(ToLower, LeavesOtherBytesAlone) {
  EXPECT_EQ(ToLower("READY-\xc3\x84 9"), "ready-\xc3\x84 9");
}

TEST(ReplaceAll, ReplacesEachOccurrenceOnce) {
  EXPECT_EQ(ReplaceAll("aaa", "a", "aa"), "aaaaaa");
  EXPECT_EQ(ReplaceAll("a-b-c", "-", ""), "abc");
  EXPECT_EQ(ReplaceAll("abc", "", "x"), "abc");
}

TEST(ParseNumber, AcceptsOnlyDecimalIntegers) {
  EXPECT_EQ(ParseNumber("0"), 0);
  EXPECT_EQ(ParseNumber("9223372036854775807"), INT64_MAX);
  for (const char* text : {"", " 1", "1 ", "-1", "+1", "0x1", "1.0", "9223372036854775808"}) {
    EXPECT_FALSE(ParseNumber(text)) << text;
  }
}

TEST(Nearest, FindsTheTypingError) {
  const std::vector<std::string> keys = {"accelerator", "zone", "version", "pricing"};
  EXPECT_EQ(Nearest("acelerator", keys), "accelerator");
  EXPECT_EQ(Nearest("acceleratro", keys), "accelerator");
  EXPECT_EQ(Nearest("Zone", keys), "zone");
  EXPECT_EQ(Nearest("zoen", keys), "zone");
}

TEST(Nearest, ChoosesTheNearestOfSeveral) {
  EXPECT_EQ(Nearest("delets", {"deploy", "delete", "deletes"}), "delete");
}

TEST(Nearest, IsNothingWhenNothingIsNear) {
  EXPECT_FALSE(Nearest("banana", {"accelerator", "zone"}));
  EXPECT_FALSE(Nearest("a", {"b"}));
  EXPECT_FALSE(Nearest("ab", {"cd"}));
  EXPECT_FALSE(Nearest("zone", {}));
  EXPECT_FALSE(Nearest("", {"zone"}));
}

struct Glob {
  const char* pattern;
  const char* text;
  bool matches;
};

TEST(GlobMatch, MatchesTheWholeText) {
  const Glob cases[] = {
      {"train-*", "train-7", true},
      {"train-*", "train-", true},
      {"train-*", "my-train-7", false},
      {"*", "", true},
      {"", "", true},
      {"", "a", false},
      {"?", "a", true},
      {"?", "", false},
      {"a?c", "abc", true},
      {"*a*b*", "xxaxxbxx", true},
      {"*a*b*", "xxbxxaxx", false},
      {"a*b*c", "abxbc", true},
      {"v4-*8", "v4-128", true},
      {"v4-*8", "v4-129", false},
      {"[a]", "[a]", true},
      {"**", "anything", true},
      {"a*", "b", false},
  };
  for (const Glob& row : cases) {
    EXPECT_EQ(GlobMatch(row.pattern, row.text), row.matches) << row.pattern << " " << row.text;
  }
}

TEST(GlobMatch, ManyStarsAreNotExponential) {
  std::string pattern;
  for (int i = 0; i < 50; ++i) pattern += "a*";
  EXPECT_FALSE(GlobMatch(pattern + "b", std::string(5000, 'a')));
}

TEST(FormatRanges, IsCompact) {
  EXPECT_EQ(FormatRanges({0, 1, 2, 3, 7}), "0-3,7");
  EXPECT_EQ(FormatRanges({5}), "5");
  EXPECT_EQ(FormatRanges({}), "");
  EXPECT_EQ(FormatRanges({0, 1, 4, 6, 7, 8, 9}), "0-1,4,6-9");
}

TEST(ShortRanges, EndAfterAWholeRangeAndCount) {
  EXPECT_EQ(ShortRanges({0, 1, 4}, 5), "0-1,4");
  std::vector<int> even;
  for (int number = 0; number < 1024; number += 2) even.push_back(number);
  EXPECT_EQ(ShortRanges(even, 20), "0,2,4,6,8,... (512)");
  EXPECT_EQ(ShortRanges(even, 3), "0,... (512)") << "one at least";
  EXPECT_EQ(ShortRanges({100, 102}, 6), "100,... (2)");
}

TEST(Plural, CountsOneAsOne) {
  EXPECT_EQ(Plural(1, "host"), "1 host");
  EXPECT_EQ(Plural(4, "host"), "4 hosts");
  EXPECT_EQ(Plural(0, "host"), "0 hosts");
}

TEST(FormatBytes, ChoosesTheUnit) {
  EXPECT_EQ(FormatBytes(1), "1 byte");
  EXPECT_EQ(FormatBytes(1023), "1023 bytes");
  EXPECT_EQ(FormatBytes(1536), "1.5 KB");
  EXPECT_EQ(FormatBytes(100 << 20), "100.0 MB");
  EXPECT_EQ(FormatBytes((1 << 20) - 1), "1.0 MB");
  EXPECT_EQ(FormatBytes(std::int64_t{3} << 40), "3.0 TB");
}

TEST(Shorten, CutsBetweenCharacters) {
  EXPECT_EQ(Shorten("short", 5), "short");
  EXPECT_EQ(Shorten("longer", 5), "longe...");
  EXPECT_EQ(Shorten("ab\xC3\xA9", 3), "ab...");
}

TEST(SafeFileName, KeepsWhatIsSafeAndIsAnotherForAnotherText) {
  EXPECT_EQ(SafeFileName("llama2-7b_v1.0+a=b@c"), "llama2-7b_v1.0+a=b@c");
  EXPECT_EQ(SafeFileName("a b"), "a%20b");
  EXPECT_EQ(SafeFileName("a%20b"), "a%2520b");
  EXPECT_EQ(SafeFileName("../x/'\n"), "%2e.%2fx%2f%27%0a");
  EXPECT_EQ(SafeFileName("-rf"), "%2drf");
  EXPECT_EQ(SafeFileName("\xC3\xA9"), "%c3%a9");
  EXPECT_EQ(SafeFileName(""), "%");
}

TEST(SafeFileName, ALongTextIsCutAndStaysApartFromOthers) {
  EXPECT_EQ(SafeFileName(std::string(120, 'a')), std::string(120, 'a'));
  const std::string one = SafeFileName(std::string(121, 'a'));
  const std::string other = SafeFileName(std::string(122, 'a'));
  EXPECT_EQ(one.size(), 120U);
  EXPECT_TRUE(one.starts_with(std::string(102, 'a') + "%-")) << one;
  EXPECT_NE(one, other);
}

}  // namespace
}  // namespace jobman::base
