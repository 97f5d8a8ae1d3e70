// A host hangs: it accepts logins, but no command answers. No job waits for it for ever, and its
// slice is given back.
#include "jobman/base/files.hpp"
#include "jobman/base/strings.hpp"
#include "tests/e2e/rehearsal.hpp"
#include "tests/e2e/terminal.hpp"

namespace jobman::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Hang : public Rehearsal {
 protected:
  static void SetUpTestSuite() { StartSuite({"--host-limit", Place::kHostLimit}); }

  void HangHosts(const std::string& hosts) { Sim({"host", Slice() + "/" + hosts, "hang"}); }
  void LetHostsTrickle(const std::string& hosts) {
    Sim({"host", Slice() + "/" + hosts, "trickle"});
  }
  /// What really happens: the script on the host never ends.
  void BreakTheScriptOn(const std::string& host) {
    const Ran broken =
        Jobman({"exec", id(), "--host", host, "--",
                "for f in ~/.jobman/bin/host-*.sh; do echo 'sleep 100000' >$f; done"});
    ASSERT_EQ(broken.code, 0) << broken.All();
  }
  void RestartController() {
    place().KillController();
    place().StartController({"--host-limit", Place::kHostLimit, "--poll", "1"});
  }
  void DeleteGivesTheSliceBack() {
    const Ran deleted = Jobman({"delete", id(), "--wait"});
    EXPECT_EQ(deleted.code, 0) << deleted.All();
    EXPECT_THAT(Cloud(), Not(HasSubstr(Slice())));
  }
};

TEST_F(Hang, DeleteGoesOnWithoutTheHostAndSaysSo) {
  CreateAndRun({}, 2);
  HangHosts("1");
  DeleteGivesTheSliceBack();
  EXPECT_THAT(History(), HasSubstr("the command may still run on host 1, which did not answer"));
}

TEST_F(Hang, DeleteGoesOnWhenAllHostsHang) {
  CreateAndRun({}, 2);
  HangHosts("*");
  DeleteGivesTheSliceBack();
  EXPECT_THAT(History(), HasSubstr("the command may still run on hosts 0-1, which did not answer"));
}

TEST_F(Hang, DeleteGoesOnAfterTheControllerStartedAgain) {
  CreateAndRun({}, 2);
  HangHosts("1");
  ASSERT_EQ(Jobman({"delete", id()}).code, 0);
  ASSERT_TRUE(Reaches("DELETING"));
  RestartController();
  DeleteGivesTheSliceBack();
}

TEST_F(Hang, DeleteGoesOnWithABrokenHostScript) {
  CreateAndRun({}, 2);
  BreakTheScriptOn("1");
  DeleteGivesTheSliceBack();
  EXPECT_THAT(History(), HasSubstr("host 1, which did not answer"));
}

TEST_F(Hang, DeleteGoesOnWhileTheJobIsSetUp) {
  Create("true", {"setup=[{name: install, run: 'echo up; sleep 600'}]"}, 2);
  ASSERT_TRUE(place().Until("the setup step to run", [&] {
    return Log(1, 0, "setup-0-install") == "up\n" && Log(1, 1, "setup-0-install") == "up\n";
  }));
  HangHosts("1");
  DeleteGivesTheSliceBack();
}

TEST_F(Hang, DeleteGoesOnWhenTheHostHangsBeforeTheStart) {
  Create("echo up; sleep 600",
         {"setup=[{name: wait, run: 'echo up; until [ -e ~/go ]; do sleep 0.5; done'}]"}, 2);
  ASSERT_TRUE(place().Until("the setup step to run", [&] {
    return Log(1, 0, "setup-0-wait") == "up\n" && Log(1, 1, "setup-0-wait") == "up\n";
  }));
  BreakTheScriptOn("1");
  ASSERT_EQ(Jobman({"exec", id(), "--", "touch ~/go"}).code, 0);
  ASSERT_TRUE(place().Until("the command to run on host 0", [&] { return Log(1, 0) == "up\n"; }));
  DeleteGivesTheSliceBack();
}

TEST_F(Hang, CancelGoesOnAndResumeTakesANewSlice) {
  CreateAndRun({}, 2);
  HangHosts("1");
  const Ran cancelled = Jobman({"cancel", id(), "--wait"});
  EXPECT_EQ(cancelled.code, 0) << cancelled.All();
  EXPECT_TRUE(WhySays("host 1 did not answer"));
  ASSERT_EQ(Jobman({"resume", id()}).code, 0);
  ASSERT_TRUE(Reaches("SUCCEEDED"));
  EXPECT_EQ(Log(2, 1), "attempt 2\n");
  EXPECT_THAT(Cloud(), Not(HasSubstr(Slice(1))));
}

TEST_F(Hang, AnEndedJobResumesOnANewSliceWhenItsHostHangs) {
  Create("echo attempt $JOBMAN_ATTEMPT", {}, 2);
  ASSERT_TRUE(Reaches("SUCCEEDED"));
  HangHosts("1");
  ASSERT_EQ(Jobman({"resume", id()}).code, 0);
  ASSERT_TRUE(
      place().Until("a slice that works", [&] { return base::Contains(Log(3, 1), "attempt 3"); }));
  ASSERT_TRUE(Reaches("SUCCEEDED"));
}

TEST_F(Hang, CancelGoesOnWhenAHostPrintsForEverAndResumeTakesANewSlice) {
  CreateAndRun({}, 2);
  LetHostsTrickle("1");
  const Ran cancelled = Jobman({"cancel", id(), "--wait"});
  EXPECT_EQ(cancelled.code, 0) << cancelled.All();
  ASSERT_EQ(Jobman({"resume", id()}).code, 0);
  ASSERT_TRUE(Reaches("SUCCEEDED"));
  EXPECT_THAT(Cloud(), Not(HasSubstr(Slice(1))));
}

