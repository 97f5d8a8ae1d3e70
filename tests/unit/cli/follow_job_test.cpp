#include "cli/follow_job.hpp"

#include <gtest/gtest.h>

#include "cli/exit_code.hpp"
#include "cli/views/job_end.hpp"

namespace jobman::cli {
namespace {

using core::Outcome;

core::Job Failed(int exit_code, std::optional<base::Error> error) {
  core::Job job;
  job.state =
      core::Done{.outcome = Outcome::kFailed, .exit_code = exit_code, .error = std::move(error)};
  return job;
}

TEST(ExitCodeOfJob, IsTheCommandsOrTheOneOfItsError) {
  EXPECT_EQ(ExitCodeOfJob(Failed(7, std::nullopt)), 7);
  EXPECT_EQ(ExitCodeOfJob(Failed(0, base::Error{.code = base::Code::kResourceExhausted,
                                                .reason = base::Reason::kStockout})),
            kTryLater);
  EXPECT_EQ(ExitCodeOfJob(Failed(0, base::Error{.code = base::Code::kPermissionDenied,
                                                .reason = base::Reason::kPermission})),
            kRefused);
}

TEST(ExitCodeOfJob, TellsASlowStepFromASlowSlice) {
  const base::Error late{.code = base::Code::kDeadlineExceeded};
  EXPECT_EQ(ExitCodeOfJob(Failed(1, late)), kJobFailed);
  EXPECT_EQ(ExitCodeOfJob(Failed(0, late)), kTryLater);
}

TEST(JobEnd, JsonHasTheExitCodeOfTheProcess) {
  const core::Job job = Failed(0, base::Error{.reason = base::Reason::kStockout});
  const auto json = views::ToJson(views::JobEnd{.job = job, .exit_code = ExitCodeOfJob(job)});
  EXPECT_EQ(json["exit_code"], 75);
}

}  // namespace
}  // namespace jobman::cli
