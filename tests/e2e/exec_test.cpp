// jobman exec: one command on the hosts of a job.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <algorithm>
#include <thread>

#include "jobman/base/strings.hpp"
#include "tests/e2e/place.hpp"
#include "tests/e2e/terminal.hpp"

namespace jobman::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Exec : public testing::Test {
 protected:
  /// A finished job of two hosts that holds its slice.
  void Run(const std::string& more = {}) {
    place_.StartSim({"--delays", "0"});
    ASSERT_EQ(place_.Jobman({"run", place_.JobFile("one", 2, "true", more)}).code, 0);
  }
  /// Runs a line of bash in which `exec1` is `jobman exec 1`.
  Ran Shell(const std::string& line) {
    const std::string body =
        "jobman=$0 home=$1; exec1() { \"$jobman\" --home \"$home\" exec 1 \"$@\"; }\n" + line;
    return RunProgram({"bash", "-c", body, JOBMAN_BIN_DIR "/jobman", place_.home().string()});
  }
  Place place_;
};

/// More than all buffers on the way hold.
TEST_F(Exec, StandardInputGoesToEveryHost) {
  Run();
  const Ran ran = Shell("head -c 9000000 /dev/zero | exec1 -- 'cat > got; wc -c < got'");
  EXPECT_EQ(ran.code, 0) << ran.All();
  EXPECT_THAT(ran.out, AllOf(HasSubstr("host 0 | 9000000\n"), HasSubstr("host 1 | 9000000\n")));
  const std::string file = (place_.path() / "text").string();
  ASSERT_TRUE(base::WriteFileAtomic(file, "from a file\n").ok());
  EXPECT_EQ(Shell("exec1 -q -w 1 -- cat < " + file).out, "from a file\n");
  EXPECT_EQ(Shell("exec1 -q -w 1 -- cat < /proc/version").out,
            base::ReadFile("/proc/version").value());
  EXPECT_EQ(Shell("exec1 -q -w 0 -- 'cat; echo end' < /dev/null").out, "end\n");
  EXPECT_EQ(Shell("exec1 -q -w 0 -- 'cat; echo end' <&-").out, "end\n");
}

/// As with ssh, the rest of the loop's input goes to the first command that reads it.
TEST_F(Exec, ACommandThatDoesNotReadItsInputEndsAllTheSame) {
  Run();
  const Ran ran = Shell("yes | exec1 -- 'head -n 1; exit 7'");
  EXPECT_EQ(ran.code, 7);
  EXPECT_THAT(ran.out, AllOf(HasSubstr("host 0 | y\n"), HasSubstr("host 1 | y\n")));
  // An input without an end.
  EXPECT_EQ(Shell("exec1 -w 0 -- 'exit 7' < <(exec sleep 600); code=$?; kill $!; exit $code").code,
            7);
}

TEST_F(Exec, OnATerminalHostsAreToldApart) {
  Run();
  const std::string command = "printf '10%%\\r20%%\\n'";
  const Ran ran = AnswerOnTerminal({"env", "-u", "NO_COLOR", "TERM=xterm", JOBMAN_BIN_DIR "/jobman",
                                    "--home", place_.home().string(), "exec", "1", "--", command},
                                   "20%", "");
  EXPECT_EQ(ran.code, 0) << ran.out;
  for (const char* line : {"\x1b[36mhost 0 | \x1b[0m10%", "\x1b[36mhost 0 | \x1b[0m20%",
                           "\x1b[35mhost 1 | \x1b[0m10%", "\x1b[35mhost 1 | \x1b[0m20%"})
    EXPECT_THAT(ran.out, HasSubstr(line)) << "a progress bar has a line for each of its states";
}

TEST_F(Exec, LinesAppearWhenTheyAreWritten) {
  Run();
  const pid_t exec =
      place_.Start({"exec", "1", "--", "echo up; until [ -e ~/go ]; do sleep 0.5; done; echo end"});
  const auto said = [&] { return base::ReadFile(place_.home() / "controller.log").value_or(""); };
  ASSERT_TRUE(place_.Until("both to be up", [&] {
    return base::Contains(said(), "host 0 | up\n") && base::Contains(said(), "host 1 | up\n");
  }));
  EXPECT_THAT(said(), testing::Not(HasSubstr("| end")));
  ASSERT_EQ(place_.Jobman({"exec", "1", "--", "touch ~/go"}).code, 0);
  EXPECT_EQ(place_.EndOf(exec), 0);
  EXPECT_THAT(said(), AllOf(HasSubstr("host 0 | end\n"), HasSubstr("host 1 | end\n")));
}