TEST_F(Hang, AHostThatBeginsToPrintForEverDuringTheRunIsLost) {
  CreateAndRun({}, 2);
  LetHostsTrickle("1");
  Sim({"host", Slice() + "/1", "hangup"});  // it must be asked again
  ASSERT_TRUE(Reaches("SUCCEEDED"));
  EXPECT_THAT(History(), HasSubstr("not as jobman's host script does: 'trickling'"));
  EXPECT_EQ(Log(1, 1), "attempt 1\n");
  EXPECT_THAT(Cloud(), Not(HasSubstr(Slice(1))));
}

TEST_F(Hang, ACopyGivesTheHostUpAndTheOthersHaveTheirs) {
  CreateAndRun({}, 2);
  HangHosts("1");
  const std::string file = (place().path() / "eight").string();
  ASSERT_TRUE(base::WriteFileAtomic(file, std::string(8'000'000, 'x'), 0644).ok());
  const Ran copied = Jobman({"cp", file, id() + ":"});
  EXPECT_NE(copied.code, 0);
  EXPECT_THAT(copied.err, AllOf(HasSubstr("host 1: "), HasSubstr(" to 1 host of job ")));
  EXPECT_EQ(Jobman({"exec", id(), "--host", "0", "--", "test -s ~/eight"}).code, 0);
}

TEST_F(Hang, AnInterruptedCopySaysWhoHasItAndWhereTheRestIsKept) {
  CreateAndRun({}, 2);
  HangHosts("1");
  const Ran copied = RunProgram({"timeout", "--preserve-status", "-s", "INT", "30",
                                 JOBMAN_BIN_DIR "/jobman", "--home", place().home().string(), "cp",
                                 "/bin/sh", id() + ":copied", "--host", "1"});
  EXPECT_EQ(copied.code, 130) << copied.All();
  EXPECT_THAT(copied.err, AllOf(HasSubstr("interrupted; 0 of 1 host have the copy"),
                                HasSubstr("is kept in .jobman-cp-")));
}

TEST_F(Hang, ExecOnATerminalSaysWhichHostIsAwaited) {
  CreateAndRun({}, 2);
  HangHosts("1");
  const Ran ran = AnswerOnTerminal(
      {"env", "TERM=xterm", "timeout", "--foreground", "-s", "INT", "40", JOBMAN_BIN_DIR "/jobman",
       "--home", place().home().string(), "exec", id(), "--host", "1", "--", "true"},
      "never asked", "");
  EXPECT_THAT(ran.out, AllOf(HasSubstr("waiting for 1 host: 1"),
                             HasSubstr("host 1 accepts the login, but printed nothing for 1")));
}

TEST_F(Hang, ExecWithPatienceGivesTheHostUp) {
  CreateAndRun({}, 2);
  HangHosts("1");
  const Ran alone =
      Jobman({"exec", id(), "--host", "1", "--patience", "5s", "--", "echo", "never"});
  EXPECT_EQ(alone.code, 75) << alone.All();
  EXPECT_THAT(alone.err, HasSubstr("did not answer"));
  const Ran all = Jobman({"exec", id(), "--patience", "5s", "--", "echo", "up"});
  EXPECT_EQ(all.code, 75) << all.All();
  EXPECT_EQ(all.out, "host 0 | up\n");
}

TEST_F(Hang, AForwardSaysThatTheHostDoesNotAnswer) {
  CreateAndRun({}, 2);
  HangHosts("1");
  const Ran forwarded = Jobman({"forward", id(), "--host", "1", "0:80"});
  EXPECT_EQ(forwarded.code, 75) << forwarded.All();
  EXPECT_THAT(forwarded.err, HasSubstr("did not answer within"));
}

/// The stream of output of a host that hangs stays open, and silent.
TEST_F(Hang, AHostThatHangsWhileItIsFollowedIsLost) {
  CreateAndRun({}, 2);
  const Ran hung = Jobman({"exec", id(), "--host", "1", "--",
                           "kill -STOP $(pgrep -f 'host-[0-9a-f]*[.]sh (run|follow)')"});
  ASSERT_EQ(hung.code, 0) << hung.All();
  HangHosts("1");
  ASSERT_TRUE(Reaches("SUCCEEDED"));
  EXPECT_THAT(History(), HasSubstr("host 1 was lost in run: "));
  EXPECT_THAT(Cloud(), Not(HasSubstr(Slice(1))));
}

TEST_F(Hang, AJobGoesOnWhenItsHostIsMended) {
  Create("echo up; until [ -e ~/go ]; do sleep 0.5; done; echo end", {}, 2);
  ASSERT_TRUE(place().Until("the command to run", [&] { return Log(1, 1) == "up\n"; }));
  HangHosts("1");
  Sim({"host", Slice() + "/1", "hangup"});  // it must be asked again
  ASSERT_EQ(Jobman({"exec", id(), "--host", "0", "--", "touch ~/go"}).code, 0);
  ASSERT_TRUE(place().Until("host 0 to end", [&] { return Log(1, 0) == "up\nend\n"; }));
  Sim({"host", Slice() + "/1", "mend"});
  ASSERT_EQ(Jobman({"exec", id(), "--host", "1", "--", "touch ~/go"}).code, 0);
  ASSERT_TRUE(Reaches("SUCCEEDED"));
  EXPECT_EQ(Attempt(), 1);
  EXPECT_EQ(Log(1, 1), "up\nend\n");
}

}  // namespace
}  // namespace jobman::test
