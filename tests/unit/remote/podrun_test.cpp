// podrun on a host of the job, with ssh and hostname as fakes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "jobman/base/files.hpp"
#include "tests/unit/remote/podrun_fixture.hpp"

namespace jobman::remote {
namespace {

using testing::HasSubstr;
using testing::Not;

INSTANTIATE_TEST_SUITE_P(Shells, PodrunTest, HostsShell(), ShellName);

TEST_P(PodrunTest, ItsOptionsMeanWhatPodrunsMean) {
  const Ended others = Podrun("-- echo \"it's  me\"");
  EXPECT_EQ(others.exit_code, 0) << others.err;
  EXPECT_THAT(others.out,
              testing::AllOf(HasSubstr("host 1 | it's  me\n"), HasSubstr("host 2 | it's  me\n"),
                             Not(HasSubstr("host 0"))));
  EXPECT_THAT(Podrun("-iw pwd").out, HasSubstr("host 0 | /tmp\n"));
  EXPECT_THAT(Podrun("--include-local -- pwd").out, HasSubstr(host.home().string() + "\n"));
  EXPECT_THAT(Podrun("-- X=1 sh -c 'echo $X'").out, HasSubstr("host 2 | 1\n"));
  EXPECT_THAT(Podrun("'cd /usr && pwd'").out, HasSubstr("host 1 | /usr\n"));
  EXPECT_EQ(Podrun("-x true").exit_code, 2);
  EXPECT_EQ(Podrun("").exit_code, 2);
}

/// The login shell of the hosts may be another one than that of podrun.
TEST_P(PodrunTest, QuotesAndBackslashesArrive) {
  for (const std::string shell : {"sh", "bash", "zsh", "fish"}) {
    if (std::system(("command -v " + shell + " >/dev/null").c_str()) != 0) continue;
    Program("ssh",
            "while [ \"$1\" != -- ]; do shift; done\n"
            "cd / && exec " +
                shell + " -c \"$3\"\n");
    EXPECT_EQ(Podrun(R"(--hosts 1 -- printf '<%s>\n' 'a\\b' "it's" '\' '$HOME "x"' 'n\n')").out,
              "host 1 | <a\\\\b>\nhost 1 | <it's>\nhost 1 | <\\>\nhost 1 | <$HOME \"x\">\n"
              "host 1 | <n\\n>\n")
        << shell;
  }
  EXPECT_EQ(Podrun("--hosts 1 -- '-x foo'").exit_code, 127) << "it is no option of the shell";
}

TEST_P(PodrunTest, RunsOnTheHostsThatAreChosen) {
  const Ended some = Podrun("--hosts 0,1-2 --exclude=1 echo on");
  EXPECT_EQ(some.exit_code, 0) << some.err;
  EXPECT_THAT(some.out, testing::AllOf(HasSubstr("host 0 | on\n"), HasSubstr("host 2 | on\n"),
                                       Not(HasSubstr("host 1"))));
  EXPECT_EQ(Podrun("-i --exclude 1-2 echo on").out, "host 0 | on\n");
}

TEST_P(PodrunTest, HostsThatThereAreNotAreRefused) {
  const auto refused = [this](const std::string& arguments) {
    const Ended ran = Podrun(arguments + " true");
    EXPECT_EQ(ran.exit_code, 2) << arguments << ran.out;
    return ran.err;
  };
  EXPECT_THAT(refused("--hosts 1-3"), HasSubstr("there is no host 3; this job has the hosts 0-2"));
  EXPECT_THAT(refused("--hosts 2-1"), HasSubstr("the range 2-1 ends before it begins"));
  EXPECT_THAT(refused("--exclude x"), HasSubstr("--exclude 'x': numbers of hosts and ranges"));
  EXPECT_THAT(refused("--hosts=1-2-3"), HasSubstr("1-2-3 is neither a number nor a range"));
  EXPECT_THAT(refused("--exclude all"), HasSubstr("no host is left"));
  EXPECT_THAT(Podrun("--hosts").err, HasSubstr("--hosts needs numbers of hosts"));
}

TEST_P(PodrunTest, EveryHostGetsTheWholeInput) {
  const base::Path kept = host.home() / "kept";
  std::filesystem::create_directories(kept);
  host.env["TMPDIR"] = kept;
  const Ended ran =
      Podrun("-i 'read -r first; echo \"$first, $(wc -c)\"'", "one\n" + std::string(300'000, 'x'));
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  for (const char* line :
       {"host 0 | one, 300000\n", "host 1 | one, 300000\n", "host 2 | one, 300000\n"})
    EXPECT_THAT(ran.out, HasSubstr(line));
  EXPECT_TRUE(std::filesystem::is_empty(kept)) << "it is private, and goes";
}

/// Connections wait at a gate; the commands wait for each other, on all hosts.
TEST_P(PodrunTest, FewConnectionsAreOpenedAtOnceButAllCommandsRunTogether) {
  Set("jp_window", "1");
  Program("ssh",
          "while [ \"$1\" != -- ]; do shift; done\n"
          "echo \"$2\" >>\"$HOME/opened\"\n"
          "while [ ! -e \"$HOME/gate\" ]; do sleep 0.1; done\n"
          "exec sh -c \"$3\"\n");
  const Ended ran = Lines(
      ".local/bin/podrun 'cd; echo on >>on; for i in $(seq 300); do [ $(wc -l <on) -lt 2 ] || exit "
      "0; sleep 0.1; done; exit 9' </dev/null & p=$!\n"
      "until_lines 1 opened; sleep 0.5; echo \"opened: $(wc -l <opened)\"; : >gate\n"
      "wait $p; echo \"code $?\"\n");
  EXPECT_EQ(ran.out, "opened: 1\ncode 0\n") << ran.err;
}

/// As where the home folder hangs: the login is accepted, and no command runs. Here it does once
/// the next host ran its own.
TEST_P(PodrunTest, AHostThatRunsNothingDoesNotHoldUpTheOthers) {
  Set("jp_window", "1");
  Set("jp_patience", "0.1");
  Program("ssh",
          "while [ \"$1\" != -- ]; do shift; done\n"
          "[ \"$2\" = 10.0.0.3 ] || for i in $(seq 300); do\n"
          "  [ ! -e \"$HOME/ran\" ] || break; sleep 0.1\n"
          "done\n"
          "exec sh -c \"$3\"\n");
  EXPECT_EQ(Podrun("'[ -e ~/ran ] && echo late; : >~/ran'").out, "host 1 | late\n");
}

/// A connection that never says that it is there; the command itself runs.
TEST_P(PodrunTest, AnInterruptEndsTheCommandAndLetsNoOtherBegin) {
  Set("jp_window", "1");
  Program("ssh",
          "while [ \"$1\" != -- ]; do shift; done\n"
          "exec sh -c \"${3#echo *; }\"\n");
  const Ended ran = Lines(
      ".local/bin/podrun 'echo on >>~/on; sleep 600' </dev/null & p=$!\n"
      "until_lines 1 on; kill -TERM $p; wait $p; echo \"code $?\"; cat on\n");
  EXPECT_EQ(ran.out, "code 130\non\n");
  EXPECT_THAT(ran.err, HasSubstr("host 2: the command did not begin"));
}

TEST_P(PodrunTest, NamesTheHostsThatAreAwaitedOnATerminal) {
  Set("jp_slow", "0.2");
  TellWhere();
  const Ended ran = Lines(
      "cat >waits <<'EOF'\n"
      ".local/bin/podrun -i 'cd; [ \"$AT\" = 10.0.0.2 ] || until [ -e gate ]; do sleep 0.1; done; "
      "sleep 1 &' "
      "</dev/null\n"
      "EOF\n"
      "script -qec 'sh waits' /dev/null >said </dev/null & p=$!\n"
      "until_lines 1 said; sleep 1; : >gate; wait $p; echo \"code $?\"; tr -d '\\r' <said\n");
  const std::string line = "podrun: waiting for hosts 0,2 (2)\n";
  EXPECT_THAT(ran.out, testing::StartsWith("code 0\n" + line)) << ran.err;
  EXPECT_THAT(ran.out, Not(HasSubstr(line + line)));
  EXPECT_THAT(ran.out, Not(HasSubstr("for \n"))) << "nobody, though their output is still open";
}

TEST_P(PodrunTest, EndsWithTheWorstCode) {
  EXPECT_EQ(Podrun("-i 'exit 3'").exit_code, 3);
  host.env["BROKEN"] = "10.0.0.3";
  const Ended broken = Podrun("-i true");
  EXPECT_EQ(broken.exit_code, 255);
  EXPECT_THAT(broken.err, HasSubstr("podrun: host 2: exit code 255"));
}

TEST_P(PodrunTest, ASignalThatEndsTheCommandIsNoLostConnection) {
  // As OpenSSH does when sshd reports a signal.
  Program(
      "ssh",
      "while [ \"$1\" != -- ]; do shift; done\n"
      "exec perl -e 'system(\"sh\", \"-c\", $ARGV[0]); exit($? & 127 ? 255 : $? >> 8)' \"$3\"\n");
  const Ended ran = Podrun("-i 'kill -SEGV $$'");
  EXPECT_EQ(ran.exit_code, 139);
  EXPECT_EQ(ran.err, "podrun: hosts 0-2 (3): exit code 139\n");
  EXPECT_EQ(ran.out, "") << "no shell tells of it, either";
}

TEST_P(PodrunTest, WithoutAnotherHostItSaysSo) {
  host.env["JOBMAN_HOSTS"] = "10.0.0.1";
  const Ended alone = Podrun("echo on");
  EXPECT_EQ(alone.exit_code, 0);
  EXPECT_EQ(alone.err, "podrun: there is no other host; -i includes this one\n");
  EXPECT_EQ(Podrun("-i echo on").out, "host 0 | on\n");
  EXPECT_EQ(Podrun("--detach true").exit_code, 2);
}

TEST_P(PodrunTest, AHostWhoseAddressIsNotItsOwnIsKnownByItsNumber) {
  Program("hostname", "echo 192.0.2.2\n");
  EXPECT_THAT(Podrun("echo on").out, Not(HasSubstr("host 0 |")));
  host.env["JOBMAN_HOST_INDEX"] = "2";
  EXPECT_THAT(Podrun("echo on").out, testing::AllOf(HasSubstr("host 0 |"), HasSubstr("host 1 |"),
                                                    Not(HasSubstr("host 2 |"))));
}

TEST_P(PodrunTest, ALastLineWithoutItsEndGetsOne) {
  const Ended ran = Podrun("'printf abc'");
  EXPECT_TRUE(ran.out == "host 1 | abc\nhost 2 | abc\n" ||
              ran.out == "host 2 | abc\nhost 1 | abc\n")
      << ran.out;
}

TEST_P(PodrunTest, OutputThatNobodyTakesIsAFailure) {
  const Ended ran = Podrun("--hosts 1 'echo hi' >/dev/full");
  EXPECT_EQ(ran.exit_code, 75);
  EXPECT_THAT(ran.err, HasSubstr("podrun: host 1: output could not be written"));
}

TEST_P(PodrunTest, RunsOnTheHostsOfOneSlice) {
  const Ended refused = Podrun("--slice 1 true");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("there is no slice 1; the last one is 0"));
  EXPECT_THAT(Podrun("--slice one true").err, HasSubstr("the number of a slice is meant"));
  env_["JOBMAN_HOSTS"] = "10.0.0.1,10.0.0.2,10.0.0.3,10.0.0.4";
  env_["JOBMAN_NUM_SLICES"] = "2";
  EXPECT_THAT(Step(MakeKey("b")).err, HasSubstr("exited 0"));
  const auto on = [](const std::string& number) { return HasSubstr("host " + number + " | on\n"); };
  const auto second = testing::AllOf(Not(on("0")), Not(on("1")), on("2"), on("3"));
  EXPECT_THAT(Podrun("--slice 1 echo on").out, second);
  EXPECT_THAT(Podrun("-i --slice 01 echo on").out, second);
  EXPECT_THAT(Podrun("--slice=0 echo on").out,
              testing::AllOf(on("0"), on("1"), Not(on("2")), Not(on("3"))));
  EXPECT_EQ(Podrun("--slice 0 --hosts 1-2 echo on").out, "host 1 | on\n");
}

class PodrunAgainTest : public PodrunTest {
 protected:
  void ExpectNone(const std::string& arguments) {
    const Ended ran = Podrun(arguments);
    EXPECT_EQ(ran.exit_code, 0);
    EXPECT_THAT(ran.err, HasSubstr("no failure on these hosts is known"));
  }
};
INSTANTIATE_TEST_SUITE_P(Shells, PodrunAgainTest, HostsShell(), ShellName);

TEST_P(PodrunAgainTest, RunsWhereItFailed) {
  TellWhere();
  ExpectNone("--rerun-failed");
  const std::string mended = (host.home() / "mended").string();
  const Ended first = Podrun("-i '[ \"$AT\" = 10.0.0.2 ] ||\n[ -e " + mended + " ]'");
  EXPECT_EQ(first.exit_code, 1);
  EXPECT_THAT(first.err, HasSubstr("hosts 0,2 (2): exit code 1"));
  EXPECT_EQ(Lines("stat -c %a .jobman/podrun-failed.*").out, "600\n");
  ExpectNone("--rerun-failed --hosts 1 true");
  // Where it was left out it has still failed.
  std::ofstream(mended) << "";
  EXPECT_EQ(Podrun("--rerun-failed --exclude 0").exit_code, 0);
  EXPECT_EQ(Podrun("-i --rerun-failed echo once more").out, "host 0 | once more\n");
  ExpectNone("--rerun-failed");
}

TEST_P(PodrunAgainTest, WithoutACommandItIsTheLastOneAsItWas) {
  EXPECT_EQ(Podrun("--hosts 2 --timeout 5s -w 'pwd; sleep 600'").exit_code, 124);
  const Ended again = Podrun("--rerun-failed");
  EXPECT_EQ(again.exit_code, 124);
  EXPECT_EQ(again.out, "host 2 | /tmp\n");
  EXPECT_EQ(Podrun("--rerun-failed -w").exit_code, 2);
  // Other hosts have their numbers now: they are of another job.
  host.env["JOBMAN_HOSTS"] = "10.0.0.7,10.0.0.8,10.0.0.9";
  ExpectNone("--rerun-failed");
}

TEST_P(PodrunAgainTest, AnInputMustBeGivenAgain) {
  EXPECT_EQ(Podrun("--hosts 2 'read -r code; exit $code'", "3\n").exit_code, 3);
  const Ended refused = Podrun("--rerun-failed");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("the last command had an input, which is not kept"));
  EXPECT_EQ(Podrun("--rerun-failed", "0\n").exit_code, 0);
}

TEST_P(PodrunAgainTest, AnInterruptedCommandChangesNothing) {
  EXPECT_EQ(Podrun("--hosts 2 'echo first; false'").exit_code, 1);
  const Ended ran = Lines(
      ".local/bin/podrun 'echo on >>~/on; sleep 600' </dev/null & p=$!\n"
      "until_lines 2 on; kill -TERM $p; wait $p; echo \"code $?\"\n");
  EXPECT_EQ(ran.out, "code 130\n");
  EXPECT_EQ(Podrun("--rerun-failed").out, "host 2 | first\n");
}

TEST_P(PodrunAgainTest, ALongCommandIsNotKept) {
  EXPECT_EQ(Podrun("--hosts 2 ': " + std::string(65536, 'x') + "; false'").exit_code, 1);
  EXPECT_THAT(Podrun("--rerun-failed").err, HasSubstr("was too long to be kept"));
  EXPECT_EQ(Podrun("--rerun-failed echo on").out, "host 2 | on\n");
}

TEST_P(PodrunTest, WhatOnlyExecCanDoIsRefusedByName) {
  for (const char* const option : {"--json", "--job-env", "--patience"}) {
    const Ended refused = Podrun(std::string(option) + " true");
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr(std::string(option) + " is an option of jobman exec"));
  }
}

TEST_P(PodrunTest, EqualOutputIsShownOnce) {
  TellWhere();
  const Ended alike = Podrun("--hosts all --fold 'echo \"it is  me\"; exit 4'");
  EXPECT_EQ(alike.out, "hosts 0-2 (3): it is  me\n");
  EXPECT_EQ(alike.exit_code, 4);
  EXPECT_THAT(alike.err, HasSubstr("podrun: hosts 0-2 (3): exit code 4\n"));
  const Ended some = Podrun("-i --fold '[ \"$AT\" = 10.0.0.2 ] || printf \"a\\nb\"'");
  EXPECT_EQ(some.out, "hosts 0,2 (2):\na\nb\nhost 1: (no output)\n");
}

TEST_P(PodrunTest, OutputGoesToAFolder) {
  const std::string out = (host.home() / "out").string();
  const std::string speak = "'echo said; echo oops >&2; exit 4'";
  const Ended first = Podrun("-i --out " + out + " " + speak);
  EXPECT_EQ(first.out, "");
  EXPECT_EQ(first.exit_code, 4);
  EXPECT_EQ(base::ReadFile(out + "/host-0002.out").value(), "said\n");
  EXPECT_EQ(base::ReadFile(out + "/host-0000.err").value(), "oops\n");
  const Ended refused = Podrun("--out=" + out + " 'echo late'");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("has the output of an earlier command (host-0000.out)"));
  EXPECT_EQ(Podrun("--hosts 2 --force --out " + out + " 'echo late'").exit_code, 0);
  EXPECT_EQ(base::ReadFile(out + "/host-0002.out").value(), "late\n");
  EXPECT_EQ(std::filesystem::status(out + "/host-0002.out").permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  EXPECT_FALSE(std::filesystem::exists(out + "/host-0002.err"));
  EXPECT_FALSE(std::filesystem::exists(out + "/host-0001.out"));
  EXPECT_THAT(Podrun("--out x --fold true").err, HasSubstr("--out excludes --fold"));
  EXPECT_THAT(Podrun("--force true").err, HasSubstr("--force needs --out"));
}

TEST_P(PodrunTest, OutputThatCannotBeWrittenIsAFailure) {
  Program("cat",
          "[ $# -gt 0 ] || { /usr/bin/cat >/dev/null; exit 1; }; exec /usr/bin/cat \"$@\"\n");
  const std::string out = (host.home() / "lost").string();
  for (const std::string& kept : {std::string("--fold"), "--out " + out}) {
    const Ended ran = Podrun("--hosts 1 " + kept + " 'echo hi' </dev/null");
    EXPECT_EQ(ran.exit_code, 75) << kept;
    EXPECT_THAT(ran.err, HasSubstr("podrun: host 1: output could not be written")) << kept;
  }
  EXPECT_EQ(Podrun("--hosts 1 --out /dev/null 'echo hi' </dev/null").exit_code, 75);
  std::filesystem::create_directories(out + "/host-0002.err");
  EXPECT_EQ(Podrun("--hosts 1 --force --out " + out + " 'echo hi' </dev/null").exit_code, 75);
}

TEST_P(PodrunTest, AFolderThatVanishesTakesNoOutputUnseen) {
  const std::string out = (host.home() / "gone").string();
  const Ended ran = Podrun("--hosts 1-2 --out " + out + " 'rm -rf " + out + "; echo hi'");
  EXPECT_EQ(ran.exit_code, 75);
  EXPECT_THAT(ran.err, HasSubstr("output could not be written"));
}

/// podrun calls mkfifo after it has made the files and before any host begins.
TEST_P(PodrunTest, FilesThatVanishBeforeTheHostsBeginAreNamedToo) {
  const std::string out = (host.home() / "gone").string();
  const std::string lost = "podrun: hosts 1-2 (2): output could not be written";
  const std::string files = "\"" + out + "\"/host-000[12].";
  for (const std::string& loss :
       {"rm -rf " + out, "for f in " + files + "err; do rm $f; mkdir $f; done",
        "for f in " + files + "out; do rm $f; mkdir $f; done"}) {
    std::filesystem::remove_all(out);
    Program("mkfifo", loss + "; exec /usr/bin/mkfifo \"$@\"\n");
    const Ended ran = Podrun("--hosts 1-2 --out " + out + " 'echo hi; echo oops >&2'");
    EXPECT_EQ(ran.exit_code, 75) << loss;
    EXPECT_THAT(ran.err, HasSubstr(lost)) << loss;
  }
}

TEST_P(PodrunTest, FilesOfOthersStayInTheFolder) {
  const base::Path out = host.home() / "mine";
  std::filesystem::create_directories(out);
  std::ofstream(out / "host-2024-results.out") << "mine";
  EXPECT_EQ(Podrun("--hosts 1 --out " + out.string() + " 'echo hi'").exit_code, 0);
  EXPECT_EQ(Podrun("--hosts 1 --force --out " + out.string() + " 'echo hi'").exit_code, 0);
  EXPECT_EQ(base::ReadFile(out / "host-2024-results.out").value(), "mine");
  EXPECT_EQ(base::ReadFile(out / "host-0001.out").value(), "hi\n");
}

TEST_P(PodrunTest, ACommandThatTakesTooLongIsEnded) {
  const Ended slow = Podrun("--hosts 1-2 --timeout 5s 'echo on; sleep 600; echo late'");
  EXPECT_EQ(slow.exit_code, 124) << slow.err;
  EXPECT_THAT(slow.out, testing::AllOf(HasSubstr("host 2 | on\n"), Not(HasSubstr("late"))));
  EXPECT_THAT(slow.err, HasSubstr("hosts 1-2 (2): timeout: the command took longer than 5s\n"));
  EXPECT_EQ(Podrun("--timeout=9m true").exit_code, 0);
  for (const char* const wrong : {"0", "00s", "5d", "-1", "s", "1m30s", "''"}) {
    const Ended refused = Podrun(std::string("--timeout ") + wrong + " true");
    EXPECT_EQ(refused.exit_code, 2) << wrong;
    EXPECT_THAT(refused.err, HasSubstr("a time is meant, such as 90s or 5m")) << wrong;
  }
}

/// A host that hangs: its ssh goes on until it is ended itself.
TEST_P(PodrunTest, TheThirdInterruptLeavesNoSshBehind) {
  Program("ssh",
          "echo $$ >>\"$HOME/ssh-pids\"; echo \"$*\" >>\"$HOME/ssh-words\"\n"
          "exec sleep 600\n");
  const Ended ran = Lines(
      ".local/bin/podrun hang >said 2>&1 & p=$!\n"
      "until_lines 2 ssh-pids; sleep 0.5; kill -TERM $p\n"
      "until_lines 4 ssh-pids; sleep 0.5; kill -TERM $p\n"
      "until_lines 6 ssh-pids; sleep 0.5; kill -TERM $p\n"
      "wait $p; echo \"code $?\"; cat said\n"
      "for i in $(seq 100); do\n"
      "  left=; for s in $(cat ssh-pids); do kill -0 $s 2>/dev/null && left=$s; done\n"
      "  [ -n \"$left\" ] || break\n"
      "  sleep 0.1\n"
      "done\n"
      "echo \"left: $left.\"\n"
      "[ -z \"$left\" ] || kill $(cat ssh-pids)\n");
  EXPECT_THAT(ran.out, testing::AllOf(HasSubstr("code 130\n"), HasSubstr("left: .\n"),
                                      HasSubstr("KILL to the command on all hosts"),
                                      HasSubstr("may go on where it has not ended")));
  EXPECT_THAT(Slurp(host.home() / "ssh-words"), testing::AllOf(HasSubstr("ServerAliveInterval=15"),
                                                               HasSubstr("ServerAliveCountMax=4"),
                                                               HasSubstr("ConnectionAttempts=3")));
}

TEST_P(PodrunTest, AnotherPodrunStays) {
  const base::Path program = host.home() / ".local/bin/podrun";
  std::ofstream(program) << "mine\n";
  EXPECT_THAT(Step(MakeKey("b")).out, HasSubstr("there is a podrun here"));
  EXPECT_EQ(Slurp(program), "mine\n");
  std::filesystem::remove(program);
  Step(MakeKey("c"));
  EXPECT_THAT(Slurp(program), HasSubstr("jp_hosts=${JOBMAN_HOSTS:-10.0.0.1,10.0.0.2,10.0.0.3}\n"));
}

}  // namespace
}  // namespace jobman::remote