TEST_F(Exec, QuietOutputOfOneHostIsRaw) {
  Run();
  const Ran one = place_.Jobman({"exec", "-q", "1", "-w", "0", "--", "printf 'a\\nb'; exit 3"});
  EXPECT_EQ(one.code, 3) << "of one host, the command's own";
  EXPECT_EQ(one.out, "a\nb");
  EXPECT_THAT(place_.Jobman({"exec", "-q", "1", "--", "echo a"}).out, HasSubstr("host 1 | a\n"));
}

TEST_F(Exec, EndsWhenNobodyReadsItsOutput) {
  Run();
  const std::string command =
      "timeout 60 \"$0\" --home \"$1\" exec 1 -- yes | head -n 1; exit ${PIPESTATUS[0]}";
  const Ran ran =
      RunProgram({"bash", "-c", command, JOBMAN_BIN_DIR "/jobman", place_.home().string()});
  EXPECT_EQ(ran.code, 141);
  EXPECT_THAT(ran.out, HasSubstr("| y\n"));
}

/// Nobody vouches for the hosts' keys: what was pinned is in the job's history and in the log.
TEST_F(Exec, AKeyThatIsPinnedOnFirstUseIsShown) {
  place_.StartSim({"--delays", "0"});
  ASSERT_EQ(place_.Sim({"fault", "nodes.getGuestAttributes", "denied", "--times", "999"}).code, 0);
  ASSERT_EQ(place_.Jobman({"run", place_.JobFile("one", 1, "true")}).code, 0);
  for (const std::string& text : {place_.Jobman({"history", "1"}).out,
                                  base::ReadFile(place_.home() / "controller.log").value_or("")}) {
    EXPECT_THAT(text, HasSubstr("pinned key ED25519 SHA256:"));
    EXPECT_THAT(text, HasSubstr("on first use, as the cloud refused to tell it"));
  }
  EXPECT_EQ(place_.Jobman({"exec", "1", "--", "true"}).code, 0);
}

TEST_F(Exec, AStrictJobLogsInToVouchedHostsOnly) {
  Run("ssh: {host_keys: strict}\n");
  EXPECT_EQ(place_.Jobman({"exec", "1", "--", "true"}).code, 0);
  EXPECT_THAT(place_.Jobman({"history", "1"}).out, testing::Not(HasSubstr("pinned key")));
  ASSERT_EQ(place_.Sim({"fault", "nodes.getGuestAttributes", "denied", "--times", "999"}).code, 0);
  const std::string file =
      place_.JobFile("two", 1, "true", "ssh: {host_keys: strict}\nretries: {infra: 0}\n");
  EXPECT_NE(place_.Jobman({"run", file}).code, 0);
  const std::string why = place_.Jobman({"why", "2"}).out;
  EXPECT_THAT(why, HasSubstr("ssh.host_keys is strict"));
  EXPECT_THAT(why, HasSubstr("first-use"));
  const Ran exec = place_.Jobman({"exec", "2", "--", "true"});
  EXPECT_NE(exec.code, 0);
  EXPECT_THAT(exec.All(), HasSubstr("ssh.host_keys is strict"));
}

TEST_F(Exec, AnUnreadableKeyIsACredentialsError) {
  ::unsetenv("SSH_AUTH_SOCK");
  ::unsetenv("JOBMAN_SSH_PASSPHRASE");
  const std::string key = (place_.path() / "key").string();
  ASSERT_EQ(RunProgram({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key}).code, 0);
  Run("ssh: {private_key: " + key + "}\n");
  ASSERT_EQ(RunProgram({"ssh-keygen", "-q", "-p", "-N", "secret", "-f", key}).code, 0);
  // It is logged in already.
  ASSERT_EQ(place_.Jobman({"controller", "stop"}).code, 0);
  const Ran ran = place_.Jobman({"exec", "1", "--", "true"});
  EXPECT_EQ(ran.code, 5);
  EXPECT_THAT(ran.err, HasSubstr("is encrypted"));
  EXPECT_THAT(ran.err, HasSubstr("JOBMAN_SSH_PASSPHRASE"));
}

