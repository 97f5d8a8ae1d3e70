// What views print that golden files do not show.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/slice_price.hpp"
#include "cli/views/controller_status.hpp"
#include "cli/views/copied.hpp"
#include "cli/views/copying.hpp"
#include "cli/views/created.hpp"
#include "cli/views/job_detail.hpp"
#include "cli/views/job_end.hpp"
#include "cli/views/synced.hpp"
#include "cli/views/wished.hpp"
#include "cli/views/words.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::cli::views {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
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

TEST(Words, TheFirstLineOfAScriptIsItsFirstCommand) {
  EXPECT_EQ(FirstLine("python train.py\n"), "python train.py");
  EXPECT_EQ(FirstLine("python a.py\npython b.py"), "python a.py ...");
  EXPECT_EQ(FirstLine("#!/bin/bash\n\n#JOBMAN --name=lr\n  python train.py"),
            "python train.py ...");
  EXPECT_EQ(FirstLine("# nothing yet"), "# nothing yet");
  EXPECT_EQ(FirstLine(" \n"), "");
}

/// Jobs of an array.
Created Several(int count) {
  Created view{.all = "'lr-*'"};
  for (int i = 0; i < count; ++i) {
    view.rows.push_back({.id = {i + 1},
                         .name = "lr-" + std::to_string(i),
                         .accelerator = "v4-8",
                         .zone = "us-central2-b",
                         .hosts = 1,
                         .when_done = {.action = core::SliceUse::kDelete}});
  }
  return view;
}

TEST(CreatedView, WhatSeveralJobsHaveInCommonIsSaidOnce) {
  Created view = Several(4);
  const std::string jobs =
      "Created job 000001 (lr-0): v4-8, 1 host, in us-central2-b\n"
      "Created job 000002 (lr-1): v4-8, 1 host, in us-central2-b\n"
      "Created job 000003 (lr-2): v4-8, 1 host, in us-central2-b\n"
      "Created job 000004 (lr-3): v4-8, 1 host, in us-central2-b\n";
  EXPECT_EQ(RenderText(view, {}), jobs +
                                      "  their slices are deleted at their end\n"
                                      "  to follow them: jobman logs -f 'lr-*'\n");
  for (Created::Row& row : view.rows) row.when_done = {};
  EXPECT_EQ(RenderText(view, {}),
            jobs +
                "  their slices are kept after their end; to give them back: jobman delete 'lr-*'\n"
                "  to follow them: jobman logs -f 'lr-*'\n");
}

TEST(CreatedView, DifferentJobsHaveNotesOfTheirOwn) {
  EXPECT_THAT(RenderText(Several(2), {}),
              HasSubstr("in us-central2-b\n  their slices are deleted at their end\n  to follow"));
  EXPECT_THAT(RenderText(Several(1), {}), HasSubstr("\n  its slice is deleted at its end\n"));
  Created view = Several(4);
  view.rows[2].when_done = {};
  EXPECT_THAT(RenderText(view, {}),
              AllOf(HasSubstr("  its slice is deleted at its end\nCreated job 000002"),
                    HasSubstr("to give it back: jobman delete 000003\nCreated job 000004")));
}

TEST(CreatedView, SaysWhatAnHourOfTheSliceCosts) {
  Created view = Several(1);
  EXPECT_TRUE(ToJson(view)["jobs"][0]["usd_per_hour"].is_null());
  view.rows[0].per_hour = 12.88;
  EXPECT_THAT(RenderText(view, {.width = 80}), HasSubstr(", in us-central2-b, 12.88 USD/h\n"));
  view.rows[0].element = "lr=0.1";
  EXPECT_THAT(RenderText(view, {}), HasSubstr("-b, 12.88 USD/h; lr=0.1\n"));
  EXPECT_EQ(ToJson(view)["jobs"][0]["usd_per_hour"], 12.88);
}

TEST(SlicePrice, IsOfWhatTheJobAsksTheCloudFor) {
  core::JobSpec spec;
  spec.tpu = {.accelerator = "v4-8", .zone = "us-central2-b"};
  EXPECT_NEAR(SlicePrice(core::BuiltInPrices(), spec).value_or(0), 12.88, 0.001);
  spec.cloud.endpoint = "local";
  EXPECT_FALSE(SlicePrice(core::BuiltInPrices(), spec)) << "nobody pays for it";
  spec.cloud.endpoint = core::kDefaultEndpoint;
  spec.tpu.existing = "mine";
  EXPECT_FALSE(SlicePrice(core::BuiltInPrices(), spec)) << "it is there already";
}

TEST(CreatedView, AJobWithoutACommandHoldsItsSliceAndPrintsNothing) {
  Created view = Several(1);
  view.all = "000001";
  view.rows[0].holds = true;
  EXPECT_THAT(RenderText(view, {}),
              HasSubstr("\n  its slice is held until the job is cancelled; to give it back: jobman "
                        "delete 000001\n"
                        "  to wait until the hosts are ready: jobman wait 000001 --for running\n"));
  view = Several(2);
  view.rows[0].holds = true;
  EXPECT_THAT(RenderText(view, {}), HasSubstr("\n  to follow them: jobman logs -f 'lr-*'\n"))
      << "one has a command";
}

