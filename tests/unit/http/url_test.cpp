#include "jobman/http/url.hpp"

#include <gtest/gtest.h>

namespace jobman::http {
namespace {

TEST(PercentEncode, LeavesOnlyUnreservedCharacters) {
  EXPECT_EQ(PercentEncode("aZ09-._~"), "aZ09-._~");
  EXPECT_EQ(PercentEncode("a/b c%+&=?#"), "a%2Fb%20c%25%2B%26%3D%3F%23");
  EXPECT_EQ(PercentEncode("\xc3\xa9"), "%C3%A9");
  EXPECT_EQ(EncodeQuery({{"a b", "1"}, {"c", "="}}), "a%20b=1&c=%3D");
}

}  // namespace
}  // namespace jobman::http