/// What podrun's -i, -w and -c do, with the words of podrun's own documentation.
TEST_F(Exec, PodrunsOptionsHaveTheirMeaning) {
  Run("  workdir: /tmp\n");
  EXPECT_EQ(Shell("exec1 --exclude 0 -- echo meow").out, "host 1 | meow\n");
  EXPECT_EQ(Shell("exec1 --workdir -q -w 0 -- pwd").out, "/tmp\n");
  EXPECT_EQ(Shell("mkdir -p \"$home/x\"; cd \"$home/x\"; exec1 --workdir=/ -q -w 0 -- pwd").out,
            "/\n");
  EXPECT_EQ(Shell("exec1 -w 0 -q -- X=1 Y='a b' sh -c 'echo $X$Y'").out, "1a b\n");
  EXPECT_EQ(Shell("exec1 -w 0 -q -- printf '%s|' '[1,2]' '[]' '[a b]'").out, "[1,2]|[]|[a b]|");
  EXPECT_EQ(Shell("exec1 -w 0 -q '[ -d /tmp ]'").code, 0);
  ASSERT_EQ(Shell("exec1 -- 'mkdir -p /tmp/tpu_logs/x; touch /tmp/libtpu_lockfile'").code, 0);
  const Ran clean = Shell("exec1 -ic -- ls -d /tmp/libtpu_lockfile /tmp/tpu_logs");
  EXPECT_NE(clean.code, 0) << clean.All();
  EXPECT_EQ(clean.out, "");
  EXPECT_EQ(Shell("echo in | exec1 --clean-libtpu -w 1 -q -- cat").out, "in\n")
      << "the input stays";
}

TEST_F(Exec, RunsAsTheJobsCommandWould) {
  ::setenv("JOBMAN_E2E_TOKEN", "hush", 1);
  Run("  workdir: /tmp\n  env: {RATE: 0.1}\n  secrets: [JOBMAN_E2E_TOKEN]\n");
  const Ran ran = Shell(
      "echo in | exec1 --job-env -- 'pwd; echo $RATE $JOBMAN_HOST_INDEX of $JOBMAN_NUM_HOSTS; "
      "[ $JOBMAN_E2E_TOKEN = hush ] && cat'");
  EXPECT_EQ(ran.code, 0) << ran.All();
  for (const char* line : {"host 0 | /tmp\n", "host 0 | 0.1 0 of 2\n", "host 1 | 0.1 1 of 2\n",
                           "host 0 | in\n", "host 1 | in\n"}) {
    EXPECT_THAT(ran.out, HasSubstr(line));
  }
  EXPECT_THAT(ran.All(), testing::Not(HasSubstr("hush")));
  // Also without a reader of its input, and not where others look.
  EXPECT_EQ(Shell("exec1 --job-env --workdir=/ -w 0 -q -- pwd <&-").out, "/\n");
  const Ran seen = Shell("exec1 --job-env -w 0 -- 'ps axww'");
  EXPECT_EQ(seen.code, 0) << seen.All();
  EXPECT_THAT(seen.All(), testing::Not(HasSubstr("hush")));
  ::unsetenv("JOBMAN_E2E_TOKEN");
  const Ran none = place_.Jobman({"exec", "1", "--job-env", "--", "true"});
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("the secret JOBMAN_E2E_TOKEN has no value"));
}

TEST_F(Exec, OutputGoesToAFilePerHost) {
  Run();
  const base::Path out = place_.path() / "my out";
  const Ran ran = place_.Jobman(
      {"exec", "1", "--out", out.string(), "--", "head -c 3000000 /dev/zero; echo oops >&2"});
  EXPECT_EQ(ran.code, 0) << ran.All();
  EXPECT_EQ(ran.out, "");
  for (const char* host : {"host-0000", "host-0001"}) {
    EXPECT_EQ(base::FileSize(out / (std::string(host) + ".out")), 3'000'000);
    EXPECT_EQ(base::ReadFile(out / (std::string(host) + ".err")).value_or(""), "oops\n");
  }
}

TEST_F(Exec, ACommandThatTakesTooLongIsEnded) {
  Run();
  const Ran ran = place_.Jobman({"exec", "1", "--timeout", "15s", "--",
                                 "case $(hostname) in *w-0) sleep 6124;; esac; echo done"});
  EXPECT_EQ(ran.code, 124) << ran.All();
  EXPECT_EQ(ran.out, "host 1 | done\n");
  EXPECT_THAT(ran.err, HasSubstr("\n0     timeout "));
  EXPECT_TRUE(place_.Until("nothing of it to be left", [&] {
    const Ran left = place_.Jobman({"exec", "1", "-q", "--", "pgrep -f '[s]leep 6124'"});
    return left.out.empty() && left.code == 1;  // pgrep's own
  }));
}

