#include "jobman/base/check.hpp"

#include <gtest/gtest.h>

#include "jobman/base/result.hpp"

namespace jobman::base {
namespace {

TEST(CheckDeathTest, PrintsTheInvariantAndThePlaceAndAborts) {
  const int hosts = -1;
  EXPECT_DEATH(JM_CHECK(hosts >= 0, "a slice has hosts"),
               "defect: a slice has hosts \\(hosts >= 0\\) at .*check_test.cpp:");
}

TEST(CheckDeathTest, ValueOfAFailedResultAborts) {
  const Result<int> failed = Internal("no");
  EXPECT_DEATH(static_cast<void>(failed.value()), "value\\(\\) of a failed Result");
}

TEST(Check, HoldingInvariantEvaluatesItsConditionOnce) {
  int calls = 0;
  JM_CHECK(++calls == 1, "once");
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace jobman::base
