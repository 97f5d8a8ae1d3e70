// jobman cp: files and folders to the hosts of a job and back; jobman forward: a port of a host.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <filesystem>

#include "jobman/base/hash.hpp"
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

class Cp : public PairOfHosts {
 protected:
  void TearDown() override {
    PairOfHosts::TearDown();
    On("rm -rf ~/data ~/got ~/out");
  }
  static Ran Jobman(std::vector<std::string> args) { return JobmanIn(here(), std::move(args)); }
  static std::string Read(const std::string& name) {
    return base::ReadFile(here() / name).value_or("(none)");
  }
};

TEST_F(Cp, AFolderGoesToEveryHostAndComesBack) {
  Write("data/run.sh", "#!/bin/sh\n", 0750);
  Write("data/sub/deep name.txt", std::string(3'000'000, 'x'));
  fs::create_symlink("run.sh", here() / "data/link");
  const Ran up = Jobman({"cp", "data", "1:"});
  EXPECT_EQ(up.code, 0) << up.All();
  EXPECT_EQ(up.out, "") << "stdout is for data";
  EXPECT_THAT(up.err, HasSubstr(" to 2 hosts of job 000001 in "));
  const Ran there =
      On("stat -c '%a %s %F' data/run.sh 'data/sub/deep name.txt'; readlink data/link");
  for (const std::string host : {"host 0 | ", "host 1 | "}) {
    EXPECT_THAT(there.out, AllOf(HasSubstr(host + "750 10 regular file"),
                                 HasSubstr(host + "644 3000000 "), HasSubstr(host + "run.sh\n")));
  }
  On("hostname > ~/data/who");
  // Again: folders are merged, what is only there stays.
  Write("data/run.sh", "#!/bin/sh -e\n", 0750);
  EXPECT_EQ(Jobman({"cp", "data", "1:", "-q"}).err, "");
  EXPECT_EQ(Jobman({"cp", "1:data", "back"}).code, 0) << "a new name";
  EXPECT_EQ(Read("back/run.sh"), "#!/bin/sh -e\n");
  EXPECT_EQ(Read("back/sub/deep name.txt"), Read("data/sub/deep name.txt"));
  EXPECT_EQ(fs::read_symlink(here() / "back/link"), "run.sh");
  EXPECT_EQ(fs::status(here() / "back/run.sh").permissions(), fs::perms{0750});
  EXPECT_EQ(Jobman({"cp", "1:data/who", "1:data/run.sh", "--host", "all", "both"}).code, 0);
  EXPECT_NE(Read("both/host-0/who"), "(none)");
  EXPECT_NE(Read("both/host-1/who"), "(none)");
  EXPECT_EQ(Read("both/host-1/run.sh"), "#!/bin/sh -e\n");
}

TEST_F(Cp, WhatCannotBeCopiedIsNamedAndNothingIsLeft) {
  Write("a", "a");
  Ran ran = Jobman({"cp", "nope", "1:"});
  EXPECT_EQ(ran.code, 3);
  EXPECT_THAT(ran.err, HasSubstr("there is no file or folder nope here"));
  ran = Jobman({"cp", "1:nope/x", "."});
  EXPECT_EQ(ran.code, 3);
  EXPECT_THAT(ran.err, HasSubstr("host 0: ./nope/x: No such file or directory"));
  ran = Jobman({"cp", "a", "1:/proc/a"});
  EXPECT_NE(ran.code, 0);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("hosts 0-1: /proc: "), HasSubstr("nothing was copied")));
  ran = Jobman({"cp", "a", "1:no/such/"});
  EXPECT_EQ(ran.code, 3);
  EXPECT_THAT(ran.err, HasSubstr("no/such/: No such directory"));
  ran = Jobman({"cp", "1:a", "2:b"});
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("are on hosts"));
  On("mkdir -p ~/data/a");
  ran = Jobman({"cp", "a", "1:data", "--host", "1"});
  EXPECT_NE(ran.code, 0);
  EXPECT_THAT(ran.err, HasSubstr("host 1: "));
  EXPECT_EQ(On("ls -A ~ ~/data | grep jobman-cp").code, 1) << "nothing is left on the hosts";
  for (const auto& entry : fs::directory_iterator(here())) EXPECT_EQ(entry.path().filename(), "a");
}