TEST(CreatedView, AWorkerWithAnIdleTimeGivesItsSliceBack) {
  Created view = Several(1);
  view.all = "000001";
  view.rows[0].holds = true;
  view.rows[0].idle = 30min;
  EXPECT_THAT(
      RenderText(view, {}),
      HasSubstr("\n  its slice is given back after 30m without a task; to give it back now: "
                "jobman delete 000001\n"));
}

TEST(WishedView, AWorkerThatIsStoppedEndsItsTaskFirst) {
  const Wished view{.said = "cancelling", .rows = {{.id = {7}, .name = "w", .ends_first = "lr1"}}};
  EXPECT_EQ(RenderText(view, {}),
            "job 000007 (w) ends task lr1 first, and takes no other; to stop that, too: jobman "
            "cancel 000007\n");
}

TEST(JobDetailView, OfAWorkerTheLastTaskIsShownAmongItsStages) {
  core::Job job{.id = {7}, .name = "w", .attempt = 1};
  job.spec.queue = core::QueueSpec{.enabled = true, .config = "/lab/tasks.yaml"};
  JobDetails view;
  view.items.push_back({.job = job});
  const auto ended = [](std::string stage, base::Duration after) {
    return ports::ExitRecord{
        .attempt = 1, .stage = std::move(stage), .host = 0, .at = kStart + after};
  };
  view.items[0].exits = {ended("setup-0-once", 1s), ended("task-b-1", 2s), ended("task-a-1", 3s)};
  const std::string text = RenderText(view, {});
  EXPECT_THAT(text,
              AllOf(HasSubstr("setup-0-once"), HasSubstr("task-a-1"), Not(HasSubstr("task-b-1"))));
  EXPECT_THAT(text, HasSubstr("none: runs the tasks of /lab/tasks.yaml"));
}

TEST(WishedView, AChangeOfAJobThatRunsIsForItsNextAttempt) {
  const Wished view{.said = "resuming",
                    .rows = {{.id = {7}, .name = "wt", .at_next_attempt = true}}};
  EXPECT_EQ(RenderText(view, {}),
            "job 000007 (wt) goes on; its next attempt uses the change. To begin it now: jobman "
            "reboot 000007\n");
}

TEST(WishedView, ManyJobsThatAreUnderWayAreOneLine) {
  Wished view{.said = "deleting", .under_way = "'lr-*'"};
  for (const int id : {12, 13, 14, 20}) view.rows.push_back({.id = {id}, .name = "lr"});
  view.rows.push_back(
      {.id = {15}, .name = "lr-4", .status = "DELETED", .settled = true, .why = "deleted"});
  EXPECT_EQ(RenderText(view, {}),
            "job 000015 (lr-4) is DELETED: deleted\n"
            "deleting 4 jobs, 12-14,20; progress: jobman list 'lr-*'\n");
  view.rows.erase(view.rows.begin());
  EXPECT_THAT(RenderText(view, {}),
              HasSubstr("deleting job 000020 (lr); progress: jobman why 000020\n"));
}

TEST(JobEndView, OfSeveralJobsEachTableIsBelowTheLineThatNamesItsJob) {
  core::Job job{.id = {7}, .name = "train", .why = "exit code 3"};
  job.state = core::Done{.outcome = core::Outcome::kFailed};
  const std::vector<ports::ExitRecord> exits = {{.stage = "run", .host = 0, .exit_code = 3}};
  const std::string table = "HOST  run\n0     3\n";
  const std::string line = "job 000007 (train) FAILED: exit code 3\n";
  EXPECT_EQ(RenderText(JobEnd{.job = job, .exits = exits, .alone = false}, {}),
            "\n" + line + table);
  EXPECT_THAT(RenderText(JobEnd{.job = job, .exits = exits}, {}),
              testing::StartsWith("\n" + table + "\n" + line + "next:\n"));
}

TEST(JobEndView, OfSeveralJobsTheCommandsAreSaidOnce) {
  core::Job job{.id = {7}, .name = "train"};
  job.state = core::Done{.outcome = core::Outcome::kFailed};
  job.why = "no retry is left";
  EXPECT_EQ(RenderText(JobEnd{.job = job, .alone = false}, {}),
            "\njob 000007 (train) FAILED: no retry is left\n");
  EXPECT_EQ(RenderText(JobEnd{.job = job}, {}),
            "\njob 000007 (train) FAILED: no retry is left\n"
            "next:\n"
            "  jobman why 000007     what happened, and what to do\n"
            "  jobman logs 000007    what the hosts wrote\n"
            "  jobman resume 000007  run it again\n"
            "  jobman show 000007    everything about it\n");
  const NextCommands next{.several = true, .all = "'lr-*'", .failed = "000001 000002"};
  EXPECT_EQ(RenderText(next, {}),
            "next:\n"
            "  jobman why 000001 000002     what happened, and what to do\n"
            "  jobman logs 'lr-*'           what the hosts wrote\n"
            "  jobman resume 000001 000002  run them again\n"
            "  jobman show 'lr-*'           everything about them\n");
}

