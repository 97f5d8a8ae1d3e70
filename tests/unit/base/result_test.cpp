#include "jobman/base/result.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>

#include "jobman/base/id.hpp"

namespace jobman::base {
namespace {

TEST(Error, ToStringPutsTheOutermostFrameFirst) {
  const Error error = Error{.code = Code::kResourceExhausted, .message = "no capacity"}
                          .With("creating slice train-7-a2")
                          .With("job train-7");
  EXPECT_EQ(error.ToString(), "job train-7: creating slice train-7-a2: no capacity");
}

TEST(Error, EveryCodeIsFoundByItsName) {
  for (int number = 0; number <= 16; ++number) {
    const Code code = static_cast<Code>(number);
    EXPECT_EQ(CodeFromName(CodeName(code)), code) << number;
  }
  EXPECT_EQ(CodeName(Code::kResourceExhausted), "RESOURCE_EXHAUSTED");
  EXPECT_EQ(CodeFromName("NEW_IN_2031"), Code::kUnknown);
}

TEST(Error, EveryReasonIsFoundByItsName) {
  for (int number = 1; number <= static_cast<int>(Reason::kNotSupported); ++number) {
    const Reason reason = static_cast<Reason>(number);
    EXPECT_NE(ReasonName(reason), "none") << number;
    EXPECT_EQ(ReasonFromName(ReasonName(reason)), reason) << number;
  }
  EXPECT_EQ(ReasonFromName("no such reason"), Reason::kNone);
}

TEST(Error, FromErrnoNamesTheActionTheCauseAndTheReason) {
  const Error full = FromErrno(ENOSPC, "writing log");
  EXPECT_EQ(full.message, "writing log: No space left on device");
  EXPECT_EQ(full.reason, Reason::kDiskFull);
  EXPECT_EQ(FromErrno(EROFS, "x").reason, Reason::kNotWritable);
  EXPECT_EQ(FromErrno(ENOENT, "x").code, Code::kNotFound);
  EXPECT_EQ(FromErrno(ECONNREFUSED, "x").reason, Reason::kUnreachable);
}

Result<int> Half(int number) {
  if (number % 2 != 0) return InvalidArgument("odd");
  return number / 2;
}

Result<std::string> Quarter(int number) {
  JM_ASSIGN_OR_RETURN(const int half, Half(number));
  JM_ASSIGN_OR_RETURN(const int quarter, Half(half));
  return std::to_string(quarter);
}

Status Even(int number) {
  JM_TRY(Half(number));
  return Ok();
}

TEST(Result, MacrosPassValuesOnAndReturnErrors) {
  EXPECT_EQ(*Quarter(12), "3");
  EXPECT_EQ(Quarter(6).error().message, "odd");
  EXPECT_TRUE(Even(2).ok());
  EXPECT_EQ(Even(3).error().code, Code::kInvalidArgument);
}

TEST(Result, HoldsMoveOnlyValues) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(5);
  ASSERT_TRUE(result.ok());
  const std::unique_ptr<int> taken = std::move(result).value();
  EXPECT_EQ(*taken, 5);
}

TEST(Result, TakesConvertibleValues) {
  const Result<std::string> text = "literal";
  EXPECT_EQ(*text, "literal");
  EXPECT_EQ(Result<int>(Internal("x")).value_or(9), 9);
}

TEST(Result, IsSmallUntilItFails) {
  static_assert(sizeof(Status) <= 2 * sizeof(void*));
  static_assert(sizeof(Result<int>) <= 2 * sizeof(void*));
  const Result<int> failed = InvalidArgument("odd", "even");
  Result<int> copy = failed;
  copy.error().message = "one";
  EXPECT_EQ(failed.error().message, "odd");
  EXPECT_EQ(copy.error().hint, "even");
  copy = 2;
  EXPECT_EQ(*copy, 2);
}

TEST(ResultDeathTest, OneThatWasMovedFromHasNoError) {
  Result<int> failed = InvalidArgument("odd");
  const Result<int> moved = std::move(failed);
  EXPECT_EQ(moved.error().message, "odd");
  // NOLINTNEXTLINE(bugprone-use-after-move): what is promised
  EXPECT_DEATH(static_cast<void>(failed.error()), "of a Result that was moved from");
}

struct JobTag {};
struct TaskTag {};

TEST(Id, HasItsOwnTypeAndZeroMeansNone) {
  static_assert(!std::is_convertible_v<Id<JobTag>, Id<TaskTag>>);
  EXPECT_FALSE(Id<JobTag>{});
  EXPECT_TRUE(Id<JobTag>{3});
  EXPECT_LT(Id<JobTag>{3}, Id<JobTag>{4});
  EXPECT_NE(std::hash<Id<JobTag>>{}({1}), std::hash<Id<JobTag>>{}({2}));
}

}  // namespace
}  // namespace jobman::base
