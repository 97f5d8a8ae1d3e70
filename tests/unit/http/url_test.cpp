#include "jobman/http/url.hpp"

#include <gtest/gtest.h>

namespace jobman::http {
namespace {

TEST(ParseUrl, SplitsAUrl) {
  const auto url = ParseUrl("http://LocalHost:8080/v2/x?a=1");
  ASSERT_TRUE(url.ok());
  EXPECT_EQ(url->scheme, "http");
  EXPECT_EQ(url->host, "localhost");
  EXPECT_EQ(url->port, 8080);
  EXPECT_EQ(url->target, "/v2/x?a=1");
}

TEST(ParseUrl, FillsInPortAndPath) {
  EXPECT_EQ(ParseUrl("https://tpu.googleapis.com")->port, 443);
  EXPECT_EQ(ParseUrl("https://tpu.googleapis.com")->target, "/");
  EXPECT_EQ(ParseUrl("http://a?x=1")->target, "/?x=1");
  EXPECT_EQ(ParseUrl("http://[::1]:81/")->host, "::1");
  EXPECT_EQ(ParseUrl("http://[::1]:81/")->port, 81);
}

TEST(ParseUrl, RefusesOtherText) {
  for (const char* text :
       {"", "tpu.googleapis.com", "ftp://a", "http://", "http://a:0", "http://a:x",
        "http://a:65536", "http://a b/", "http://[::1", "http://a\r\nX: y"}) {
    EXPECT_FALSE(ParseUrl(text).ok()) << text;
  }
}

TEST(ParseUrl, RefusesAPasswordWithoutQuotingIt) {
  const auto url = ParseUrl("https://me:hunter2@tpu.googleapis.com/");
  ASSERT_FALSE(url.ok());
  EXPECT_EQ(url.error().ToString().find("hunter2"), std::string::npos);
}

TEST(IsLoopback, IsNotFooledByNames) {
  EXPECT_TRUE(IsLoopback("localhost"));
  EXPECT_TRUE(IsLoopback("127.0.0.1"));
  EXPECT_TRUE(IsLoopback("127.9.8.7"));
  EXPECT_TRUE(IsLoopback("::1"));
  EXPECT_FALSE(IsLoopback("127.0.0.1.example.org"));
  EXPECT_FALSE(IsLoopback("128.0.0.1"));
  EXPECT_FALSE(IsLoopback("localhost.example.org"));
}

TEST(PercentEncode, LeavesOnlyUnreservedCharacters) {
  EXPECT_EQ(PercentEncode("aZ09-._~"), "aZ09-._~");
  EXPECT_EQ(PercentEncode("a/b c%+&=?#"), "a%2Fb%20c%25%2B%26%3D%3F%23");
  EXPECT_EQ(PercentEncode("\xc3\xa9"), "%C3%A9");
  EXPECT_EQ(EncodeQuery({{"a b", "1"}, {"c", "="}}), "a%20b=1&c=%3D");
}

}  // namespace
}  // namespace jobman::http