TEST_F(Exec, ACommandThatTakesTooLongAndIgnoresTermIsKilled) {
  Run();
  const Ran ran = place_.Jobman(
      {"exec", "1", "-w", "0", "--timeout", "15s", "--", "trap '' TERM; sleep 6123; sleep 6123"});
  EXPECT_EQ(ran.code, 124) << ran.All();
  const Ran left = place_.Jobman({"exec", "1", "-w", "0", "-q", "--", "pgrep -f '[s]leep 6123'"});
  EXPECT_EQ(left.out, "");
  EXPECT_EQ(left.code, 1) << left.All();  // pgrep's own
}

TEST_F(Exec, RunsAgainWhereItFailed) {
  Run();
  const std::string mended = place_.JobFile("x", 1, "true");
  EXPECT_EQ(Shell("exec1 -- 'echo try; test -e ~/mended'").code, 1);
  ASSERT_EQ(place_.Jobman({"cp", mended, "1:mended", "-w", "0"}).code, 0);
  const Ran both = Shell("exec1 --rerun-failed --json");
  EXPECT_EQ(both.code, 1);
  EXPECT_THAT(both.out, AllOf(HasSubstr("\"host\": 0"), HasSubstr("\"host\": 1")));
  const Ran rest = Shell("exec1 --rerun-failed");
  EXPECT_EQ(rest.code, 1);
  EXPECT_EQ(rest.out, "host 1 | try\n");
  ASSERT_EQ(place_.Jobman({"cp", mended, "1:mended", "-w", "1"}).code, 0);
  EXPECT_EQ(Shell("exec1 --rerun-failed").code, 0);
  const Ran none = Shell("exec1 --rerun-failed");
  EXPECT_EQ(none.code, 0);
  EXPECT_THAT(none.err, HasSubstr("failed on none of these hosts"));
  EXPECT_EQ(Shell("echo 3 | exec1 -- 'read -r code; exit $code'").code, 3);
  const Ran without = Shell("exec1 --rerun-failed </dev/null");
  EXPECT_EQ(without.code, 2);
  EXPECT_THAT(without.err, HasSubstr("the last command had an input"));
  EXPECT_EQ(Shell("echo 0 | exec1 --rerun-failed").code, 0);
  EXPECT_EQ(Shell("exec1 -- false").code, 1);
  EXPECT_TRUE(base::FileSize(place_.home() / "jobs/000001/exec.json"));
  EXPECT_EQ(place_.Jobman({"delete", "1", "--wait"}).code, 0);
  EXPECT_EQ(place_.Jobman({"clean", "1", "--yes"}).code, 0);
  EXPECT_FALSE(base::FileSize(place_.home() / "jobs/000001/exec.json"));
}

TEST_F(Exec, AnInterruptEndsTheCommandOnTheHosts) {
  Run();
  const pid_t exec = place_.Start({"exec", "1", "--", "sleep 6123; echo on"});
  // Their shells too, since the command is on their command line.
  const auto running = [&] {
    return place_.Jobman({"exec", "1", "-q", "--", "pgrep -f '[s]leep 6123'"}).out;
  };
  const auto on_both = [&] {
    const std::string out = running();
    return base::Contains(out, "host 0 |") && base::Contains(out, "host 1 |");
  };
  ASSERT_TRUE(place_.Until("the command to run", on_both));
  // Twice, as with `timeout --signal=INT` and impatient users: the last message still appears.
  ::kill(exec, SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds{30});
  ::kill(exec, SIGINT);
  EXPECT_EQ(place_.EndOf(exec), 130);
  EXPECT_TRUE(place_.Until("nothing of it to be left", [&] { return running().empty(); }));
  const std::string said = base::ReadFile(place_.home() / "controller.log").value();
  EXPECT_THAT(said, HasSubstr("sent TERM to the command on 2 hosts: 0-1; Ctrl-C again sends KILL"));
  EXPECT_THAT(said, HasSubstr("interrupted: the command has ended on hosts 0-1"));
}

