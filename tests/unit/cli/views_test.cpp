// What views print that golden files do not show.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/views/job_detail.hpp"

namespace jobman::cli::views {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

constexpr core::TimePoint kStart = {};

ports::AttemptRecord Attempt(int number, std::string reason, std::string outcome) {
  return {.attempt = number,
          .slice = "a-long-name-of-a-job-000001-a" + std::to_string(number),
          .zone = "us-central2-b",
          .reason = std::move(reason),
          .started_at = kStart,
          .ended_at = kStart + 1min,
          .outcome = std::move(outcome)};
}

TEST(JobDetailView, AttemptsAreToldApartOnANarrowTerminal) {
  JobDetails view;
  view.items.push_back(
      {.attempts = {Attempt(1, "", "preempted"), Attempt(2, "preempted", "watchdog no-output")}});
  const ui::Style narrow{.width = 80, .utf8 = true};
  EXPECT_THAT(RenderText(view, narrow),
              HasSubstr("      2  …ob-000001-a2  1970-01-01 00:00:00    1m  watchdog no-output  "
                        "preempted\n"));
  view.items[0].attempts[1].outcome = "failed";
  EXPECT_THAT(RenderText(view, narrow), HasSubstr("    1m  failed     preempted\n"));
  EXPECT_THAT(RenderText(view, narrow), HasSubstr("…me-of-a-job-000001-a1"));
  EXPECT_THAT(RenderText(view, narrow), Not(HasSubstr("ZONE"))) << "it is the same in all";
  view.items[0].attempts[1].zone = "us-east5-a";
  EXPECT_THAT(RenderText(view, narrow), HasSubstr("-a2  us-east5-a "));
}

}  // namespace
}  // namespace jobman::cli::views
