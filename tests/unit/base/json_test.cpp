#include "jobman/base/json.hpp"

#include <gtest/gtest.h>

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

TEST(ParseJson, SurvivesDeepNesting) {
  const std::string deep(100'000, '[');
  EXPECT_FALSE(ParseJson(deep).ok());
  EXPECT_TRUE(ParseJson(deep + std::string(100'000, ']')).ok());
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
