// podrun's detached runs and its terminal: the real host script, with ssh and hostname as fakes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include "jobman/base/files.hpp"
#include "jobman/base/strings.hpp"
#include "tests/unit/remote/podrun_fixture.hpp"

namespace jobman::remote {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Three hosts that share a home folder, each set up since it booted, and before.
class PodrunRunsTest : public PodrunTest {
 protected:
  void SetUp() override {
    host.env["JOBMAN_BOOT_ID_FILE"] = (host.home() / "boot.10.0.0.1").string();
    for (int number = 0; number < 3; ++number) {
      const std::string text = std::to_string(number);
      std::ofstream(host.home() / ("boot.10.0.0." + std::to_string(number + 1)))
          << "b" << text << "\n";
      SetUpBefore("store.j1.node.h" + text, "b" + text);
      SetUpBefore("store.j1.old.h" + text, "earlier");
      SetUpBefore("store.j2.other.h" + text, "b" + text);
    }
    PodrunTest::SetUp();
    if (IsSkipped()) return;
    Program("ssh",
            "echo \"$*\" >>\"$HOME/ssh-words\"\n"
            "while [ \"$1\" != -- ]; do shift; done\n"
            "export JOBMAN_BOOT_ID_FILE=$HOME/boot.$2 AT=$2; exec sh -c \"$3\"\n");
  }
  void SetUpBefore(const std::string& prefix, const std::string& boot) {
    const base::Path run = host.RunDir(prefix + ".s0-c-g0e0");
    std::filesystem::create_directories(run);
    std::ofstream(run / "boot_id") << boot << "\n";
    std::ofstream(run / "exit") << "0\n";
  }
  bool HasRun(const std::string& id) { return std::filesystem::exists(host.RunDir(id)); }
};
INSTANTIATE_TEST_SUITE_P(Shells, PodrunRunsTest, HostsShell(), ShellName);

TEST_P(PodrunRunsTest, ARunOutlivesItsConnectionAndCanBeFollowed) {
  const Ended begun = Podrun(
      "-i --detach --name eval 'until [ -e ~/gate ]; do sleep 0.1; done; echo \"on $AT\"; pwd; "
      "exit 3'");
  EXPECT_EQ(begun.exit_code, 0) << begun.out << begun.err;
  EXPECT_EQ(begun.out,
            "run eval has begun on hosts 0-2 (3); its output: podrun --hosts 0-2 --follow eval\n");
  for (const char* const id : {"store.j1.node.h0.x-eval", "store.j1.node.h2.x-eval"})
    EXPECT_TRUE(HasRun(id)) << "as jobman exec names it: " << id;
  EXPECT_THAT(Slurp(host.home() / "ssh-words"), HasSubstr("-- 10.0.0.1 "))
      << "by ssh also here, so that it has nothing of this shell";
  EXPECT_THAT(Podrun("-i --runs").out,
              HasSubstr("hosts 0-2 (3): eval: running, begun less than 1m ago\n"));
  const Ended taken = Podrun("--hosts 1 --detach --name eval true");
  EXPECT_EQ(taken.exit_code, 75);
  EXPECT_THAT(taken.out, HasSubstr("there is a run eval on this host already: choose another"));
  std::ofstream(host.home() / "gate") << "";
  const Ended followed = Podrun("--follow eval");
  EXPECT_EQ(followed.exit_code, 3) << followed.err;
  EXPECT_THAT(followed.out, testing::AllOf(HasSubstr("host 1 | on 10.0.0.2\n"),
                                           HasSubstr("host 2 | " + host.home().string() + "\n"),
                                           Not(HasSubstr("jobman: "))));
  EXPECT_THAT(followed.err, HasSubstr("podrun: hosts 1-2 (2): exit code 3\n"));
  EXPECT_THAT(Podrun("--hosts 2 --runs").out, HasSubstr("host 2: eval: exit code 3, begun "));
}

TEST_P(PodrunRunsTest, ARunCanBeStopped) {
  EXPECT_EQ(Podrun("--detach --name long -- sh -c 'echo it is  on; sleep 600'").exit_code, 0);
  const Ended stopped = Podrun("--stop=long");
  EXPECT_EQ(stopped.exit_code, 0) << stopped.err;
  EXPECT_EQ(stopped.out, "hosts 1-2 (2): long: exit code 143\n");
  EXPECT_EQ(Podrun("--fold --follow long").exit_code, 143);
  const Ended none = Podrun("-i --stop=other");
  EXPECT_EQ(none.exit_code, 75);
  EXPECT_THAT(none.out, HasSubstr("this host has no detached run other; podrun --runs lists them"));
  EXPECT_FALSE(HasRun("store.j1.node.h0.x-other")) << "it may begin yet";
  EXPECT_THAT(Podrun("--follow other").out, HasSubstr("host 1 | podrun: this host has no"));
  EXPECT_EQ(Podrun("--hosts 0 --runs").out, "host 0: no detached runs\n");
}

TEST_P(PodrunRunsTest, WithoutANameItIsTheTimeAndTheOrderIsTheWholeInput) {
  const Ended begun = Podrun("--hosts 2 --detach -cw 'pwd; cat; echo \"$JOBMAN_RUN_ID\"'", "mine");
  EXPECT_THAT(begun.out, testing::ContainsRegex("run 20[0-9]{6}-[0-9]{6} has begun on host 2;"));
  const std::string name = begun.out.substr(4, 15);
  EXPECT_EQ(Podrun("--hosts 2 --follow " + name).out,
            "host 2 | /tmp\nhost 2 | store.j1.node.h2.x-" + name + "\n");
}

/// Who follows it ends once it sees that podrun or the connection is gone; nothing else does.
TEST_P(PodrunRunsTest, AnInterruptLeavesTheRunAlone) {
  SetLimit("jm_beat_cs", 20);
  Program("ssh",
          "while [ \"$1\" != -- ]; do shift; done\n"
          "export JOBMAN_BOOT_ID_FILE=$HOME/boot.$2; exec 3<&0; sh -c \"$3\" <&3 & wait\n");
  const Ended ran = Lines(
      ".local/bin/podrun -i --detach --name on 'echo begun; sleep 600'\n"
      ".local/bin/podrun --hosts 0-1 --follow on >said 2>&1 & p=$!\n"
      "until_lines 2 said; kill -TERM $p; wait $p; echo \"code $?\"; sort said\n"
      "for i in $(seq 100); do\n"
      "  left=$(grep -lF JOBMAN_PODRUN= /proc/[0-9]*/environ 2>/dev/null |\n"
      "    xargs -r grep -lF \"$HOME/\" 2>/dev/null)\n"
      "  [ -n \"$left\" ] || break; sleep 0.1\n"
      "done\n"
      "echo \"left: $left.\"; .local/bin/podrun -i --runs; .local/bin/podrun -i --stop on\n");
  EXPECT_THAT(ran.out, HasSubstr("code 130\nhost 0 | begun\nhost 1 | begun\n"
                                 "podrun: interrupted; run on goes on\n"))
      << ran.err;
  EXPECT_THAT(ran.out, testing::AllOf(HasSubstr("left: .\nhosts 0-2 (3): on: running"),
                                      HasSubstr("hosts 0-2 (3): on: exit code 143\n")));
}

TEST_P(PodrunRunsTest, ALogThatLostItsMiddleSaysSoAndGoesOn) {
  EXPECT_EQ(
      Podrun("--hosts 1 --detach --name big 'echo begin; echo lost; echo end; exit 3'").exit_code,
      0);
  EXPECT_EQ(Podrun("--hosts 1 --follow big").exit_code, 3);
  std::ofstream(host.RunDir("store.j1.node.h1.x-big") / "gap") << "6 11\n";
  const Ended followed = Podrun("--hosts 1 --follow big");
  EXPECT_EQ(
      followed.out,
      "host 1 | begin\nhost 1 | podrun: 5 bytes are gone from the middle of its log, which was "
      "too long\nhost 1 | end\n");
  EXPECT_EQ(followed.exit_code, 3);
}

/// As where a jobman of another version has set up the job of somebody else, later.
TEST_P(PodrunRunsTest, AnOlderScriptBesideItIsNotUsed) {
  const base::Path bin = host.home() / ".jobman/bin";
  std::ofstream(bin / "host-0.sh") << "exit 96\n";
  const auto later =
      std::filesystem::last_write_time(bin / HostScriptName()) + std::chrono::hours{1};
  std::filesystem::last_write_time(bin / "host-0.sh", later);
  EXPECT_EQ(Podrun("--detach --name on true").exit_code, 0);
  std::ofstream(bin / "host-0.sh") << "case $1 in begin) ;;\n  begin) ;; esac\n"
                                      "echo jobman: error no room >&2; exit 96\n";
  std::filesystem::last_write_time(bin / "host-0.sh", later);
  const Ended listed = Podrun("--runs");
  EXPECT_EQ(listed.out, "hosts 1-2 (2): podrun: no room\n");
  EXPECT_EQ(listed.exit_code, 75);
}

/// It accepts the login and runs nothing.
TEST_P(PodrunRunsTest, AHostThatHangsHidesNoAnswerOfTheOthers) {
  Set("jp_answer_s", "10");
  const std::string real = Slurp(host.home() / "fakes/ssh");
  Program("ssh", "case $* in *' 10.0.0.3 '*) exec sleep 600 ;; esac\n" + real);
  const Ended begun = Podrun("--detach --name on true");
  EXPECT_EQ(begun.exit_code, 124);
  EXPECT_THAT(begun.out, testing::AllOf(HasSubstr("run on has begun on host 1; "),
                                        HasSubstr("run on may have begun on host 2; ")));
  EXPECT_EQ(begun.err, "podrun: host 2: no answer within 10s\n");
  EXPECT_THAT(Podrun("--stop on").out, HasSubstr("host 1: on: exit code 0\n"));
}

TEST_P(PodrunRunsTest, AnInterruptShowsWhatHasCome) {
  EXPECT_EQ(Podrun("--detach --name on true").exit_code, 0);
  const std::string real = Slurp(host.home() / "fakes/ssh");
  Program("ssh", "case $* in *' 10.0.0.3 '*) exec sleep 600 ;; esac\n" + real);
  const Ended ran = Lines(
      "mkdir own; TMPDIR=$HOME/own .local/bin/podrun --runs >said 2>&1 & p=$!\n"
      "for i in $(seq 300); do ! cat own/tmp.*/1 >/dev/null 2>&1 || break; sleep 0.1; done\n"
      "kill -TERM $p; wait $p; echo \"code $?\"; cat said\n");
  EXPECT_THAT(ran.out, testing::MatchesRegex("code 130\nhost 1: on: .*\npodrun: interrupted\n"));
}

TEST_P(PodrunRunsTest, ALostAnswerLeavesOpenWhetherItHasBegun) {
  Program("ssh",
          "while [ \"$1\" != -- ]; do shift; done\n"
          "export JOBMAN_BOOT_ID_FILE=$HOME/boot.$2; sh -c \"$3\"; exit 255\n");
  const Ended begun = Podrun("--detach --name on true");
  EXPECT_EQ(begun.exit_code, 255);
  EXPECT_EQ(begun.out,
            "run on may have begun on hosts 1-2 (2); its output: podrun --hosts 1-2 --follow on\n");
}

/// Of several at once one is first.
TEST_P(PodrunRunsTest, ANameIsTakenOnce) {
  const Ended ran = Lines(
      "for i in 1 2 3 4 5 6; do\n"
      "  { .local/bin/podrun --hosts 1 --detach --name on 'sleep 600'; echo \"code $?\"; } & done\n"
      "wait\n");
  std::size_t begun = 0;
  for (const auto& line : base::Split(ran.out, '\n')) begun += line == "code 0" ? 1 : 0;
  EXPECT_EQ(begun, 1U) << ran.out << ran.err;
}

TEST_P(PodrunRunsTest, TheRunsAreThoseOfTheJobWhoseCommandCalls) {
  host.env["JOBMAN_RUN_ID"] = "store.j2.other.h0.a1";
  EXPECT_EQ(Podrun("--hosts 1 --detach --name on true").exit_code, 0);
  EXPECT_TRUE(HasRun("store.j2.other.h1.x-on"));
}

TEST_P(PodrunRunsTest, AHostThatWasNotSetUpIsNamed) {
  std::ofstream(host.home() / "boot.10.0.0.3") << "restarted\n";
  const Ended begun = Podrun("--detach --name on true");
  EXPECT_EQ(begun.exit_code, 75);
  EXPECT_THAT(begun.out,
              testing::AllOf(HasSubstr("host 2 | podrun: jobman has not set this host up since it "
                                       "booted\n"),
                             HasSubstr("run on has begun on host 1; its output: podrun --hosts 1 "
                                       "--follow on\n")));
  EXPECT_THAT(begun.err, HasSubstr("podrun: host 2: exit code 75\n"));
}

TEST_P(PodrunRunsTest, OptionsThatMakeNoSenseAreRefused) {
  const auto refused = [this](const std::string& arguments) {
    const Ended ran = Podrun(arguments);
    EXPECT_EQ(ran.exit_code, 2) << arguments << ran.out;
    return ran.err;
  };
  for (const char* const two :
       {"--detach --tty true", "--runs --follow x", "--stop x --rerun-failed"})
    EXPECT_THAT(refused(two), HasSubstr("exclude each other"));
  EXPECT_THAT(refused("--detach"), HasSubstr("which command?"));
  EXPECT_THAT(refused("--follow x true"), HasSubstr("--follow takes neither a command nor"));
  EXPECT_THAT(refused("--runs -w"), HasSubstr("--runs takes neither a command nor"));
  EXPECT_THAT(refused("--detach --timeout 5m true"), HasSubstr("--detach takes neither --timeout"));
  EXPECT_THAT(refused("--name x true"), HasSubstr("--name is for --detach"));
  for (const std::string& name :
       {std::string("''"), std::string("-x"), std::string("a.b"), std::string(41, 'x')})
    EXPECT_THAT(refused("--detach --name " + name + " true"),
                HasSubstr("cannot be the name of a run"));
  EXPECT_THAT(refused("--follow"), HasSubstr("cannot be the name of a run"));
}

TEST_P(PodrunRunsTest, ATerminalIsForOneHost) {
  EXPECT_THAT(Podrun("--tty true").err, HasSubstr("--tty is for one host, and 2 are chosen"));
  const Ended there =
      Podrun("--tty --hosts 2 -w 'read -r line; echo \"$AT $line\"; pwd; exit 4'", "in\n");
  EXPECT_EQ(there.exit_code, 4);
  EXPECT_EQ(there.out, "10.0.0.3 in\n/tmp\n");
  EXPECT_THAT(Slurp(host.home() / "ssh-words"),
              testing::AllOf(testing::StartsWith("-t "), HasSubstr("ServerAliveInterval=15")));
  EXPECT_EQ(Podrun("--tty --hosts 0 pwd").out, host.home().string() + "\n");
}

}  // namespace
}  // namespace jobman::remote
