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

}  // namespace
}  // namespace jobman::base
