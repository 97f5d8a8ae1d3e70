// Hosts that share one home folder (NFS), stores that share one machine, and runs of an earlier
// jobman, whose ids distinguished neither: the real script on several hosts.
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>

#include "jobman/base/strings.hpp"
#include "tests/unit/remote/host_script_fixture.hpp"

namespace jobman::remote {
namespace {

core::JobOnHost On(int host, const std::string& store = "store1") {
  return {.store = store, .job = {42}, .node = "train-000042-a1", .host = host};
}
std::string CommandOn(const core::JobOnHost& on, int attempt = 1) {
  return core::FormatRunId({.on = on, .what = core::CommandRun{.attempt = attempt}});
}
std::string StepOn(const core::JobOnHost& on) {
  return core::FormatRunId({.on = on, .what = core::SetupRun{.content = "0123456789ab"}});
}

/// `host` is host 0; this is host 1, another machine with the same home folder.
class SharedHomeTest : public HostScriptTest {
 protected:
  void SetUp() override {
    HostScriptTest::SetUp();
    std::ofstream(host.home() / "boot_id_1") << "boot-of-host-1\n";
    second.env["JOBMAN_BOOT_ID_FILE"] = host.home() / "boot_id_1";
  }
  LocalHost second{GetParam(), host.home()};
};

INSTANTIATE_TEST_SUITE_P(Shells, SharedHomeTest, HostsShell(), ShellName);

TEST_P(SharedHomeTest, EachHostRunsItsOwnRun) {
  const Ended one = host.Run({.run_id = CommandOn(On(0)), .script = "echo zero; exit 3"});
  const Ended two = second.Run({.run_id = CommandOn(On(1)), .script = "echo one"});
  EXPECT_EQ(one.out, "zero\n");
  EXPECT_EQ(one.err, "jobman: running\njobman: exited 3\n");
  EXPECT_EQ(two.out, "one\n");
  EXPECT_EQ(two.err, "jobman: running\njobman: exited 0\n");
}

TEST_P(SharedHomeTest, AHostStopsAndListsOnlyItsOwnRuns) {
  const auto other =
      host.Start(*RunCall({.run_id = CommandOn(On(0)), .script = "exec sleep 60"}, 0));
  ASSERT_TRUE(Eventually([&] { return host.StatusOf(CommandOn(On(0))).kind == Kind::kRunning; }));
  second.Run({.run_id = CommandOn(On(1)), .script = "true"});
  EXPECT_EQ(second.Do(ListCall(core::RunIdPrefix(On(1)))).out, CommandOn(On(1)) + " exited 0\n");
  const std::string before_2 = CommandOn(On(1), 2);
  EXPECT_EQ(second.Do(StopCall(before_2, std::chrono::seconds{1}, before_2)).exit_code, 0);
  second.Run({.run_id = CommandOn(On(1), 3),
              .script = "true",
              .replaces = CommandOn(On(1), 3),
              .chips_of = core::RunIdPrefix(On(1))});
  EXPECT_EQ(host.StatusOf(CommandOn(On(0))).kind, Kind::kRunning);
  EXPECT_EQ(host.Stop(CommandOn(On(0)), 30).exit_code, 143);
  host.Wait(other);
}

TEST_P(SharedHomeTest, StoresOnOneMachineHaveTheirOwnRuns) {
  const auto theirs = StartRunning({.run_id = CommandOn(On(0)), .script = "exec sleep 60"});
  const std::string ours = CommandOn(On(0, "store2"));
  EXPECT_EQ(host.Run({.run_id = ours, .script = "echo ours"}).out, "ours\n");
  EXPECT_EQ(
      host.Do(StopCall(ours, std::chrono::seconds{1}, CommandOn(On(0, "store2"), 9))).exit_code, 0);
  EXPECT_EQ(host.StatusOf(CommandOn(On(0))).kind, Kind::kRunning);
  host.Stop(CommandOn(On(0)), 30);
  host.Wait(theirs);
}

/// Another host may be reading the installed script. Replacing it would be an error for that
/// reader, on NFS.
TEST_P(SharedHomeTest, AnInstalledScriptIsNotReplaced) {
  const base::Path script = host.home() / ".jobman/bin" / HostScriptName();
  struct stat before = {}, after = {};
  ASSERT_EQ(stat(script.c_str(), &before), 0);
  EXPECT_EQ(second.Do(InstallCall()).exit_code, 0);
  ASSERT_EQ(stat(script.c_str(), &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino);
}

TEST_P(SharedHomeTest, HostsMayInstallAtTheSameMoment) {
  std::filesystem::remove_all(host.home() / ".jobman");
  std::vector<LocalHost::Running> calls;
  for (int i = 0; i < 8; ++i) calls.push_back(second.Start(InstallCall()));
  for (const auto& call : calls) EXPECT_EQ(second.Wait(call).exit_code, 0);
  EXPECT_EQ(Slurp(host.home() / ".jobman/bin" / HostScriptName()), HostScript());
  const std::filesystem::directory_iterator bin(host.home() / ".jobman/bin");
  EXPECT_EQ(std::distance(begin(bin), end(bin)), 1) << "no temporary files are left";
}

TEST_P(SharedHomeTest, HostsMayBringTheScriptAtTheSameMoment) {
  std::filesystem::remove_all(host.home() / ".jobman");
  std::vector<LocalHost::Running> calls;
  for (int i = 0; i < 8; ++i) {
    const std::string id = "r" + std::to_string(i);
    calls.push_back(second.Start(WithScript(*RunCall({.run_id = id, .script = "echo " + id}, 0))));
  }
  for (int i = 0; i < 8; ++i) {
    const Ended ended = second.Wait(calls[static_cast<std::size_t>(i)]);
    EXPECT_EQ(ended.out, "r" + std::to_string(i) + "\n") << ended.err;
  }
  const std::filesystem::directory_iterator bin(host.home() / ".jobman/bin");
  EXPECT_EQ(std::distance(begin(bin), end(bin)), 1) << "no temporary files are left";
}

// --- Runs that an earlier jobman started: JOB-WHAT, on every host. ---

constexpr const char* kOldCommand = "j000042-a1";

TEST_P(SharedHomeTest, ARunOfAnEarlierJobmanIsFollowedNotStartedTwice) {
  const auto old = StartRunning(
      {.run_id = kOldCommand,
       .script = "echo x >>~/count; while [ ! -e ~/go ]; do sleep 0.02; done; echo on; exit 3"});
  const auto follower = host.Start(*RunCall({.run_id = CommandOn(On(0)), .script = "echo x"}, 0));
  EXPECT_TRUE(Eventually([&] { return Slurp(follower.folder / "err") == "jobman: running\n"; }));
  std::ofstream(host.home() / "go") << "";
  const Ended ended = host.Wait(follower);
  EXPECT_EQ(ended.out, "on\n");
  EXPECT_EQ(ended.err, "jobman: running\njobman: exited 3\n");
  EXPECT_EQ(Slurp(host.home() / "count"), "x\n");
  EXPECT_EQ(host.Run({.run_id = CommandOn(On(0)), .script = "echo x"}).out, "on\n")
      << "nor later on";
  host.Wait(old);
}

TEST_P(SharedHomeTest, ARunOfAnEarlierJobmanIsStoppedWithItsChildren) {
  const auto old = StartRunning(
      {.run_id = kOldCommand, .script = "setsid sleep 60 & echo $! >~/daemon; exec sleep 60"});
  const pid_t daemon = PidIn("daemon");
  EXPECT_EQ(host.Do(ListCall(core::RunIdPrefix(On(0)))).out, CommandOn(On(0)) + " running\n");
  EXPECT_EQ(host.Stop(CommandOn(On(0)), 30), (RunStatus{.kind = Kind::kExited, .exit_code = 143}));
  EXPECT_FALSE(IsAlive(daemon));
  host.Wait(old);
}

TEST_P(SharedHomeTest, LeftoversOfAnEarlierJobmanAreEndedBeforeTheNextAttempt) {
  std::filesystem::create_directories(host.home() / "dev");
  std::ofstream(host.home() / "dev/accel0") << "";
  host.Run({.run_id = kOldCommand, .script = "setsid sleep 60 & echo $! >~/daemon"});
  host.Run({.run_id = "j000042-s0-0123456789ab-g0e0",
            .script = "setsid sleep 60 <~/dev/accel0 & echo $! >~/holder"});
  const pid_t daemon = PidIn("daemon"), holder = PidIn("holder");
  const Ended next = host.Run({.run_id = CommandOn(On(0), 2),
                               .script = "echo mine",
                               .replaces = CommandOn(On(0), 2),
                               .chips_of = core::RunIdPrefix(On(0))});
  EXPECT_EQ(next.out, "mine\n") << next.err;
  EXPECT_FALSE(IsAlive(daemon));
  EXPECT_FALSE(IsAlive(holder));
}

TEST_P(SharedHomeTest, AStepThatAnEarlierJobmanFinishedIsNotRunAgain) {
  host.Run({.run_id = "j000042-s0-0123456789ab-g0e0", .script = "echo x >>~/count"});
  EXPECT_EQ(host.Do(RenewCall(StepOn(On(0)))).exit_code, 0);
  host.Run({.run_id = StepOn(On(0)), .script = "echo x >>~/count"});
  EXPECT_EQ(Slurp(host.home() / "count"), "x\n");
  std::ofstream(host.home() / "boot_id") << "boot-2\n";
  EXPECT_EQ(host.Do(RenewCall(StepOn(On(0)))).exit_code, 0) << "except after a reboot";
  host.Run({.run_id = StepOn(On(0)), .script = "echo x >>~/count"});
  EXPECT_EQ(Slurp(host.home() / "count"), "x\nx\n");
}

TEST_P(SharedHomeTest, ARunThatAnEarlierJobmanStartedOnAnotherHostIsNotOurs) {
  const auto old = StartRunning({.run_id = kOldCommand, .script = "exec sleep 60"});
  EXPECT_EQ(second.Run({.run_id = CommandOn(On(1)), .script = "echo one"}).out, "one\n");
  EXPECT_EQ(second.Do(StopCall(CommandOn(On(1)), std::chrono::seconds{1})).exit_code, 0);
  EXPECT_EQ(host.StatusOf(kOldCommand).kind, Kind::kRunning);
  host.Stop(kOldCommand, 30);
  host.Wait(old);
}

TEST_P(SharedHomeTest, CheckpointsOfAnEarlierJobmanAreFoundByTheNextAttempt) {
  const std::string save = "echo $JOBMAN_ATTEMPT >\"$JOBMAN_CHECKPOINT_DIR\"/step";
  host.Run({.run_id = kOldCommand,
            .script = save,
            .env = {{"JOBMAN_ATTEMPT", "1"},
                    {"JOBMAN_CHECKPOINT_DIR", "~/.jobman/checkpoints/000042"}}});
  const Ended next =
      host.Run({.run_id = CommandOn(On(0), 2),
                .script = "cat \"$JOBMAN_CHECKPOINT_DIR\"/step",
                .env = {{"JOBMAN_CHECKPOINT_DIR", "~/.jobman/checkpoints/store1.j000042"}}});
  EXPECT_EQ(next.out, "1\n");
}

}  // namespace
}  // namespace jobman::remote
