// Commands on hosts share the controller's SSH connections, and do without where they cannot.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "jobman/base/strings.hpp"
#include "tests/e2e/place.hpp"

namespace jobman::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kShared = "through the controller, process ";
constexpr const char* kLogin = "ssh: connected to ";

class SharedSessions : public testing::Test {
 protected:
  /// A running job, whose controller logs each connection that it makes.
  void SetUp() override {
    place_.StartSim({"--delays", "0"});
    controller_ = place_.StartController({"--poll", "1", "--verbose"});
    const std::string command = "echo up; until [ -e ~/go ]; do sleep 0.5; done";
    ASSERT_EQ(place_.Jobman({"create", place_.JobFile("one", 2, command)}).code, 0);
    for (int host = 0; host < 2; ++host) {
      ASSERT_TRUE(place_.Until("the command to run",
                               [&] { return place_.Log(1, 1, "run", host) == "up\n"; }));
    }
  }
  std::string Said() { return base::ReadFile(place_.home() / "controller.log").value_or(""); }
  /// How often the controller has logged in to a host.
  std::size_t Logins() {
    std::size_t count = 0;
    const std::string said = Said();
    for (auto at = said.find(kLogin); at != std::string::npos; at = said.find(kLogin, at + 1))
      ++count;
    return count;
  }
  Ran Exec(const std::string& command) {
    return place_.Jobman({"--verbose", "exec", "1", "--", command});
  }
  /// A busy machine may make the controller too slow for the first try.
  bool GoesThroughTheController() {
    return place_.Until("a command to go through the controller", [&] {
      const Ran ran = Exec("true");
      return ran.code == 0 && base::Contains(ran.err, kShared);
    });
  }
  Ran Shell(const std::string& line) {
    const std::string body =
        "jobman=$0 home=$1; cd \"$2\"\n"
        "exec1() { \"$jobman\" --home \"$home\" exec 1 \"$@\"; }\n" +
        line;
    return RunProgram({"bash", "-c", body, JOBMAN_BIN_DIR "/jobman", place_.home().string(),
                       place_.path().string()});
  }

  Place place_;
  pid_t controller_ = 0;
};

TEST_F(SharedSessions, ACommandOpensNoConnectionOfItsOwn) {
  ASSERT_TRUE(GoesThroughTheController());
  const auto logins = Logins();
  EXPECT_GE(logins, 2u) << "one for each host, for the job";
  ASSERT_TRUE(GoesThroughTheController());
  EXPECT_EQ(Logins(), logins);
  const Ran failed =
      place_.Jobman({"exec", "1", "-w", "1", "--", "echo out; echo err >&2; exit 7"});
  EXPECT_EQ(failed.code, 7);
  EXPECT_EQ(failed.out, "host 1 | out\n");
  EXPECT_THAT(failed.err, HasSubstr("err\n"));
  EXPECT_EQ(Logins(), logins);
}

TEST_F(SharedSessions, InputAndOutputArriveByteForByte) {
  ASSERT_TRUE(GoesThroughTheController());
  const Ran ran = Shell(
      "head -c 9000000 /dev/urandom >in\n"
      "exec1 -q -w 0 -- 'tee copy' <in >out && cmp in out || exit 1\n"
      "exec1 -q -w 0 -- 'head -c 40000000 /dev/zero | tr \"\\0\" y' >zeros; wc -c <zeros\n"
      "exec1 -q -w 0 -- 'wc -c <copy'\n");
  EXPECT_EQ(ran.code, 0) << ran.All();
  EXPECT_EQ(ran.out, "40000000\n9000000\n");
}

/// As a pager does; for longer than an output lingers once its command has ended.
TEST_F(SharedSessions, AReaderThatPausesLosesNothing) {
  ASSERT_TRUE(GoesThroughTheController());
  const Ran ran = Shell(
      "exec1 -q -w 0 --detach --name big -- 'head -c 1000000 /dev/zero | tr \"\\0\" y'\n"
      "exec1 -q -w 0 --follow big | { sleep 12; wc -c; }\n");
  EXPECT_EQ(ran.code, 0) << ran.All();
  EXPECT_THAT(ran.out, testing::EndsWith("1000000\n"));
}

TEST_F(SharedSessions, AKilledControllerBreaksTheConnectionAndIsNamed) {
  pid_t exec = 0;
  ASSERT_TRUE(place_.Until("a command to go through the controller", [&] {
    const std::size_t before = Said().size();
    exec = place_.Start({"--verbose", "exec", "1", "-w", "0", "--", "echo on; sleep 6234"});
    const auto said = [&] { return Said().substr(before); };
    const bool runs =
        place_.Until("the command to run", [&] { return base::Contains(said(), "host 0 | on\n"); });
    if (runs && base::Contains(said(), kShared)) return true;
    ::kill(exec, SIGKILL);
    place_.EndOf(exec);
    return false;
  }));
  place_.KillController();
  EXPECT_EQ(place_.EndOf(exec), 75);
  // The table wraps it.
  std::string words = base::ReplaceAll(Said(), "\n", " ");
  while (base::Contains(words, "  ")) words = base::ReplaceAll(words, "  ", " ");
  EXPECT_THAT(words, HasSubstr("while the command ran: the connection broke: the controller that "
                               "keeps it open has ended"));
  const Ran after = Exec("true");
  EXPECT_EQ(after.code, 0) << after.All();
  EXPECT_THAT(after.err, AllOf(Not(HasSubstr(kShared)), HasSubstr("is not reached by the")));
  EXPECT_NE(place_.Jobman({"controller", "status"}).code, 0) << "exec starts none";
}

TEST_F(SharedSessions, AControllerThatHangsCostsACommandNoMoreThanAMoment) {
  ASSERT_TRUE(GoesThroughTheController());
  ASSERT_TRUE(place_.PutToSleep(controller_));
  const Ran ran = Exec("echo there");
  ::kill(controller_, SIGCONT);
  EXPECT_EQ(ran.code, 0) << ran.All();
  EXPECT_THAT(ran.out, HasSubstr("host 1 | there\n"));
  EXPECT_THAT(ran.err, HasSubstr("no answer within"));
}

TEST_F(SharedSessions, AnInterruptEndsTheCommandOnTheHosts) {
  ASSERT_TRUE(GoesThroughTheController());
  const pid_t exec = place_.Start({"exec", "1", "--", "echo on; sleep 6345"});
  const auto left = [&] {
    return place_.Jobman({"exec", "1", "-q", "--", "pgrep -f '[s]leep 6345'"}).out;
  };
  ASSERT_TRUE(place_.Until("the command to run on both", [&] {
    return base::Contains(left(), "host 0 |") && base::Contains(left(), "host 1 |");
  }));
  ::kill(exec, SIGINT);
  EXPECT_EQ(place_.EndOf(exec), 130);
  EXPECT_TRUE(place_.Until("nothing of it to be left", [&] { return left().empty(); }));
  EXPECT_EQ(place_.StateOf("one"), "RUNNING") << "the job on the same connections goes on";
  ASSERT_EQ(Exec("touch ~/go").code, 0);
  EXPECT_TRUE(place_.Reaches("one", "SUCCEEDED"));
}

}  // namespace
}  // namespace jobman::test
