#include "jobman/base/url.hpp"

#include <gtest/gtest.h>

namespace jobman::base {
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
        "http://a:65536", "http://a b/", "http://[::1", "http://a\r\nX: y", "http://[::1]evil.org/",
        "http://[evil.org]/", "http://127.0.0.1:80:90", "http://::1/"}) {
    EXPECT_FALSE(ParseUrl(text).ok()) << text;
  }
}

TEST(ParseUrl, RefusesAPasswordWithoutQuotingIt) {
  const auto url = ParseUrl("https://me:hunter2@tpu.googleapis.com/");
  ASSERT_FALSE(url.ok());
  EXPECT_EQ(url.error().ToString().find("hunter2"), std::string::npos);
}

TEST(Url, AnOriginIsSchemeHostAndPort) {
  const auto same = [](const char* one, const char* two) {
    return ParseUrl(one).value().HasOriginOf(ParseUrl(two).value());
  };
  EXPECT_TRUE(same("http://127.0.0.1:80/a", "HTTP://127.0.0.1"));
  EXPECT_TRUE(same("https://API.example.org/", "https://api.example.org:443/v2"));
  EXPECT_FALSE(same("http://127.0.0.1:8085", "http://127.0.0.1:80"));
  EXPECT_FALSE(same("http://localhost", "http://127.0.0.1"));
  EXPECT_FALSE(same("http://127.0.0.1:443", "https://127.0.0.1"));
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

TEST(IsLinkLocal, IsNotFooledByNames) {
  EXPECT_TRUE(IsLinkLocal("169.254.169.254"));
  EXPECT_TRUE(IsLinkLocal("169.254.0.1"));
  for (const char* host :
       {"169.254.169.254.example.org", "169.255.0.1", "168.254.0.1", "169.254.1", "127.0.0.1", ""})
    EXPECT_FALSE(IsLinkLocal(host)) << host;
}

TEST(IsLoopback, TakesAddressesInTheirPlainFormOnly) {
  for (const char* host :
       {"127.0.0.256", "127.0.0.999",      "127.1",    "127.0.1",    "127.0.0.01",
        "127.0.0.0x1", "127.0.0.1.",       "127.0.0.", "127...",     "2130706433",
        "0x7f000001",  "0177.0.0.1",       "0.0.0.0",  "localhost.", "[::1]",
        "::",          "::ffff:127.0.0.1", "::1%lo",   "",           "127.0.0.1 "}) {
    EXPECT_FALSE(IsLoopback(host)) << host;
  }
  EXPECT_TRUE(IsLoopback("127.255.255.255"));
  EXPECT_TRUE(IsLoopback("0:0:0:0:0:0:0:1"));
}

TEST(Url, PlainHttpToAnotherMachineIsOpen) {
  EXPECT_TRUE(ParseUrl("http://hooks.lab.org/x")->IsOpen());
  EXPECT_TRUE(ParseUrl("http://127.0.0.256/x")->IsOpen());
  EXPECT_FALSE(ParseUrl("https://hooks.lab.org/x")->IsOpen());
  EXPECT_FALSE(ParseUrl("http://[::1]:81/x")->IsOpen());
}

TEST(ParseEndpoint, HasNeitherQueryNorFragment) {
  EXPECT_EQ(ParseEndpoint("https://tpu.googleapis.com/base")->target, "/base");
  for (const char* text : {"https://h/?key=hunter2", "https://h?", "https://h#x", "https://h/#"}) {
    const auto url = ParseEndpoint(text);
    ASSERT_FALSE(url.ok()) << text;
    EXPECT_EQ(url.error().code, Code::kInvalidArgument);
    EXPECT_EQ(url.error().ToString().find("hunter2"), std::string::npos);
  }
  EXPECT_FALSE(ParseEndpoint("https://me@h").ok());
}

}  // namespace
}  // namespace jobman::base
