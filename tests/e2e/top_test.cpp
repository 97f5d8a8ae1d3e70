// jobman top: how the hosts of a job do, over real SSH.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "jobman/base/json.hpp"
#include "jobman/base/strings.hpp"
#include "tests/e2e/place.hpp"
#include "tests/e2e/terminal.hpp"

namespace jobman::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class TopOnHosts : public testing::Test {
 protected:
  /// A finished job of two hosts that holds its slice.
  void SetUp() override {
    place_.StartSim({"--delays", "0"});
    ASSERT_EQ(place_.Jobman({"run", place_.JobFile("one", 2, "true")}).code, 0);
  }
  Ran Exec(const std::string& host, const std::string& line) {
    return place_.Jobman({"exec", "1", "-w", host, "--", line});
  }
  void Host(const std::string& number, const std::string& action) {
    ASSERT_EQ(place_.Sim({"host", "one-000001-a1/" + number, action}).code, 0);
  }
  std::string Log() { return base::ReadFile(place_.home() / "controller.log").value_or(""); }
  Place place_;
};

TEST_F(TopOnHosts, SaysHowTheyDoAndWhoHoldsAChip) {
  // A file as chip, made known to every session by the shell's profile, and a tpu-info.
  const Ran chip =
      Exec("1",
           "mkdir -p ~/dev ~/env/bin; : >~/dev/accel0; "
           "echo export JOBMAN_CHIP_DEVICES=$HOME/dev/accel0 >~/.bashrc; "
           "printf '#!/bin/sh\\necho Chip HBM Duty cycle\\necho 0 1.00 GiB / 4.00 GiB 75.00%%\\n' "
           ">~/env/bin/tpu-info; chmod +x ~/env/bin/tpu-info; "
           "setsid sleep 4714 <~/dev/accel0 >/dev/null 2>&1 &");
  ASSERT_EQ(chip.code, 0) << chip.All();
  const Ran ran = place_.Jobman({"top", "1", "--json"});
  ASSERT_EQ(ran.code, 0) << ran.All();
  const auto json = base::ParseJson(ran.out);
  ASSERT_TRUE(json.ok()) << ran.out;
  const base::Json& hosts = base::GetMember(*json, "hosts");
  ASSERT_EQ(hosts.size(), 2u);
  EXPECT_GT(hosts[0]["cpus"], 0);
  EXPECT_GT(hosts[0]["memory"]["total"], 0);
  EXPECT_GT(hosts[0]["home_disk"]["total"], 0);
  ASSERT_EQ(hosts[1]["chips"].size(), 1u) << ran.out;
  ASSERT_EQ(hosts[1]["chips"][0]["holders"].size(), 1u) << ran.out;
  EXPECT_EQ(hosts[1]["chips"][0]["holders"][0]["command"], "sleep 4714");
  EXPECT_EQ(hosts[1]["chips"][0]["duty_percent"], 75);
  const Ran text = place_.Jobman({"top", "one"});
  EXPECT_THAT(text.out, AllOf(HasSubstr("HELD BY"), HasSubstr("1/1  "), HasSubstr("sleep 4714")));
  EXPECT_EQ(Exec("1", "pkill -f '[s]leep 4714'").code, 0);
}

TEST_F(TopOnHosts, ADeadHostIsNamedAndCostsTheOthersNothing) {
  Host("1", "kill");
  const Ran ran = place_.Jobman({"top", "1"});
  EXPECT_EQ(ran.code, 1) << ran.All();
  EXPECT_THAT(ran.out, AllOf(HasSubstr("host 1: connection refused\n"), HasSubstr("\n   0  ")));
  EXPECT_EQ(place_.Jobman({"top", "1", "-w", "1"}).code, 75);
}

TEST_F(TopOnHosts, AHostThatPrintsWithoutEndIsCutAndNamed) {
  ASSERT_EQ(Exec("0", "echo \"head -c 100000000 /dev/zero | tr -c x x\" >~/.bashrc").code, 0);
  const Ran ran = place_.Jobman({"top", "1"});
  EXPECT_EQ(ran.code, 1) << ran.All();
  EXPECT_THAT(ran.out, AllOf(HasSubstr("host 0: the host prints something else without end"),
                             HasSubstr("\n   1  ")));
}

TEST_F(TopOnHosts, AWatchGoesOnWhenAHostGoesAndComesBack) {
  const pid_t watch = place_.Start({"top", "1", "--watch", "--every", "1s", "--json"});
  const std::string gone = "{\"host\":1,\"error\":\"";
  const std::string here = "{\"host\":1,\"error\":null,\"apart\"";
  ASSERT_TRUE(
      place_.Until("host 1 to say how it does", [&] { return base::Contains(Log(), here); }));
  Host("1", "kill");
  ASSERT_TRUE(place_.Until("host 1 to be missed", [&] { return base::Contains(Log(), gone); }));
  Host("1", "boot");
  ASSERT_TRUE(place_.Until("host 1 to be back", [&] {
    const std::string log = Log();
    return log.find(here, log.rfind(gone)) != std::string::npos;
  }));
  ::kill(watch, SIGINT);
  EXPECT_EQ(place_.EndOf(watch), 130);
  // A command that nobody listens to ends at its next look.
  EXPECT_TRUE(place_.Until("the hosts to be left alone", [&] {
    return base::Contains(Exec("0", "pgrep -f '[j]obman-top' || echo none").out, "none");
  }));
}

TEST(TopOfARun, AWatchWaitsForOtherHosts) {
  Place place;
  place.StartSim({"--delays", "0"});
  place.StartController({"--poll", "1"});
  const std::string file = place.JobFile("moves", 1, "sleep 600", "retries: {backoff: 500ms}\n");
  ASSERT_EQ(place.Jobman({"create", file}).code, 0);
  ASSERT_TRUE(place.Reaches("moves", "RUNNING"));
  const auto log = [&] { return base::ReadFile(place.home() / "controller.log").value_or(""); };
  const pid_t watch = place.Start({"top", "moves", "--watch", "--every", "1s", "--json"});
  const std::string here = "{\"host\":0,\"error\":null";
  ASSERT_TRUE(place.Until("host 0 to be shown", [&] { return base::Contains(log(), here); }));
  ASSERT_EQ(place.Sim({"set", "stock.us-central2-b/v4=0"}).code, 0);
  ASSERT_EQ(place.Jobman({"requeue", "moves"}).code, 0);
  ASSERT_TRUE(place.Until("the job to lose its hosts", [&] {
    return base::Contains(place.Jobman({"top", "moves"}).All(), "has no hosts");
  }));
  // Longer than a watch goes without looking at the job.
  std::this_thread::sleep_for(std::chrono::seconds{7});
  const std::size_t before = log().size();
  ASSERT_EQ(place.Sim({"set", "stock.us-central2-b/v4=100"}).code, 0);
  ASSERT_TRUE(place.Until("the new host 0 to be shown", [&] {
    return log().find(here, before) != std::string::npos;
  })) << log();
  ::kill(watch, SIGINT);
  EXPECT_EQ(place.EndOf(watch), 130);
  EXPECT_EQ(place.Jobman({"delete", "moves", "--wait"}).code, 0);
}

TEST_F(TopOnHosts, OnATerminalTheTableIsPaintedAgainUntilCtrlC) {
  const Ran ran = AnswerOnTerminal({"env", "TERM=xterm", JOBMAN_BIN_DIR "/jobman", "--home",
                                    place_.home().string(), "top", "1", "--watch"},
                                   "PER CPU", "\x03");
  EXPECT_EQ(ran.code, 130) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("\x1b[H"));
}

}  // namespace
}  // namespace jobman::test