/// A shell that waits for its children dies of the signal alone: the children must get it, too.
TEST_F(Exec, AnInterruptEndsTheChildrenOfTheCommand) {
  Run();
  const pid_t exec = place_.Start({"exec", "1", "--", "sh -c 'sleep 6125 & sleep 6125'; echo on"});
  const auto running = [&] {
    return place_.Jobman({"exec", "1", "-q", "--", "pgrep -x sleep -a | grep 6125"}).out;
  };
  ASSERT_TRUE(
      place_.Until("all four to run", [&] { return std::ranges::count(running(), '\n') >= 4; }));
  ::kill(exec, SIGINT);
  EXPECT_EQ(place_.EndOf(exec), 130);
  EXPECT_EQ(running(), "") << "it waits for their end";
}

TEST_F(Exec, ASecondInterruptKillsWhatIgnoresTheFirst) {
  Run();
  const pid_t exec = place_.Start(
      {"exec", "1", "--", "trap 'echo never' TERM; while :; do sleep 0.2; echo 6126; done"});
  const auto said = [&] { return base::ReadFile(place_.home() / "controller.log").value_or(""); };
  ASSERT_TRUE(place_.Until("both to run", [&] {
    return base::Contains(said(), "host 0 | 6126") && base::Contains(said(), "host 1 | 6126");
  }));
  ::kill(exec, SIGINT);
  ASSERT_TRUE(place_.Until("TERM", [&] {
    return base::Contains(said(), "host 0 | never") && base::Contains(said(), "host 1 | never");
  }));
  std::this_thread::sleep_for(std::chrono::seconds{1});
  ::kill(exec, SIGINT);
  EXPECT_EQ(place_.EndOf(exec), 130);
  EXPECT_THAT(said(), HasSubstr("sent KILL to the command on 2 hosts: 0-1; Ctrl-C again ends"));
  EXPECT_THAT(said(), HasSubstr("interrupted: the command has ended on hosts 0-1"));
  EXPECT_EQ(place_.Jobman({"exec", "1", "-q", "--", "pgrep -f '[e]cho 6126'"}).out, "");
}

/// The login shell has ended, but its child ignores TERM and holds no output open.
TEST_F(Exec, ChildrenBehindAnEndedShellAreNotForgotten) {
  Run();
  const pid_t exec = place_.Start(
      {"exec", "1", "--",
       "(trap '' TERM; exec sleep 6128) </dev/null >/dev/null 2>&1 & echo on; sleep 6129; echo"});
  const auto said = [&] { return base::ReadFile(place_.home() / "controller.log").value_or(""); };
  const auto running = [&](const std::string& pattern) {
    return place_.Jobman({"exec", "1", "-q", "--", "pgrep -x sleep -a | grep " + pattern}).out;
  };
  const auto both = [&] { return std::ranges::count(running("612[89]"), '\n') >= 4; };
  ASSERT_TRUE(place_.Until("all four to run", both));
  ::kill(exec, SIGINT);
  ASSERT_TRUE(place_.Until("the shells to end", [&] { return running("6129").empty(); }));
  EXPECT_EQ(std::ranges::count(running("6128"), '\n'), 2);
  std::this_thread::sleep_for(std::chrono::seconds{1});  // another interrupt, not the same
  ::kill(exec, SIGINT);
  EXPECT_EQ(place_.EndOf(exec), 130);
  EXPECT_THAT(said(), HasSubstr("sent KILL to the command on 2 hosts: 0-1; Ctrl-C again ends"));
  EXPECT_THAT(said(), HasSubstr("interrupted: the command has ended on hosts 0-1"));
  EXPECT_EQ(running("6128"), "");
}

