#include "jobman/base/process.hpp"

#include <gtest/gtest.h>

namespace jobman::base {
namespace {

TEST(RunProcess, CatGivesBackItsInput) {
  asio::io_context loop;
  auto result = RunTask(loop, RunProcess({"cat"}, "hello"));
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->out, "hello");
  EXPECT_EQ(result->exit_code, 0);
}

}  // namespace
}  // namespace jobman::base