/// Two hosts that take 10 MB a second.
TEST_F(Cp, OnATerminalItSaysHowFastItIsAndWhatIsLeft) {
  Write("big", std::string(30'000'000, 'x'));
  const std::string slow =
      "#!/bin/sh\\n"
      "case $(readlink /proc/$$/fd/1) in */archive)\\n"
      "  for i in $(seq 30); do head -c 1000000; sleep 0.1; done ;; esac\\n"
      "exec /bin/cat \"$@\"\\n";
  On("mkdir -p ~/bin && printf '" + slow + "' >~/bin/cat && chmod +x ~/bin/cat");
  On("echo 'export PATH=~/bin:$PATH' >>~/.bashrc");
  const Ran ran = AnswerOnTerminal({"env", "TERM=xterm", JOBMAN_BIN_DIR "/jobman", "--home",
                                    place_->home().string(), "cp", here() / "big", "1:"},
                                   "(nothing is asked)", "");
  EXPECT_EQ(ran.code, 0) << ran.out;
  EXPECT_THAT(ran.out, testing::ContainsRegex(
                           "[0-9.]+ MB of [0-9.]+ MB, [0-9.]+ [KM]B/s; [0-9]+s left for 2 hosts"));
  EXPECT_EQ(On("cmp big <(head -c 30000000 /dev/zero | tr '\\0' x)").code, 0);
  On("rm -rf ~/bin ~/.bashrc ~/big");
}

TEST_F(Cp, OnATerminalItSaysWhichHostItWaitsFor) {
  Write("data.txt", "data");
  ASSERT_EQ(place_->Sim({"host", "pair-*/1", "hang"}).code, 0);
  const Ran ran = AnswerOnTerminal({"env", "TERM=xterm", JOBMAN_BIN_DIR "/jobman", "--home",
                                    place_->home().string(), "cp", here() / "data.txt", "1:"},
                                   "s for host 1", "");
  EXPECT_EQ(place_->Sim({"host", "pair-*/1", "mend"}).code, 0);
  EXPECT_EQ(ran.code, 75) << ran.out;
  EXPECT_THAT(ran.out, AllOf(testing::ContainsRegex("waiting [0-9]+s for host 1"),
                             HasSubstr("copied to 1 host ")));
}

/// A host whose tar says what it likes.
TEST_F(Cp, AHostWritesNowhereElse) {
  Write("outside/kept", "mine");
  fs::create_directories(here() / "into");
  fs::create_symlink("../outside", here() / "into/results");
  On("mkdir -p ~/data/results && echo evil > ~/data/results/kept; chmod u+s ~/data/results/kept; "
     "ln -s ../outside ~/data/way");
  const Ran through = Jobman({"cp", "1:data/results", "into"});
  EXPECT_EQ(through.code, 2);
  EXPECT_THAT(through.err, HasSubstr("into/results is a link"));
  EXPECT_EQ(Read("outside/kept"), "mine");
  EXPECT_EQ(Jobman({"cp", "1:data/results", "fresh"}).code, 0);
  EXPECT_EQ(fs::status(here() / "fresh/kept").permissions() & fs::perms::set_uid, fs::perms::none);

  On("mkdir -p ~/bin ~/x && cd ~/x && echo evil > out && tar -cPf ~/bad.tar ../x/out ./out && "
     "printf '#!/bin/sh\\ncat ~/bad.tar\\n' > ~/bin/tar && chmod +x ~/bin/tar");
  On("echo 'export PATH=~/bin:$PATH' >> ~/.bashrc");
  EXPECT_EQ(On("command -v tar", "0").out, On("echo ~/bin/tar", "0").out) << "the trick works";
  const Ran sent = Jobman({"cp", "1:data", "evil"});
  EXPECT_NE(sent.code, 0) << sent.All();
  EXPECT_FALSE(fs::exists(here() / "x"));
  EXPECT_FALSE(fs::exists(here() / "out"));
  EXPECT_FALSE(fs::exists(here() / "evil"));
  On("rm -rf ~/bin ~/x ~/bad.tar ~/.bashrc");
}