TEST_F(Exec, ADetachedRunGoesOnWithoutAConnection) {
  ::setenv("JOBMAN_E2E_TOKEN", "hush", 1);
  Run("  workdir: /tmp\n  secrets: [JOBMAN_E2E_TOKEN]\n");
  const Ran begun = Shell(
      "exec1 -q --detach --name eval --job-env -- "
      "'pwd; until [ -e ~/go ]; do sleep 0.5; done; echo ${#JOBMAN_E2E_TOKEN}; exit 4'");
  EXPECT_EQ(begun.out, "eval\n") << begun.err;
  EXPECT_THAT(Shell("exec1 --runs").out, HasSubstr("eval  0-1    running"));
  const pid_t follow = place_.Start({"exec", "1", "--follow", "eval"});
  const auto said = [&] { return base::ReadFile(place_.home() / "controller.log").value_or(""); };
  ASSERT_TRUE(place_.Until("what both wrote", [&] {
    return base::Contains(said(), "host 0 | /tmp\n") && base::Contains(said(), "host 1 | /tmp\n");
  }));
  ::kill(follow, SIGINT);
  EXPECT_EQ(place_.EndOf(follow), 130);
  EXPECT_THAT(said(), HasSubstr("run eval goes on"));
  ASSERT_EQ(Shell("exec1 -- touch go").code, 0);
  const Ran all = Shell("exec1 --follow eval");
  EXPECT_EQ(all.code, 4) << all.All();
  for (const char* line : {"host 0 | /tmp\n", "host 1 | /tmp\n", "host 0 | 4\n", "host 1 | 4\n"})
    EXPECT_THAT(all.out, HasSubstr(line));
}

TEST_F(Exec, WhatTheLoginShellPrintsIsNotOfADetachedRun) {
  Run();
  ASSERT_EQ(Shell("exec1 -w 0 --detach --name eval -- 'echo one'").code, 0);
  EXPECT_EQ(Shell("exec1 -q -w 0 --follow eval").out, "one\n");
  // Only now: the shell of the run itself reads that file, too.
  ASSERT_EQ(Shell("exec1 -w 0 -- 'echo \"echo welcome\" >> ~/.bashrc'").code, 0);
  EXPECT_EQ(Shell("exec1 -q -w 0 --follow eval").out, "one\n");
}

TEST_F(Exec, ADetachedRunOfOneHostIsFollowedThere) {
  Run();
  const Ran begun = Shell("exec1 -w 1 --detach --name one -- 'echo here; exit 4'");
  EXPECT_THAT(begun.out,
              HasSubstr("has begun on 1 host; its output: jobman exec 000001 -w 1 --follow one\n"));
  EXPECT_EQ(Shell("exec1 -w 1 --follow one").code, 4);
  const Ran all = Shell("exec1 --follow one");
  EXPECT_EQ(all.code, 3) << "host 0 has lost it, for all that is known";
  EXPECT_THAT(all.err, HasSubstr("the host has no detached run one"));
}

TEST_F(Exec, StopEndsADetachedRunAndItsChildren) {
  Run();
  ASSERT_EQ(Shell("exec1 --detach --name long -- 'sleep 6127 & sleep 6127'").code, 0);
  const Ran stopped = Shell("exec1 --stop long");
  EXPECT_EQ(stopped.code, 0) << stopped.All();
  EXPECT_EQ(Shell("exec1 -q -- pgrep -f '[s]leep 6127'").out, "");
  EXPECT_THAT(Shell("exec1 --runs").out, HasSubstr("long  0-1    exit code 143"));
}

TEST_F(Exec, LimitsOfThisMachineAreNamed) {
  Run();
  const Ran files = Shell("ulimit -n 31; exec1 -- true");
  EXPECT_EQ(files.code, 2) << files.All();
  EXPECT_THAT(files.err, HasSubstr("the limit of open files is 31; connections to hosts need 32"));
  const std::string out = (place_.path() / "out").string();
  const Ran size =
      Shell("ulimit -f 1000; exec1 -w 0 --out " + out + " -- 'head -c 3000000 /dev/zero'");
  EXPECT_EQ(size.code, 75) << size.All();
  EXPECT_THAT(size.err, HasSubstr("File too large"));
}

TEST_F(Exec, ATerminalOnOneHost) {
  Run("  workdir: /tmp\n  env: {RATE: 0.1}\n");
  const Ran ran =
      AnswerOnTerminal({JOBMAN_BIN_DIR "/jobman", "--home", place_.home().string(), "exec", "1",
                        "--tty", "-w", "1", "--job-env", "--",
                        "test -t 0 && test -t 1 && pwd; read -p 'name? ' x; echo $x $RATE; exit 6"},
                       "name? ", "ann");
  EXPECT_EQ(ran.code, 6) << ran.out;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("/tmp\r\n"), HasSubstr("ann 0.1\r\n")));
  EXPECT_EQ(Shell("exec1 --tty -- true").code, 2);
  EXPECT_EQ(Shell("exec1 -- 'ls /dev/shm/jobman-tty.* /tmp/jobman-tty.* 2>/dev/null'").out, "");
}

}  // namespace
}  // namespace jobman::test
