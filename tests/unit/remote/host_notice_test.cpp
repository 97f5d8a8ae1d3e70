// Notices of preemption and maintenance: the real script, with files as metadata server.
#include <gmock/gmock.h>
#include <signal.h>

#include "jobman/base/strings.hpp"
#include "tests/unit/remote/host_script_fixture.hpp"

namespace jobman::remote {
namespace {

/// A metadata server: a `curl` that reads its values from files in the home folder.
class NoticeTest : public HostScriptTest {
 protected:
  void SetUp() override {
    HostScriptTest::SetUp();
    host.env["GCE_METADATA_HOST"] = "metadata.test";
    std::filesystem::create_directories(host.home() / "meta");
    Say("preempted", "FALSE");
    Say("maintenance-event", "NONE");
    const base::Path curl = host.home() / "shell/curl";
    std::ofstream(curl) << kCurl;
    std::filesystem::permissions(curl, std::filesystem::perms::owner_all);
  }
  void Say(const std::string& key, const std::string& value) {
    const base::Path file = host.home() / "meta" / key;
    std::ofstream(file.string() + ".new") << value;
    std::filesystem::rename(file.string() + ".new", file);
  }
  /// From now on the server answers once the command has its trap and made ~/up.
  void AwaitTheTrap() {
    std::filesystem::remove(host.home() / "up");
    std::ofstream(host.home() / "await") << "";
  }
  /// Waits until the watcher has its first answers.
  void AwaitWatcher() {
    EXPECT_TRUE(Eventually([&] {
      return base::Contains(Slurp(host.home() / "asked"), "/?recursive=true&wait_for_change=true");
    }));
  }
  static constexpr const char* kCurl =
      "#!/bin/sh\n"
      "for url; do :; done\n"
      "echo \"$url\" >>~/asked\n"
      "case $url in http://metadata.test/computeMetadata/v1/instance/*) ;; *) exit 6 ;; esac\n"
      "key=${url##*/} key=${key%%\\?*}\n"
      "[ ! -e ~/await ] || until [ -e ~/up ]; do sleep 0.02; done\n"
      "ask() { value=$(cat ~/meta/${key:-*} | tr -d '\\n'); }\n"
      "ask\n"
      "case $url in *last_etag=*)\n"
      "  while [ \"$value\" = \"${url##*last_etag=}\" ]; do sleep 0.02; ask; done ;; esac\n"
      "printf 'HTTP/1.1 200 OK\\r\\nETag: %s\\r\\n\\r\\n%s' \"$value\" \"$value\"\n";
  static constexpr const char* kTerm = R"(trap 'cat "$JOBMAN_NOTICE_FILE"; exit 9' TERM
touch ~/up
exec 2>/dev/null
while :; do sleep 0.02; done)";
};

INSTANTIATE_TEST_SUITE_P(Shells, NoticeTest, HostsShell(), ShellName);

TEST_P(NoticeTest, APreemptionIsSignalledWrittenDownAndReported) {
  AwaitTheTrap();
  const auto follower = StartRunning({.run_id = "r", .script = kTerm, .notice_signal = "TERM"});
  AwaitWatcher();
  Say("preempted", "TRUE");
  const Ended ended = host.Wait(follower);
  EXPECT_EQ(ended.out, "{\"imminent\":true,\"kind\":\"preemption\",\"text\":\"TRUE\"}\n");
  EXPECT_EQ(ended.err, "jobman: running\njobman: notice preemption TRUE\njobman: exited 9\n");
  EXPECT_EQ(host.Do(FollowCall("r", 0)).err, ended.err) << "later followers see it too";
}

/// The connection of a call may break at any moment; then it is made again.
TEST_P(NoticeTest, ACallThatEndsWhileItSignalsHasSignalled) {
  const base::Path wrapper = host.home() / "shell/mkdir";
  std::ofstream(wrapper)
      << "#!/bin/sh\n/bin/mkdir \"$@\"; code=$?\n"
         "case $* in *signalled*) kill -$(cat ~/cut) $PPID ;; esac; exit $code\n";
  std::filesystem::permissions(wrapper, std::filesystem::perms::owner_all);
  const core::Notice notice{.kind = core::Notice::Kind::kPreemption, .imminent = true, .text = "T"};
  for (const std::string cut : {"HUP", "PIPE", "TERM"}) {
    std::ofstream(host.home() / "cut") << cut;
    const auto follower = StartRunning({.run_id = cut, .script = kTerm, .notice_signal = "TERM"});
    host.Do(NoticeCall(cut, notice, "TERM"));
    host.Do(NoticeCall(cut, notice, "TERM"));
    EXPECT_TRUE(Eventually([&] { return host.StatusOf(cut).kind != Kind::kRunning; })) << cut;
    host.Stop(cut, 0);
    host.Wait(follower);
  }
}

TEST_P(NoticeTest, MaintenanceIsSignalledOncePerJobAndMachine) {
  AwaitTheTrap();
  const std::string here = "s1.j000001.n1.h0.", there = "s1.j000001.n1.h1.";
  const RunOrder order{.run_id = here + "a1", .script = kTerm, .notice_signal = "TERM"};
  const auto follower = StartRunning(order);
  AwaitWatcher();
  Say("maintenance-event", "MIGRATE_ON_HOST_MAINTENANCE");
  Say("maintenance-event", "TERMINATE_ON_HOST_MAINTENANCE");
  EXPECT_TRUE(host.Wait(follower).err.ends_with("jobman: exited 9\n"));
  // The next run is not signalled again: the notice is still the same.
  const std::string until_told = "while [ ! -s $JOBMAN_NOTICE_FILE ]; do sleep 0.02; done";
  const Ended again =
      host.Run({.run_id = here + "a2", .script = until_told, .notice_signal = "TERM"});
  EXPECT_EQ(again.err, "jobman: running\njobman: exited 0\n");
  // Another host that shares the home folder is told too, and so is a job of another store here.
  for (const std::string& other : {there + "a2", std::string("s2.j000001.n1.h0.a2")}) {
    AwaitTheTrap();
    const Ended told = host.Run({.run_id = other, .script = kTerm, .notice_signal = "TERM"});
    EXPECT_TRUE(told.err.ends_with("jobman: exited 9\n")) << told.err;
  }
  EXPECT_EQ(host.Run({.run_id = here + "a3", .script = until_told, .notice_signal = "TERM"}).err,
            again.err)
      << "and does not change this one's notice";
  std::ofstream(host.home() / "boot_id") << "boot-2\n";
  AwaitTheTrap();
  const Ended other = host.Run({.run_id = here + "a4", .script = kTerm, .notice_signal = "TERM"});
  EXPECT_EQ(other.err,
            "jobman: running\njobman: notice maintenance TERMINATE_ON_HOST_MAINTENANCE\n"
            "jobman: exited 9\n");
}

TEST_P(NoticeTest, TheSignalCanBeChosenAndTheRunMaySurviveIt) {
  AwaitTheTrap();
  const auto follower =
      StartRunning({.run_id = "r",
                    .script = "exec 2>/dev/null; trap 'echo saving' USR1; touch ~/up\n"
                              "while [ ! -e ~/go ]; do sleep 0.02; done; exit 4",
                    .notice_signal = "USR1"});
  AwaitWatcher();
  Say("preempted", "TRUE");
  EXPECT_TRUE(Eventually([&] { return follower.Out() == "saving\n"; }));
  std::ofstream(host.home() / "go") << "";
  EXPECT_TRUE(host.Wait(follower).err.ends_with("jobman: exited 4\n"));
}

TEST_P(NoticeTest, WithoutASignalThereIsTheFile) {
  const auto follower =
      StartRunning({.run_id = "r",
                    .script = "while [ ! -s $JOBMAN_NOTICE_FILE ]; do sleep 0.02; done; echo read",
                    .notice_signal = "none"});
  AwaitWatcher();
  Say("preempted", "TRUE");
  EXPECT_EQ(host.Wait(follower).out, "read\n");
}

TEST_P(NoticeTest, TheWatcherEndsWithTheRun) {
  const auto follower =
      StartRunning({.run_id = "r", .script = "exec sleep 60", .notice_signal = "TERM"});
  AwaitWatcher();
  const pid_t watcher = PidIn(".jobman/runs/r/watcher");
  EXPECT_TRUE(IsAlive(watcher));
  host.Stop("r", 30);
  EXPECT_TRUE(Eventually([&] { return !IsAlive(watcher) && kill(-watcher, 0) != 0; }));
  host.Wait(follower);
}

TEST_P(NoticeTest, StopEndsTheWatcherOfAKilledLauncher) {
  const auto follower =
      StartRunning({.run_id = "r", .script = "exec sleep 60", .notice_signal = "TERM"});
  AwaitWatcher();
  const pid_t watcher = PidIn(".jobman/runs/r/watcher");
  kill(PidIn(".jobman/runs/r/pid"), SIGKILL);
  host.Wait(follower);
  host.Stop("r", 30);
  EXPECT_TRUE(Eventually([&] { return !IsAlive(watcher) && kill(-watcher, 0) != 0; }));
}

TEST_P(NoticeTest, WithoutAMetadataServerNothingIsAsked) {
  host.env["GCE_METADATA_HOST"] = "";
  host.Run({.run_id = "r", .script = "sleep 0.2", .notice_signal = "TERM"});
  EXPECT_FALSE(std::filesystem::exists(host.home() / "asked"));
  EXPECT_FALSE(std::filesystem::exists(host.RunDir("r") / "watcher"));
}

TEST_P(NoticeTest, ANoticeOfTheControllerIsToldOnce) {
  const auto follower = StartRunning({.run_id = "r",
                                      .script = "exec 2>/dev/null\n"
                                                "trap 'echo int; cat \"$JOBMAN_NOTICE_FILE\"' INT\n"
                                                "touch ~/up; while [ ! -e ~/go ]; do sleep 0.02; "
                                                "done",
                                      .notice_signal = "INT"});
  EXPECT_TRUE(Eventually([&] { return std::filesystem::exists(host.home() / "up"); }));
  const core::Notice later{.text = "SCHEDULED, PENDING"};
  const core::Notice now{.imminent = true, .text = "SCHEDULED, ONGOING"};
  for (int twice = 0; twice < 2; ++twice) {
    EXPECT_EQ(host.Do(NoticeCall("r", later, "none")).out, "running\n");
    EXPECT_EQ(host.Do(NoticeCall("r", now, "INT")).out, "running\n");
  }
  const std::string told =
      "int\n" + NoticeCall("r", later, "none").input + NoticeCall("r", now, "INT").input;
  EXPECT_TRUE(Eventually([&] { return follower.Out() == told; })) << follower.Out();
  std::ofstream(host.home() / "go") << "";
  EXPECT_EQ(host.Wait(follower).out, told);
  EXPECT_EQ(host.Do(NoticeCall("r", now, "INT")).out, "exited 0\n");
  EXPECT_EQ(host.Do(NoticeCall("never", now, "INT")).out, "absent\n");
}

}  // namespace
}  // namespace jobman::remote
