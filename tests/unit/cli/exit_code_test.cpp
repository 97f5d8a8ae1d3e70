#include "cli/exit_code.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace jobman::cli {
namespace {

using base::Code;
using base::Reason;

ExitCode Of(Code code, Reason reason = Reason::kNone) {
  return ExitCodeOf(base::Error{.code = code, .reason = reason});
}

TEST(ExitCode, CodesMapAsTheManualSays) {
  EXPECT_EQ(Of(Code::kInvalidArgument), kUsage);
  EXPECT_EQ(Of(Code::kNotFound), kNotFound);
  EXPECT_EQ(Of(Code::kPermissionDenied), kRefused);
  EXPECT_EQ(Of(Code::kUnauthenticated), kCredentials);
  EXPECT_EQ(Of(Code::kUnavailable), kTryLater);
  EXPECT_EQ(Of(Code::kDeadlineExceeded), kTryLater);
  EXPECT_EQ(Of(Code::kCancelled), kInterrupted);
  EXPECT_EQ(Of(Code::kInternal), kInternal);
}

TEST(ExitCode, TheReasonTakesPrecedenceOverTheCode) {
  EXPECT_EQ(Of(Code::kResourceExhausted, Reason::kStockout), kTryLater);
  EXPECT_EQ(Of(Code::kResourceExhausted, Reason::kQuotaZero), kRefused);
  EXPECT_EQ(Of(Code::kUnknown, Reason::kHostKeyChanged), kCredentials);
  EXPECT_EQ(Of(Code::kInternal, Reason::kDiskFull), kTryLater);
  EXPECT_EQ(Of(Code::kPermissionDenied, Reason::kNotWritable), kUsage);
  EXPECT_EQ(Of(Code::kFailedPrecondition, Reason::kNewerStore), kUsage);
  EXPECT_EQ(Of(Code::kFailedPrecondition, Reason::kCopiedStore), kUsage);
  EXPECT_EQ(Of(Code::kUnimplemented, Reason::kNotSupported), kUsage);
}

TEST(ExitCode, EveryCodeOfTheTableIsInTheManual) {
  std::ifstream file(std::string(JOBMAN_SOURCE_DIR) + "/docs/guide/cli.md");
  std::ostringstream manual;
  manual << file.rdbuf();
  for (const int code : {kSuccess, kJobFailed, kUsage, kNotFound, kRefused, kCredentials, kInternal,
                         kOutputLost, kTryLater, kInterrupted, kReaderGone}) {
    const std::string row = "| " + std::to_string(code) + " |";
    EXPECT_NE(manual.str().find(row), std::string::npos) << row << " is not in docs/guide/cli.md";
  }
}

}  // namespace
}  // namespace jobman::cli
