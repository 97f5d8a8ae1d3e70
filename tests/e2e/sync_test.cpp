// jobman sync: a folder of the hosts made equal to one of this machine, over real SSH.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <filesystem>

#include "jobman/base/json.hpp"
#include "jobman/base/strings.hpp"
#include "tests/e2e/pair_of_hosts.hpp"
#include "tests/e2e/place.hpp"
#include "tests/e2e/terminal.hpp"

namespace jobman::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

/// Each test has the folder ~/code of the hosts to itself.
class Sync : public PairOfHosts {
 protected:
  void TearDown() override {
    PairOfHosts::TearDown();
    On("rm -rf ~/code ~/outside");
  }
  /// Runs `jobman sync ARGS` in the folder above here().
  static Ran Jobman(std::vector<std::string> args) {
    args.insert(args.begin(), "sync");
    return JobmanIn(place_->path(), std::move(args));
  }
};

TEST_F(Sync, SendsWhatDiffersAndTheSecondTimeNothing) {
  Write("run.sh", "#!/bin/sh\n", 0750);
  Write("sub/deep\nname -x", std::string(300'000, 'x'));
  fs::create_symlink("run.sh", here() / "-link");
  fs::create_directories(here() / "empty");
  const Ran first = Jobman({"here", "1:code"});
  EXPECT_EQ(first.code, 0) << first.All();
  EXPECT_EQ(first.out, "") << "stdout is for data";
  EXPECT_THAT(first.err, AllOf(HasSubstr("3 of 3 files, "), HasSubstr(" sent to 2 hosts of job "),
                               HasSubstr(" over the uplink)")));
  const Ran there = On("cd ~/code && stat -c '%a %s %F' run.sh sub/deep* empty; readlink ./-link");
  for (const std::string host : {"host 0 | ", "host 1 | "}) {
    EXPECT_THAT(there.out,
                AllOf(HasSubstr(host + "750 10 regular file"), HasSubstr(host + "644 300000 "),
                      HasSubstr(host + "755 "), HasSubstr(host + "run.sh\n")));
  }
  EXPECT_THAT(Jobman({"here", "1:code"}).err, HasSubstr("nothing to do on 2 hosts of job 000001"));
  On("echo lost > ~/code/run.sh", "1");
  const Ran mended = Jobman({"here", "1:code"});
  EXPECT_THAT(mended.err, AllOf(HasSubstr("1 of 3 files, "), HasSubstr(" sent to 1 host of job "),
                                HasSubstr("; nothing to do on 1)")));
  EXPECT_EQ(Jobman({"here", "1:code", "-q"}).err, "");
  Write("run.sh", "#!/bin/sh -e\n", 0750);
  const Ran json = Jobman({"here", "1:code", "--json", "-w", "1"});
  const auto said = base::ParseJson(json.out);
  ASSERT_TRUE(said.ok()) << json.All();
  EXPECT_EQ((*said)["files"], 3);
  EXPECT_EQ((*said)["hosts"].size(), 1U);
  EXPECT_EQ((*said)["hosts"][0]["sent"], 1);
}

TEST_F(Sync, ADryRunListsAndDeleteRemovesOnlyWhatIsNotExcluded) {
  Write(".gitignore", "*.log\n");
  Write("a", "A");
  ASSERT_EQ(Jobman({"here", "1:code"}).code, 0);
  On("mkdir -p ~/outside ~/code/old && touch ~/outside/kept ~/code/old/x ~/code/run.log && "
     "ln -s ../outside ~/code/way");
  Write("b", "B");
  const Ran dry = Jobman({"here", "1:code", "--delete", "--dry-run"});
  EXPECT_EQ(dry.code, 0) << dry.All();
  EXPECT_EQ(dry.out, "hosts 0-1 (2):\n+ b\n- old/\n- old/x\n- way\n");
  EXPECT_THAT(dry.err, HasSubstr("would send 1 of 3 files, 2 removed to 2 hosts"));
  EXPECT_EQ(On("ls ~/code/b").code, 2) << "nothing was done";
  const Ran done = Jobman({"here", "1:code", "--delete"});
  EXPECT_EQ(done.code, 0) << done.All();
  const Ran left = On("ls -A ~/code; ls ~/outside", "0");
  EXPECT_THAT(left.out, AllOf(HasSubstr("run.log"), HasSubstr("kept"), Not(HasSubstr("old")),
                              Not(HasSubstr("way"))));
}

TEST_F(Sync, WhatCannotBeDoneIsNamed) {
  Write("a", "A");
  EXPECT_EQ(Jobman({"none", "1:code"}).code, 3);
  EXPECT_EQ(Jobman({"here", "1:"}).code, 2);
  EXPECT_EQ(Jobman({"here", "1:~/.."}).code, 2);
  EXPECT_EQ(Jobman({"here", "9:code"}).code, 3);
  const Ran ran = Jobman({"here", "1:/proc/x"});
  EXPECT_NE(ran.code, 0);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("hosts 0-1: /proc/x: "), HasSubstr("nothing was sent")));
}

TEST_F(Sync, AHostThatHangsCostsTheOtherOneNothing) {
  Write("a", "A");
  ASSERT_EQ(place_->Sim({"host", "pair-*/1", "hang"}).code, 0);
  const Ran ran = AnswerOnTerminal({"env", "TERM=xterm", JOBMAN_BIN_DIR "/jobman", "--home",
                                    place_->home().string(), "sync", here().string(), "1:code"},
                                   "s for host 1", "");
  EXPECT_EQ(place_->Sim({"host", "pair-*/1", "mend"}).code, 0);
  EXPECT_EQ(ran.code, 75) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("1 of 1 file, "));
  EXPECT_EQ(On("cat ~/code/a", "0").code, 0);
}

/// A tar on the hosts that takes its time.
TEST_F(Sync, AnInterruptLeavesNoHalfFileAndTheNextGoesOn) {
  Write("big", std::string(1'000'000, 'x'));
  On("mkdir -p ~/bin && printf '#!/bin/sh\\nmkfifo ~/fifo; exec 3<&0\\n"
     "(head -c 300000; exec sleep 600) <&3 >~/fifo &\\nexec /usr/bin/tar \"$@\" <~/fifo\\n' "
     "> ~/bin/tar && chmod +x ~/bin/tar && echo 'export PATH=~/bin:$PATH' >> ~/.bashrc");
  const pid_t sync = place_->Start({"sync", here().string(), "1:code"});
  ASSERT_TRUE(place_->Until("the files to come", [&] {
    return On("find ~/code/.jobman-sync -name big -size +100k | grep big").code == 0;
  }));
  ::kill(sync, SIGINT);
  EXPECT_EQ(place_->EndOf(sync), 130);
  EXPECT_EQ(On("rm -rf ~/bin ~/.bashrc ~/fifo; ls ~/code/big").code, 2);
  ASSERT_TRUE(place_->Until("the hosts to clean up",
                            [&] { return On("ls -d ~/code/.jobman-sync/new-*").code == 2; }));
  EXPECT_EQ(Jobman({"here", "1:code"}).code, 0);
  EXPECT_THAT(On("stat -c %s ~/code/big").out, HasSubstr("host 1 | 1000000"));
}

}  // namespace
}  // namespace jobman::test
