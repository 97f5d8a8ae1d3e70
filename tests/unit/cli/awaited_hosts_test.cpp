#include "cli/awaited_hosts.hpp"

#include <gtest/gtest.h>

namespace jobman::cli {
namespace {

constexpr AwaitedHosts::Time kLogin{std::chrono::hours{1}};
constexpr auto kSecond = std::chrono::seconds{1};

TEST(AwaitedHosts, NamesALoneHostUntilItsFirstOutput) {
  AwaitedHosts awaited(1);
  EXPECT_EQ(awaited.Line({2}, kLogin), "waiting for 1 host: 2");
  awaited.LoggedIn(2, kLogin);
  EXPECT_EQ(awaited.Line({2}, kLogin + 9 * kSecond), "waiting for 1 host: 2");
  EXPECT_EQ(awaited.Line({2}, kLogin + 25 * kSecond),
            "waiting for 1 host: 2; host 2 accepts the login, but printed nothing for 25s");
  EXPECT_TRUE(awaited.Heard(2));
  EXPECT_EQ(awaited.Line({2}, kLogin + 26 * kSecond), "");
  EXPECT_FALSE(awaited.Heard(2)) << "once";
}

TEST(AwaitedHosts, NamesThoseThatAreSilentAndThenThoseThatHaveNotEnded) {
  AwaitedHosts awaited(4);
  for (const int host : {0, 1, 2, 3}) awaited.LoggedIn(host, kLogin);
  EXPECT_FALSE(awaited.Heard(0));
  EXPECT_FALSE(awaited.Heard(3));
  EXPECT_EQ(awaited.Line({0, 1, 2, 3}, kLogin), "waiting for 2 hosts: 1-2");
  EXPECT_EQ(awaited.Line({0, 1, 2}, kLogin + 12 * kSecond),
            "waiting for 3 hosts: 0-2; hosts 1-2 accept the login, but printed nothing for 12s");
  EXPECT_EQ(awaited.Line({}, kLogin), "");
}

/// One of two lags, which no range shortens.
TEST(AwaitedHosts, ALineIsShortWhoeverIsAwaited) {
  AwaitedHosts awaited(1024);
  std::vector<int> odd;
  for (int host = 1; host < 1024; host += 2) odd.push_back(host);
  for (const int host : odd) awaited.LoggedIn(host, kLogin);
  EXPECT_EQ(awaited.Line(odd, kLogin),
            "waiting for 512 hosts: 1,3,5,7,9,11,13,15,17,19,21,23,... (512)");
  EXPECT_EQ(
      awaited.Line(odd, kLogin + 12 * kSecond),
      "waiting for 512 hosts: 1,3,5,7,9,11,13,15,17,19,21,23,... (512); hosts "
      "1,3,5,7,9,11,13,15,17,19,21,23,... (512) accept the login, but printed nothing for 12s");
}

}  // namespace
}  // namespace jobman::cli
