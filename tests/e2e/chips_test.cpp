// What holds the chips of a host when the command is to start.
#include <gtest/gtest.h>

#include "tests/e2e/place.hpp"

namespace jobman::test {
namespace {

/// Setup steps: the first gives the host a chip, a file that its shell names to every session.
std::string WithChip(const std::string& more_steps = {}) {
  return "retries: {backoff: 1s}\n"
         "setup:\n"
         "  - name: chip\n"
         "    run: |\n"
         "      mkdir -p ~/dev; : >~/dev/accel0\n"
         "      echo \"export JOBMAN_CHIP_DEVICES=$HOME/dev/accel0\" >~/.bashrc\n" +
         more_steps;
}

TEST(Chips, WhatThisJobLeftOnThemIsEndedBeforeTheCommandStarts) {
  Place place;
  place.StartSim({"--delays", "0"});
  const std::string file = place.JobFile(
      "leftover", 2, "pgrep -fc '[s]leep 4711'; pgrep -fc '[s]leep 4712'; true",
      WithChip("  - {name: probe, run: 'setsid sleep 4711 <~/dev/accel0 >/dev/null 2>&1 &'}\n"
               "  - {name: service, run: 'setsid sleep 4712 </dev/null >/dev/null 2>&1 &'}\n"));
  const Ran run = place.Jobman({"run", file});
  ASSERT_EQ(run.code, 0) << run.All();
  for (const int host : {0, 1}) EXPECT_EQ(place.Log(1, 1, "run", host), "0\n1\n");
}

TEST(Chips, SomebodyElsesHolderIsNamedAndWaitedFor) {
  Place place;
  place.StartSim({"--delays", "0"});
  const std::string file = place.JobFile("polite", 2,
                                         "[ $JOBMAN_ATTEMPT -gt 1 ] && exit 0\n"
                                         "while [ ! -e ~/go ]; do sleep 0.1; done; exit 75",
                                         WithChip());
  ASSERT_EQ(place.Jobman({"create", file}).code, 0);
  ASSERT_TRUE(place.Reaches("1", "RUNNING"));
  // Somebody logs in to host 1 and uses its chip.
  ASSERT_EQ(place
                .Jobman({"exec", "1", "-w", "1", "--",
                         "setsid sleep 4713 <~/dev/accel0 >/dev/null 2>&1 &"})
                .code,
            0);
  ASSERT_EQ(place.Jobman({"exec", "1", "--", "touch ~/go"}).code, 0);
  // The tries are a second apart: what `why` says while it waits for the next one.
  ASSERT_TRUE(place.Until("why to name the holder and the cure", [&] {
    const std::string why = place.Jobman({"why", "1"}).All();
    return why.find("chips are in use: process ") != std::string::npos &&
           why.find("(sleep 4713) holds /home/") != std::string::npos &&
           why.find("jobman exec 000001 --host 1 -- kill") != std::string::npos;
  }));
  EXPECT_EQ(place.Jobman({"exec", "1", "-w", "1", "--", "pkill -f '[s]leep 4713'"}).code, 0)
      << "it was left alone";
  ASSERT_TRUE(place.Reaches("1", "SUCCEEDED"));
  EXPECT_GE(place.Show("1")["spent"]["infra"].get<int>(), 2);
}

}  // namespace
}  // namespace jobman::test
