#include "jobman/base/random.hpp"

#include <gtest/gtest.h>

#include <set>

namespace jobman::base {
namespace {

TEST(RandomUnit, IsInTheUnitIntervalAndDiffers) {
  std::set<double> numbers;
  for (int i = 0; i < 100; ++i) numbers.insert(RandomUnit());
  EXPECT_GE(*numbers.begin(), 0.0);
  EXPECT_LT(*numbers.rbegin(), 1.0);
  EXPECT_GT(numbers.size(), 90u);
}

TEST(RandomHex, HasItsLengthAndDiffers) {
  EXPECT_EQ(RandomHex(16).size(), 32u);
  EXPECT_EQ(RandomHex(0), "");
  EXPECT_NE(RandomHex(16), RandomHex(16));
  EXPECT_EQ(RandomHex(64).find_first_not_of("0123456789abcdef"), std::string::npos);
}

}  // namespace
}  // namespace jobman::base
