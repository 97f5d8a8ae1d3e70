#include "jobman/base/json.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>

namespace jobman::base {
namespace {

TEST(ParseJson, NamesTheByteWhereItStops) {
  const auto broken = ParseJson(R"({"a": 1,})");
  ASSERT_FALSE(broken.ok());
  EXPECT_EQ(broken.error().code, Code::kInvalidArgument);
  EXPECT_EQ(broken.error().message, "not JSON: error at byte 9");
}

TEST(ParseJson, NeverThrowsOnRemoteBytes) {
  for (const char* text : {"", "<html>502</html>", "\xff\xfe", "{\"a\"", "nul", "1e999999x"}) {
    EXPECT_FALSE(ParseJson(text).ok()) << text;
  }
  EXPECT_FALSE(ParseJson("\"\xc3\"").ok());
  EXPECT_FALSE(ParseJson("1e999").ok());
}

std::string Nested(int levels) {
  const auto count = static_cast<std::size_t>(levels);
  return std::string(count, '[') + std::string(count, ']');
}

TEST(ParseJson, RefusesWhatIsTooDeep) {
  EXPECT_TRUE(ParseJson(Nested(kDeepestJson)).ok());
  for (const std::string& deep : {Nested(kDeepestJson + 1), Nested(100'000),
                                  std::string(100'000, '['), R"({"a":"]]"},)" + Nested(65)}) {
    const auto refused = ParseJson(deep);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, Code::kInvalidArgument);
    EXPECT_EQ(refused.error().message, "JSON that is too large to read: more than 64 levels deep");
  }
}

TEST(ParseJson, CountsNoBracketsInStrings) {
  EXPECT_TRUE(ParseJson("\"" + std::string(1000, '[') + "\"").ok());
  EXPECT_TRUE(ParseJson(R"(["\\\"", [[]], "\\", "[[["])").ok());
}

TEST(ParseJson, RefusesTooManyValues) {
  std::string many = "[0";
  for (std::size_t i = 2; i < kMostJsonValues; ++i) many += ",0";
  EXPECT_TRUE(ParseJson(many + "]").ok());
  EXPECT_FALSE(ParseJson(many + ",0]").ok());
}

/// The most memory that this process has had, in bytes.
std::int64_t PeakMemory() {
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} * 1024;
}

TEST(ParseJson, BuildsNothingFromWhatItRefuses) {
  constexpr std::size_t kBytes = std::size_t{60} << 20U;
  std::string wide = "[";
  while (wide.size() < kBytes) wide += "{},";
  for (const std::string& hostile : {std::string(kBytes, '['), wide}) {
    const std::int64_t before = PeakMemory();
    EXPECT_FALSE(ParseJson(hostile).ok());
    EXPECT_LT(PeakMemory() - before, std::int64_t{16} << 20U);
  }
}

TEST(ParseJson, QuotesLittleOfALongNumber) {
  const auto broken = ParseJson(std::string(100'000, '9') + "e99999");
  ASSERT_FALSE(broken.ok());
  EXPECT_LT(broken.error().message.size(), 300U);
}

void* UseDeepest(void* /*unused*/) {
  const Json deepest = *ParseJson(Nested(kDeepestJson));
  Json copy = deepest;
  EXPECT_EQ(copy.dump(), Nested(kDeepestJson));
  copy = Json::array({deepest, copy});
  return nullptr;
}

TEST(ParseJson, WhatItBuildsNeedsLittleStack) {
  pthread_attr_t small;
  pthread_attr_init(&small);
  ASSERT_EQ(pthread_attr_setstacksize(&small, std::size_t{256} * 1024), 0);
  pthread_t thread = {};
  ASSERT_EQ(pthread_create(&thread, &small, UseDeepest, nullptr), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&small);
}

class Members : public ::testing::Test {
 protected:
  Json object_ = *ParseJson(R"({
    "text": "x", "yes": true, "n": -7, "int64": "9007199254740993", "real": 2.9, "huge": 1e300,
    "big": 18446744073709551615, "none": null, "list": [1], "junk": "12ab", "object": {"a": "b"}})");
};

TEST_F(Members, HaveTheirValue) {
  EXPECT_EQ(GetString(object_, "text"), "x");
  EXPECT_TRUE(GetBool(object_, "yes"));
  EXPECT_EQ(GetInt(object_, "n"), -7);
  EXPECT_EQ(GetInt(object_, "int64"), 9007199254740993);
  EXPECT_EQ(GetInt(object_, "real"), 2);
  EXPECT_EQ(GetString(GetMember(object_, "object"), "a"), "b");
}

TEST_F(Members, AbsentIsTheEmptyValue) {
  EXPECT_EQ(GetString(object_, "absent"), "");
  EXPECT_FALSE(GetBool(object_, "absent"));
  EXPECT_EQ(GetInt(object_, "absent"), 0);
  EXPECT_TRUE(GetMember(object_, "absent").is_null());
}

TEST_F(Members, OtherTypeIsTheEmptyValue) {
  for (const char* key : {"yes", "n", "none", "list", "object"}) {
    EXPECT_EQ(GetString(object_, key), "") << key;
  }
  for (const char* key : {"text", "n", "none"}) EXPECT_FALSE(GetBool(object_, key)) << key;
  for (const char* key : {"text", "yes", "none", "list", "junk"}) {
    EXPECT_EQ(GetInt(object_, key), 0) << key;
  }
}

TEST_F(Members, NumbersThatDoNotFitAreZero) {
  EXPECT_EQ(GetInt(object_, "huge"), 0);
  EXPECT_EQ(GetInt(object_, "big"), 0);
}

TEST_F(Members, OfNonObjectsAreEmpty) {
  EXPECT_EQ(GetString(Json("text"), "a"), "");
  EXPECT_EQ(GetInt(Json::array({1, 2}), "a"), 0);
  EXPECT_TRUE(GetMember(Json(), "a").is_null());
}

}  // namespace
}  // namespace jobman::base