/// No host has written anything, and running it again as it is would end in the same way.
TEST(JobEndView, OfARequestThatWasRefusedTheCureIsSaid) {
  core::Job job{.id = {7}, .name = "train"};
  job.state = core::Done{.outcome = core::Outcome::kFailed,
                         .error = base::Error{.message = "Limit: 0.", .hint = "ask for quota"}};
  job.why = "Limit: 0.";
  EXPECT_EQ(RenderText(JobEnd{.job = job, .ran = false}, {}),
            "\njob 000007 (train) FAILED: Limit: 0.\n"
            "next: ask for quota\n"
            "  jobman edit 000007    change what it asks for\n"
            "  jobman resume 000007  run it again\n"
            "  jobman show 000007    everything about it\n");
  EXPECT_THAT(RenderText(JobEnd{.job = job}, {}), HasSubstr("jobman logs 000007"));
  job.state = core::Done{.outcome = core::Outcome::kCancelled};
  EXPECT_EQ(NextOf(job, false).cure, "");
  EXPECT_THAT(RenderText(JobEnd{.job = job, .ran = false}, {}), Not(HasSubstr("jobman logs")));
}

TEST(ControllerStatusView, NamesWhatKeepsAnyControllerFromWorking) {
  ControllerStatus view{.log = "/home/log"};
  view.trouble = base::Error{.message = "the disk of /home is full", .hint = "free some space"};
  EXPECT_EQ(RenderText(view, {}),
            "no controller can work: the disk of /home is full\n  free some space\n");
  EXPECT_EQ(ToJson(view).dump(),
            R"({"running":false,"log":"/home/log","error":"the disk of /home is full"})");
}

TEST(HostFailures, OfACopyAndASyncAreInTheOrderOfTheirFirstHosts) {
  const base::Error full{.message = "the disk is full", .hint = "free some space"};
  const base::Error away{.message = "connection refused"};
  CopyResult copy{.to_hosts = true};
  SyncResult sync;
  for (const base::Error& error : {full, away, full}) {
    const int host = static_cast<int>(copy.copied.hosts.size());
    copy.copied.hosts.push_back({.host = host, .error = error});
    sync.synced.hosts.push_back({.host = host, .error = error});
  }
  const std::string failures =
      "hosts 0,2: the disk is full\n  free some space\nhost 1: connection refused\n";
  EXPECT_EQ(RenderText(copy, {}), failures + "nothing was copied\n");
  EXPECT_EQ(RenderText(sync, {}), failures + "nothing was sent\n");
}

TEST(CopyingLine, HasHostsBytesRateAndTheTimeThatIsLeft) {
  client::CopyState state{.bytes = 3'000'000'000, .total = 10'000'000'000, .hosts = 1024};
  state.busy = {17, 18};
  const std::string text = views::CopyingText(state, 100'000'000, std::chrono::seconds{80});
  EXPECT_EQ(text, base::FormatBytes(3'000'000'000) + " of " + base::FormatBytes(10'000'000'000) +
                      ", " + base::FormatBytes(100'000'000) +
                      "/s; 1m11s left for hosts 17-18 (2 of 1024)");
  EXPECT_EQ(views::CopyingText({.hosts = 2, .busy = {0, 1}}, 0, std::chrono::seconds{2}),
            "waiting 2s for 2 hosts");
  client::CopyState many{.hosts = 100};
  for (int host = 1; host < 100; host += 2) many.busy.push_back(host);
  EXPECT_EQ(views::CopyingText(many, 0, std::chrono::seconds{2}), "waiting 2s for 50 of 100 hosts");
  EXPECT_EQ(views::CopyingText({.hosts = 1, .busy = {0}}, 0, std::chrono::seconds{2}),
            "waiting 2s for host 0");
  state.total = 5;  // an estimate
  EXPECT_THAT(views::CopyingText(state, 1'000'000, {}),
              AllOf(Not(HasSubstr(" of 5")), Not(HasSubstr("left"))));
  EXPECT_EQ(views::CopyingText({.bytes = 5}, 0, {}), "") << "nobody is awaited";
}

TEST(CopyingLine, ItsRateIsThatOfTheLastSeconds) {
  using std::chrono::seconds;
  views::RecentRate rate;
  const views::RecentRate::Time start{};
  EXPECT_EQ(rate.PerSecond(), 0);
  rate.Add(start, 0);
  rate.Add(start + seconds{1}, 1'000'000);
  EXPECT_EQ(rate.PerSecond(), 1'000'000);
  for (int i = 2; i <= 30; ++i) rate.Add(start + seconds{i}, 1'000'000);
  EXPECT_EQ(rate.PerSecond(), 0) << "it stalled";
  rate.Add(start + seconds{31}, 10);
  EXPECT_EQ(rate.PerSecond(), 0) << "another round";
}

}  // namespace
}  // namespace jobman::cli::views