/// A copy of 2 MB that is held in the middle, by a program of that name on the hosts.
class CpBroken : public Cp {
 protected:
  void SetUp() override {
    Cp::SetUp();
    while (text_.size() < 2'000'000) text_ += std::to_string(text_.size()) + "\n";
  }
  void TearDown() override {
    Mend();
    Cp::TearDown();
  }
  /// `script` with \n for line breaks.
  static void Put(const std::string& program, const std::string& script) {
    On("mkdir -p ~/bin && printf '#!/bin/sh\\n" + script + "' > ~/bin/" + program +
       " && chmod +x ~/bin/" + program + " && echo 'export PATH=~/bin:$PATH' >> ~/.bashrc");
  }
  /// What each host writes of a copy ends after 300000 bytes.
  static void TakeSome() { Put("cat", "head -c 300000\\nexec sleep 600\\n"); }
  static void Mend() { On("rm -rf ~/bin ~/.bashrc"); }
  std::string Big() const { return (here() / "big").string(); }
  /// Begins a copy and returns when the hosts have the first 300000 bytes.
  pid_t BeginUp(std::vector<std::string> more, const std::string& hosts) {
    Write("big", text_);
    TakeSome();
    std::vector<std::string> args = {"cp", Big(), "1:got", "-w", hosts};
    args.insert(args.end(), more.begin(), more.end());
    const pid_t cp = place_->Start(args);
    EXPECT_TRUE(place_->Until("the copy to begin", [&] {
      return On("find ~/.jobman-cp-*/archive -size 300000c | grep archive", hosts).code == 0;
    }));
    return cp;
  }
  /// The second call: only the rest is sent, and the hosts have it byte for byte.
  void GoesOnUp(const std::string& hosts) {
    const Ran again = place_->Jobman({"cp", Big(), "1:got", "-w", hosts, "--json"});
    EXPECT_EQ(again.code, 0) << again.All();
    EXPECT_THAT(again.out,
                AllOf(HasSubstr("\"resumed\": 300000"), Not(HasSubstr("\"resumed\": 0"))));
    HasCome(hosts);
  }
  void HasCome(const std::string& hosts) {
    EXPECT_EQ(On("test $(sha256sum < ~/got | cut -c 1-64) = " + base::Sha256Hex(text_), hosts).code,
              0);
    EXPECT_THAT(On("ls -A ~", hosts).out, Not(HasSubstr("jobman-cp")));
  }
  std::string text_;
};

TEST_F(CpBroken, ByAnInterruptGoesOnWithTheSecondCall) {
  const pid_t cp = BeginUp({}, "all");
  ::kill(cp, SIGINT);
  EXPECT_EQ(place_->EndOf(cp), 130);
  EXPECT_NE(On("test -e ~/got").code, 0);
  Mend();
  GoesOnUp("all");
}

TEST_F(CpBroken, ByAConnectionThatEndsGoesOnWithTheSecondCall) {
  const pid_t cp = BeginUp({}, "1");
  ASSERT_EQ(place_->Sim({"host", "pair-*/1", "hangup"}).code, 0);
  EXPECT_EQ(place_->EndOf(cp), 75);
  Mend();
  GoesOnUp("1");
}

TEST_F(CpBroken, GoesOnInTheSameCallWithPatience) {
  const pid_t cp = BeginUp({"--patience", "2m"}, "1");
  Mend();
  ASSERT_EQ(place_->Sim({"host", "pair-*/1", "hangup"}).code, 0);
  EXPECT_EQ(place_->EndOf(cp), 0);
  HasCome("1");
}

TEST_F(CpBroken, GoesOnAfterTheHostWasOff) {
  const pid_t cp = BeginUp({"--patience", "2m"}, "1");
  Mend();
  ASSERT_EQ(place_->Sim({"host", "pair-*/1", "kill", "--for", "2s"}).code, 0);
  EXPECT_EQ(place_->EndOf(cp), 0);
  HasCome("1");
}

TEST_F(CpBroken, ANewVersionOfTheFileBeginsAnew) {
  const pid_t cp = BeginUp({}, "all");
  ::kill(cp, SIGINT);
  EXPECT_EQ(place_->EndOf(cp), 130);
  Mend();
  text_ += "new";
  Write("big", text_);
  const Ran again = place_->Jobman({"cp", Big(), "1:got", "--json"});
  EXPECT_EQ(again.code, 0) << again.All();
  EXPECT_THAT(again.out, Not(HasSubstr("\"resumed\": 300000")));
  HasCome("all");
}

