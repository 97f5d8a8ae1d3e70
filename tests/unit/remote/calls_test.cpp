#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "jobman/remote/host_script.hpp"

namespace jobman::remote {
namespace {

using Kind = RunStatus::Kind;

TEST(HostScript, IsNamedByItsContent) {
  EXPECT_TRUE(HostScript().starts_with("#!/bin/sh\n"));
  EXPECT_EQ(HostScriptName().size(), std::string("host-0123456789ab.sh").size());
}

TEST(RunIds, AreOneSafeWord) {
  EXPECT_TRUE(IsRunId("000042-a1-setup-0-install.h3"));
  for (const char* bad : {"", ".", "..", "-x", "a/b", "a b", "a;b", "a\nb", "a$(b)"})
    EXPECT_FALSE(IsRunId(bad)) << bad;
  EXPECT_FALSE(IsRunId(std::string(200, 'a')));
}

TEST(RunIds, AreOneWordForTheLongestNames) {
  constexpr int kMost = std::numeric_limits<int>::max();
  const core::JobOnHost on = {.store = "f5d33d77c34a",
                              .job = {std::numeric_limits<std::int64_t>::max()},
                              .node = std::string(63, 'n'),
                              .host = kMost};
  const core::SetupRun step = {
      .step = kMost, .content = "0123456789ab", .generation = kMost, .epoch = kMost};
  EXPECT_TRUE(IsRunId(core::FormatRunId({.on = on, .what = step})));
  EXPECT_TRUE(IsRunId(core::RunIdPrefix(on)));
}

TEST(PutCall, NamesWhatIsSentAndMayTakeLongerForMore) {
  const core::JobOnHost on = {.store = "s1", .job = {7}, .node = "n", .host = 3};
  const std::string file = CodeFileName(on, std::string(64, 'f'));
  EXPECT_EQ(file, "s1.j000007." + std::string(64, 'f') + ".tar.gz");
  EXPECT_TRUE(file.starts_with(CodeFilePrefix(on)));
  EXPECT_TRUE(HaveCall(file).command.ends_with(" have " + file));
  const Call call = PutCall(file, 64 << 20, "abc", CodeFilePrefix(on));
  EXPECT_TRUE(call.command.ends_with(" put " + file + " 67108864 abc s1.j000007."));
  EXPECT_EQ(call.silence, kLongestSilence);
  EXPECT_EQ(call.limit, kPutLimit + std::chrono::seconds{1024});
}

TEST(RunCall, RefusesVariablesThatAreTooLong) {
  EXPECT_FALSE(RunCall({.run_id = "a/b"}, 0).ok());
  EXPECT_FALSE(RunCall({.run_id = "a", .env = {{"A B", "1"}}}, 0).ok());
  EXPECT_FALSE(RunCall({.run_id = "a", .env = {{"A", std::string("x\0y", 3)}}}, 0).ok());
  EXPECT_FALSE(RunCall({.run_id = "a", .secrets = {{"1A", "x"}}}, 0).ok());
  EXPECT_FALSE(RunCall({.run_id = "a", .script = std::string("x\0y", 3)}, 0).ok());
}

TEST(RunCall, KeepsScriptAndSecretsOutOfTheCommandLine) {
  const auto call = RunCall({.run_id = "a", .script = "run-me", .secrets = {{"S", "hunter2"}}}, 7);
  ASSERT_TRUE(call.ok());
  EXPECT_EQ(call->command.find("hunter2"), std::string::npos);
  EXPECT_EQ(call->command.find("run-me"), std::string::npos);
  EXPECT_TRUE(call->command.ends_with(" run a 7")) << call->command;
}

TEST(RunCall, NamesTheRunsToStopBeforeTheStart) {
  const auto arguments = [](const RunOrder& order) {
    const std::string command = RunCall(order, 0)->command;
    return command.substr(command.find(".sh ") + 4);
  };
  const Duration grace = std::chrono::seconds{9};
  EXPECT_EQ(arguments({.run_id = "r"}), "run r 0");
  EXPECT_EQ(arguments({.run_id = "r", .replaces = "j1-a", .grace = grace}), "run r 0 9 j1-a");
  EXPECT_EQ(arguments({.run_id = "r", .grace = grace, .chips_of = "j1-"}), "run r 0 9 - j1-");
  EXPECT_EQ(arguments({.run_id = "r", .replaces = "j1-a", .grace = grace, .chips_of = "j1-"}),
            "run r 0 9 j1-a j1-");
}

TEST(StopCall, RoundsTheGraceUpToSeconds) {
  EXPECT_TRUE(StopCall("a", Duration{1}).command.ends_with(" stop a 1"));
  EXPECT_TRUE(StopCall("a", Duration{-5}).command.ends_with(" stop a 0"));
}

TEST(ParseStatus, ReadsEveryAnswer) {
  EXPECT_EQ(ParseStatus("running\n")->kind, Kind::kRunning);
  EXPECT_EQ(ParseStatus("absent\n")->kind, Kind::kAbsent);
  EXPECT_EQ(*ParseStatus("jobman: exited 137\n"),
            (RunStatus{.kind = Kind::kExited, .exit_code = 137}));
  EXPECT_EQ(*ParseStatus("jobman: lost the host was restarted\n"),
            (RunStatus{.kind = Kind::kLost, .text = "the host was restarted"}));
  EXPECT_EQ(*ParseStatus("jobman: error disk full"),
            (RunStatus{.kind = Kind::kError, .text = "disk full"}));
  EXPECT_EQ(*ParseStatus("jobman: busy process 7 of bob"),
            (RunStatus{.kind = Kind::kBusy, .text = "process 7 of bob"}));
  EXPECT_EQ(*ParseStatus("jobman: running\njobman: gap 4096 70000\n"),
            (RunStatus{.kind = Kind::kGap, .gap = {.begin = 4096, .end = 70'000}}));
}

TEST(ParseStatus, FindsTheLastStatusAmongNoiseOfLoginShells) {
  const auto status = ParseStatus("bash: warning: setlocale\njobman: exited 0\n\nBye!\n");
  ASSERT_TRUE(status.ok());
  EXPECT_EQ(status->kind, Kind::kExited);
}

TEST(ParseStatus, RefusesAnythingElse) {
  for (const char* text :
       {"", "exited", "exited x", "exited 256", "exited 99999999999999999999", "runningx", "gap 5",
        "gap 5 5", "gap -1 5", "gap 6 5", "gap 5 9999999999999999", "bash: sh: not found"})
    EXPECT_FALSE(ParseStatus(text).ok()) << text;
}

TEST(ParseRunningRuns, ReadsTheIdsOfRunningRuns) {
  EXPECT_THAT(ParseRunningRuns("Welcome!\nj000001-a1 exited 0\nj000001-a2 running\n"
                               "j000001-s0 lost its launcher was killed\n../x running\n"),
              testing::ElementsAre("j000001-a2"));
  EXPECT_TRUE(ParseRunningRuns("").empty());
}

TEST(ParseNotice, FindsTheWorstOfCompleteLines) {
  const std::string maintenance = "jobman: notice maintenance TERMINATE_ON_HOST_MAINTENANCE\n";
  EXPECT_EQ(ParseNotice("jobman: running\nmotd\n"), std::nullopt);
  EXPECT_EQ(ParseNotice("jobman: notice preemption TR"), std::nullopt) << "not all is here";
  EXPECT_EQ(ParseNotice("jobman: notice eviction TRUE\n"), std::nullopt);
  EXPECT_EQ(ParseNotice("jobman: running\n" + maintenance)->text, "TERMINATE_ON_HOST_MAINTENANCE");
  const auto worst = ParseNotice("jobman: notice preemption TRUE\n" + maintenance);
  ASSERT_TRUE(worst);
  EXPECT_EQ(worst->kind, core::Notice::Kind::kPreemption);
  EXPECT_TRUE(worst->imminent);
}

TEST(ParseStatus, IsNotDisturbedByNotices) {
  EXPECT_EQ(ParseStatus("jobman: exited 3\njobman: notice preemption TRUE\n")->exit_code, 3);
}

TEST(NoticeCall, SendsALineOfJson) {
  const Call call = NoticeCall("r", {.text = "SCHEDULED, PENDING"}, "none");
  EXPECT_TRUE(call.command.ends_with(" notice r none")) << call.command;
  EXPECT_EQ(call.input,
            "{\"imminent\":false,\"kind\":\"maintenance\",\"text\":\"SCHEDULED, PENDING\"}\n");
}

TEST(RunEnvironment, DescribesTheHostAndItsSlice) {
  core::Job job{
      .id = {42}, .attempt = 3, .restart = core::Restart{.cause = core::RestartCause::kPreempted}};
  job.slice = core::Slice{.ref = {.place = {"p", "us-central2-b"}, .name = "train-42-a3"},
                          .hosts = {{"10.0.0.1", "1.2.3.4"}, {"10.0.0.2", ""}}};
  const core::RunId run = {.on = core::OnHost("store1", job, 1), .what = core::CommandRun{3}};
  const auto env = RunEnvironment(job, 1, run);
  EXPECT_EQ(env.at("JOBMAN_JOB_ID"), core::FormatJobId(job.id));
  EXPECT_EQ(env.at("JOBMAN_ATTEMPT"), "3");
  EXPECT_EQ(env.at("JOBMAN_RESTART_REASON"), "preempted");
  EXPECT_EQ(env.at("JOBMAN_HOST_INDEX"), "1");
  EXPECT_EQ(env.at("JOBMAN_NUM_HOSTS"), "2");
  EXPECT_EQ(env.at("JOBMAN_HOSTS"), "10.0.0.1,10.0.0.2");
  EXPECT_EQ(env.at("JOBMAN_HEAD"), "10.0.0.1");
  EXPECT_EQ(env.at("JOBMAN_NUM_SLICES"), "1");
  EXPECT_EQ(env.at("JOBMAN_CHECKPOINT_DIR"), "~/.jobman/checkpoints/store1.j000042")
      << "stores that share a home folder do not share a job's checkpoints";
  EXPECT_EQ(env.at("JOBMAN_TPU_NAME"), "train-42-a3");
  EXPECT_EQ(env.at("JOBMAN_ZONE"), "us-central2-b");
  EXPECT_EQ(env.at("JOBMAN_RUN_ID"), "store1.j000042.train-42-a3.h1.a3");
  EXPECT_FALSE(env.contains("JOBMAN_CODE_COMMIT"));
  job.spec.code.snapshot.commit = "c0ffee";
  EXPECT_EQ(RunEnvironment(job, 1, run).at("JOBMAN_CODE_COMMIT"), "c0ffee");
}

/// A host may accept logins and never answer.
TEST(EveryCall, IsBounded) {
  const Duration grace = std::chrono::hours{2};
  EXPECT_EQ(InstallCall().limit, kCallLimit);
  EXPECT_EQ(ListCall("r").limit, kCallLimit);
  EXPECT_EQ(RenewCall("r").limit, kCallLimit);
  EXPECT_EQ(NoticeCall("r", {}, "TERM").limit, kCallLimit);
  EXPECT_EQ(StopCall("r", grace).limit, grace + kStopMargin);
  EXPECT_EQ(RunCall({.run_id = "r", .grace = grace}, 0)->silence, kLongestSilence);
  EXPECT_EQ(FollowCall("r", 0).silence, kLongestSilence);
  EXPECT_EQ(RunCall({.run_id = "r", .grace = grace}, 0)->start, 2 * (grace + kStopMargin));
  EXPECT_EQ(FollowCall("r", 0).start, kLongestSilence);
}

TEST(SaysRunExists, NeedsAStatusOfTheRun) {
  for (const char* yes : {"jobman: running\n", "hello\njobman: exited 3\n", "jobman: lost why\n"})
    EXPECT_TRUE(SaysRunExists(yes)) << yes;
  for (const char* no : {"", "hello\n", "jobman: alive\n", "jobman: absent\n", "jobman: error x\n"})
    EXPECT_FALSE(SaysRunExists(no)) << no;
}

TEST(ParseAges, ReadsOnlyWhatTheScriptWrote) {
  const auto runs = ParseAges(
      "Welcome to this host\nj.x-a 12 exited 3\r\nj.x-b 0 running\nj.x-c -4 running\n"
      "j.x-d 99999999999 running\nj.x-e 5 lost its launcher was killed\n../x 1 running\nj.x-f 1");
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(runs[0].run_id, "j.x-a");
  EXPECT_EQ(runs[0].age, std::chrono::seconds{12});
  EXPECT_EQ(runs[0].status.exit_code, 3);
  EXPECT_EQ(runs[2].run_id, "j.x-e");
  EXPECT_EQ(runs[2].status.text, "its launcher was killed");
}

}  // namespace
}  // namespace jobman::remote
