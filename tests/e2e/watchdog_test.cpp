// The watchdog's three rules on real hosts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/place.hpp"

namespace jobman::test {
namespace {

using testing::HasSubstr;

TEST(Watchdog, AHangingCommandIsRestartedEvenAfterACrashOfTheController) {
  Place place;
  place.StartSim({"--delays", "0"});
  place.StartController();
  const std::string file = place.JobFile("hang", 2,
                                         "echo up\n"
                                         "[ $JOBMAN_ATTEMPT = 1 ] && sleep 4711\n"
                                         "echo \"$JOBMAN_RESTART_REASON\"",
                                         "watchdog: {no_output: 12s}\nretries: {backoff: 1s}\n");
  ASSERT_EQ(place.Jobman({"create", file}).code, 0);
  ASSERT_TRUE(place.Until("the command to be up", [&] {
    return place.Log(1, 1, "run", 0) == "up\n" && place.Log(1, 1, "run", 1) == "up\n";
  }));
  place.KillController();
  place.StartController();
  ASSERT_TRUE(place.Reaches("1", "SUCCEEDED"));
  EXPECT_EQ(place.Log(1, 2, "run", 1), "up\nwatchdog no_output\n");
  EXPECT_THAT(place.Jobman({"history", "1"}).out,
              HasSubstr("watchdog no_output: no host wrote anything for 12s: stopping it"));
  EXPECT_THAT(place.Sim({"status"}).out, HasSubstr("hang-000001-a1"));
  const base::Json shown = place.Show("1");
  EXPECT_EQ(shown["spent"]["infra"], 1);
  EXPECT_EQ(shown["attempts"][0]["outcome"], "watchdog no_output");
  const Ran left = place.Jobman({"exec", "1", "--", "pgrep -f '[s]leep 4711' || echo none"});
  EXPECT_THAT(left.out, HasSubstr("host 1 | none")) << left.All();
}

TEST(Watchdog, ABadLineReplacesTheSliceOrFailsTheJob) {
  Place place;
  place.StartSim({"--delays", "0"});
  const std::string rules =
      "retries: {backoff: 1s}\n"
      "watchdog:\n"
      "  bad_output:\n"
      "    - \"loss.*nan\"\n"
      "    - {match: SLICE_FAILURE_CHIP_DRIVER_ERROR, do: new_slice}\n";
  const std::string file = place.JobFile("bad", 2,
                                         "if [ $JOBMAN_HOST_INDEX = 1 ]; then\n"
                                         "  case $JOBMAN_ATTEMPT in\n"
                                         "    1) echo SLICE_FAILURE_CHIP_DRIVER_ERROR ;;\n"
                                         "    2) printf 'step 7: loss = nan\\n' ;;\n"
                                         "  esac\n"
                                         "fi\n"
                                         "sleep 600",
                                         rules);
  const Ran ran = place.Jobman({"run", file});
  EXPECT_EQ(ran.code, 1) << ran.All();
  EXPECT_EQ(place.StateOf("1"), "FAILED");
  EXPECT_THAT(place.Sim({"status"}).out, HasSubstr("bad-000001-a2"));
  EXPECT_THAT(place.Sim({"status"}).out, testing::Not(HasSubstr("bad-000001-a1")));
  EXPECT_THAT(place.Jobman({"why", "1"}).out,
              HasSubstr("watchdog bad_output: host 1 wrote a line that matches \"loss.*nan\": "
                        "step 7: loss = nan"));
  const base::Json attempts = place.Show("1")["attempts"];
  EXPECT_EQ(attempts[1].value("reason", ""), "watchdog bad_output");
}

TEST(Watchdog, ACommandThatPrintsItsEnvironmentIsNotStoppedForWhatItDidBefore) {
  Place place;
  place.StartSim({"--delays", "0"});
  const std::string file = place.JobFile(
      "prints", 1, "env\n[ $JOBMAN_ATTEMPT = 1 ] || exit 0\necho 'step 7 loss=nan'\nsleep 600",
      "retries: {backoff: 1s}\nwatchdog: {bad_output: [{match: 'loss.*nan', do: restart}]}\n");
  EXPECT_EQ(place.Jobman({"run", file}).code, 0);
  EXPECT_EQ(place.Show("1")["attempts"].size(), 2U);
}

TEST(Watchdog, MaxDurationEndsTheJob) {
  Place place;
  place.StartSim({"--delays", "0"});
  const std::string file =
      place.JobFile("long", 1, "trap 'echo saved; exit 0' TERM\nsleep 600 & wait",
                    "watchdog: {max_duration: 10s}\n");
  const Ran ran = place.Jobman({"run", file});
  EXPECT_EQ(ran.code, 1) << ran.All();
  EXPECT_EQ(place.Log(1, 1, "run", 0), "saved\n");
  EXPECT_THAT(place.Jobman({"why", "1"}).out,
              HasSubstr("watchdog max_duration: the command ran for 10s"));
}

}  // namespace
}  // namespace jobman::test
