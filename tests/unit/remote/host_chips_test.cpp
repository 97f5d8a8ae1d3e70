// Processes that hold the chips of a host when a run starts: the real script, with files as chips.
#include <gmock/gmock.h>
#include <signal.h>

#include "jobman/base/strings.hpp"
#include "tests/unit/remote/host_script_fixture.hpp"

namespace jobman::remote {
namespace {

/// Files as chips, and a process that has one of them open.
class ChipsTest : public HostScriptTest {
 protected:
  void SetUp() override {
    HostScriptTest::SetUp();
    std::filesystem::create_directories(host.home() / "dev");
    for (const char* chip : {"accel0", "accel1"}) std::ofstream(host.home() / "dev" / chip) << "";
  }
  RunOrder Next(const std::string& script) {
    return {
        .run_id = "j1-a2", .script = script, .grace = std::chrono::seconds{1}, .chips_of = "j1-"};
  }
  std::string Chip(int number) { return host.home() / ("dev/accel" + std::to_string(number)); }
};

INSTANTIATE_TEST_SUITE_P(Shells, ChipsTest, HostsShell(), ShellName);

TEST_P(ChipsTest, LeftoversOfThisJobAreKilled) {
  // Marked in its environment; only in its session; not on the chips.
  host.Run({.run_id = "j1-s0", .script = "setsid sleep 60 <~/dev/accel0 & echo $! >~/daemon"});
  host.Run({.run_id = "j1-a1",
            .script = "env -i /bin/sleep 60 <~/dev/accel1 & echo $! >~/bare\n"
                      "sleep 60 & echo $! >~/service"});
  const pid_t daemon = PidIn("daemon"), bare = PidIn("bare"), service = PidIn("service");
  EXPECT_EQ(host.Run(Next("echo mine")).out, "mine\n");
  EXPECT_FALSE(IsAlive(daemon));
  EXPECT_FALSE(IsAlive(bare));
  EXPECT_TRUE(IsAlive(service)) << "it does no harm";
  host.Stop("j1-a1", 0);
}

TEST_P(ChipsTest, ALateStartDoesNotKillALaterAttempt) {
  const auto later =
      StartRunning({.run_id = "j1-a3", .script = "exec 5<~/dev/accel0; touch ~/up; exec sleep 60"});
  ASSERT_TRUE(Eventually([&] { return std::filesystem::exists(host.home() / "up"); }));
  EXPECT_EQ(ParseStatus(host.Run(Next("touch ~/ran")).err)->kind, Kind::kBusy);
  EXPECT_EQ(host.StatusOf("j1-a3").kind, Kind::kRunning);
  host.Stop("j1-a3", 30);
  host.Wait(later);
}

TEST_P(ChipsTest, ProcessesThatIgnoreTermAreKilled) {
  host.Run({.run_id = "j1-a1",
            .script = "exec 5<~/dev/accel1; setsid sh -c 'trap \"\" TERM; echo $$ >~/daemon; "
                      "while :; do sleep 0.1; done' &"});
  const pid_t daemon = PidIn("daemon");
  EXPECT_EQ(host.Run(Next("echo mine")).out, "mine\n");
  EXPECT_FALSE(IsAlive(daemon));
}

/// The holder is restarted between two looks at the chips, by an `ls` that starts it whenever it
/// was signalled.
TEST_P(ChipsTest, AHolderThatKeepsRestartingGetsOneTermAndIsGivenUp) {
  std::filesystem::create_directories(host.RunDir("j1-a1"));
  const base::Path ls = host.home() / "shell/ls";
  std::ofstream(ls) << "#!/bin/sh\n"
                       "case $* in *fd*) ;; *) exec /bin/ls \"$@\" ;; esac\n"
                       "alive() { case $(cut -d' ' -f3 /proc/$pid/stat 2>/dev/null) in"
                       " '' | Z) return 1 ;; esac; }\n"
                       "read -r pid 2>/dev/null <~/holder\n"
                       "if ! alive && rm ~/told 2>/dev/null || [ -z \"$pid\" ]; then\n"
                       "  JOBMAN_RUN_DIR=$HOME/.jobman/runs/j1-a1 setsid sh -c '\n"
                       "    trap \"echo TERM >>~/terms\" TERM\n"
                       "    echo $$ >~/holder; while :; do sleep 0.02; done' >/dev/null 2>&1 &\n"
                       "  until read -r new 2>/dev/null <~/holder && [ \"$new\" != \"$pid\" ]; do\n"
                       "    sleep 0.02\n"
                       "  done\n"
                       "  pid=$new\n"
                       "fi\n"
                       "if alive; then\n"
                       "  echo \"/proc/$pid/fd:\"\n"
                       "  echo \"lr-x 1 me me 64 Jan 1 00:00 5 -> $HOME/dev/accel0\"\n"
                       "else\n"
                       "  touch ~/told\n"
                       "fi\n";
  std::filesystem::permissions(ls, std::filesystem::perms::owner_all);
  SetLimit("jm_chips_wait_cs", 300);
  RunOrder next = Next("touch ~/ran");
  next.grace = std::chrono::seconds{5};  // it begins before the first holder is found
  const Ended ended = host.Run(next);
  EXPECT_EQ(ended.exit_code, kExitHostError);
  const auto status = ParseStatus(ended.err);
  ASSERT_TRUE(status.ok()) << ended.err;
  EXPECT_EQ(status->kind, Kind::kError);
  EXPECT_TRUE(
      base::Contains(status->text, "something starts them again as often as they are ended"))
      << status->text;
  EXPECT_FALSE(std::filesystem::exists(host.home() / "ran"));
  EXPECT_EQ(Slurp(host.home() / "terms"), "TERM\n") << "the grace ended after the first";
  kill(PidIn("holder"), SIGKILL);
}

TEST_P(ChipsTest, OtherHoldersAreNamedAndLeftAlone) {
  host.Run({.run_id = "j2-a1",
            .script = "exec 4<~/dev/accel0 5<~/dev/accel1; setsid sleep 61 & echo $! >~/other"});
  const pid_t other = PidIn("other");
  const Ended refused = host.Run(Next("touch ~/ran"));
  EXPECT_EQ(refused.exit_code, kExitHostError);
  const auto status = ParseStatus(refused.err);
  ASSERT_TRUE(status.ok()) << refused.err;
  EXPECT_EQ(status->kind, Kind::kBusy);
  EXPECT_TRUE(base::Contains(status->text, "process " + std::to_string(other) + " of "))
      << status->text;
  EXPECT_TRUE(base::Contains(status->text, "(sleep 61) holds " + Chip(0) + ", " + Chip(1)))
      << status->text;
  EXPECT_TRUE(IsAlive(other));
  EXPECT_FALSE(std::filesystem::exists(host.home() / "ran"));
  EXPECT_EQ(host.StatusOf("j1-a2").kind, Kind::kAbsent) << "it may be started later";
  host.Stop("j2-a1", 0);
  EXPECT_EQ(host.Run(Next("echo mine")).out, "mine\n");
}

TEST_P(ChipsTest, AStaleLockFileIsRemoved) {
  std::ofstream(host.home() / "libtpu_lockfile") << "";
  EXPECT_EQ(host.Run(Next("ls ~/libtpu_lockfile 2>/dev/null || echo gone")).out, "gone\n");
}

TEST_P(ChipsTest, AHeldLockFileStays) {
  std::ofstream(host.home() / "libtpu_lockfile") << "";
  host.Run({.run_id = "j2-a1", .script = "setsid sleep 61 5<~/libtpu_lockfile & echo $! >~/other"});
  PidIn("other");
  EXPECT_EQ(ParseStatus(host.Run(Next("true")).err)->kind, Kind::kBusy);
  EXPECT_TRUE(std::filesystem::exists(host.home() / "libtpu_lockfile"));
}

TEST_P(ChipsTest, AStaleLockFileOfAnotherUserIsNamedInTheLog) {
  const base::Path lock = host.home() / "libtpu_lockfile";
  std::ofstream(lock) << "";
  if (chown(lock.c_str(), 65534, 65534) != 0) GTEST_SKIP() << "only root may change owners";
  const Ended ended = host.Run(Next("echo on"));
  EXPECT_TRUE(ended.out.starts_with("jobman: the lock file " + lock.string() + " is of "))
      << ended.out;
  EXPECT_TRUE(ended.out.ends_with("run: sudo rm " + lock.string() + "\non\n")) << ended.out;
  EXPECT_TRUE(std::filesystem::exists(lock));
}

TEST_P(ChipsTest, ARunThatHoldsTheChipsIsFollowed) {
  const RunOrder order = Next("exec sleep 60 <~/dev/accel0");
  const auto follower = StartRunning(order);
  const auto second = host.Start(*RunCall(order, 0));
  EXPECT_TRUE(Eventually([&] { return Slurp(second.folder / "err") == "jobman: running\n"; }));
  EXPECT_EQ(host.StatusOf("j1-a2").kind, Kind::kRunning);
  host.Stop("j1-a2", 30);
  EXPECT_EQ(host.Wait(second).err, "jobman: running\njobman: exited 143\n");
  host.Wait(follower);
}

}  // namespace
}  // namespace jobman::remote