TEST_F(CpBroken, FromAHostGoesOnWithTheSecondCall) {
  Write("big", text_);
  ASSERT_EQ(place_->Jobman({"cp", Big(), "1:got", "-w", "0"}).code, 0);
  Put("tar", "/usr/bin/tar \"$@\" | head -c 300000\\nexec sleep 600\\n");
  fs::create_directories(here() / "into");
  const std::string into = (here() / "into").string();
  const pid_t cp = place_->Start({"cp", "1:got", into});
  ASSERT_TRUE(place_->Until("the copy to begin", [&] {
    for (const auto& one : fs::directory_iterator(into)) {
      std::error_code none;
      if (fs::file_size(one.path() / "archive", none) == 300'000) return true;
    }
    return false;
  }));
  ::kill(cp, SIGINT);
  EXPECT_EQ(place_->EndOf(cp), 130);
  Mend();
  const Ran again = place_->Jobman({"cp", "1:got", into, "--json"});
  EXPECT_EQ(again.code, 0) << again.All();
  EXPECT_THAT(again.out, HasSubstr("\"resumed\": 300000"));
  EXPECT_TRUE(Read("into/got") == text_);
  for (const auto& one : fs::directory_iterator(into)) EXPECT_EQ(one.path().filename(), "got");
}

TEST_F(CpBroken, AFullDiskIsNamedAndNothingIsLeftOnIt) {
  Write("big", text_);
  Put("cat",
      "head -c 1000 >/dev/null; echo \"cat: write error: No space left on device\" >&2; exit 1\\n");
  const Ran ran = place_->Jobman({"cp", Big(), "1:got", "-w", "1"});
  EXPECT_NE(ran.code, 0);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("host 1: "), HasSubstr("No space left on device"),
                             HasSubstr("free some space there")));
  EXPECT_THAT(On("ls -A ~", "1").out, Not(HasSubstr("jobman-cp")));
}

TEST_F(Cp, APortOfAHostIsReachedFromHere) {
  // The hosts of the simulator share this machine's loopback address.
  On("mkdir -p ~/data && echo hello > ~/data/index.html");
  const std::string serve =
      "cd ~/data && python3 -c 'import http.server, socketserver\n"
      "s = socketserver.TCPServer((\"127.0.0.1\", 0), http.server.SimpleHTTPRequestHandler)\n"
      "open(\"port\", \"w\").write(str(s.server_address[1])); s.serve_forever()'";
  const pid_t server = place_->Start({"exec", "1", "-w", "1", "-q", "--", serve});
  std::string port;
  ASSERT_TRUE(place_->Until("the server to listen", [&] {
    port = place_->Jobman({"exec", "1", "-w", "1", "-q", "--", "cat ~/data/port"}).out;
    return !port.empty();
  }));
  const std::string script =
      "coproc F { exec \"$0\" --home \"$1\" forward 1 -w 1 -q 0:$2; }\n"
      "read -r at <&${F[0]}\n"
      "for i in 1 2; do exec 3<>/dev/tcp/${at%:*}/${at#*:} && printf 'GET / HTTP/1.0\\r\\n\\r\\n' "
      ">&3 && "
      "cat <&3; exec 3<&-; done\n"
      // bash lets no background process have SIGINT.
      "kill -TERM $F_PID; wait $F_PID; echo ended $?";
  const Ran ran = RunProgram({"timeout", "120", "bash", "-c", script, JOBMAN_BIN_DIR "/jobman",
                              place_->home().string(), port});
  EXPECT_THAT(ran.out, AllOf(HasSubstr("hello\n"), HasSubstr("ended 130"))) << ran.err;
  const Ran taken = place_->Jobman({"forward", "1", port});
  EXPECT_EQ(taken.code, 2);
  EXPECT_THAT(taken.err, AllOf(HasSubstr("port " + port + " of this machine is in use"),
                               HasSubstr("0:" + port)));
  ::kill(server, SIGINT);
  EXPECT_EQ(place_->EndOf(server), 130);
}

}  // namespace
}  // namespace jobman::test
