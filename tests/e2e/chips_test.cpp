// Processes that hold the chips of a host when the command starts.
#include "jobman/base/strings.hpp"
#include "tests/e2e/rehearsal.hpp"

namespace jobman::test {
namespace {

using testing::HasSubstr;

/// Two hosts, on one node or on two.
class Chips : public RehearsalInEachWay {
 protected:
  /// The first setup step gives the host a chip: a file, made known to every session by the shell's
  /// profile.
  void CreateWithChip(const std::string& cmd, const std::string& more_steps = {}) {
    const std::string chip =
        "{name: chip, run: 'mkdir -p ~/dev; : >~/dev/accel0; "
        "echo export JOBMAN_CHIP_DEVICES=$HOME/dev/accel0 >~/.bashrc'}";
    Create(cmd,
           way().Settings({"retries.backoff=1s", "retries.infra=unlimited",
                           "setup=[" + chip + more_steps + "]"}),
           2 / way().nodes);
  }
};

TEST_P(Chips, LeftoversOfThisJobAreEndedBeforeTheCommandStarts) {
  CreateWithChip("pgrep -fc '[s]leep 4711'; pgrep -fc '[s]leep 4712'; true",
                 ", {name: probe, run: 'setsid sleep 4711 <~/dev/accel0 >/dev/null 2>&1 &'}"
                 ", {name: service, run: 'setsid sleep 4712 </dev/null >/dev/null 2>&1 &'}");
  ASSERT_TRUE(Reaches("SUCCEEDED"));
  for (const int host : {0, 1}) EXPECT_EQ(Log(1, host), "0\n1\n");
  EXPECT_EQ(Attempt(), 1);
}

TEST_P(Chips, OtherHoldersAreNamedAndAwaited) {
  CreateWithChip(
      "[ $JOBMAN_ATTEMPT -gt 1 ] && exit 0\n"
      "echo up; while [ ! -e ~/go ]; do sleep 0.5; done; exit 75");
  ASSERT_TRUE(place().Until("the command to run", [&] { return Log(1, 1) == "up\n"; }));
  // Another user of host 1 uses its chip.
  ASSERT_EQ(
      Jobman({"exec", id(), "-w", "1", "--", "setsid sleep 4713 <~/dev/accel0 >/dev/null 2>&1 &"})
          .code,
      0);
  ASSERT_EQ(Jobman({"exec", id(), "--", "touch ~/go"}).code, 0);
  // Retries are a second apart; `why` is checked during a wait.
  ASSERT_TRUE(place().Until("why to name the holder and the cure", [&] {
    const std::string why = Jobman({"why", id()}).All();
    return base::Contains(why, "host 1 could not start run: its chips are in use: process ") &&
           base::Contains(why, "(sleep 4713) holds /home/") &&
           base::Contains(why, "jobman exec " + id() + " --host 1 -- kill");
  }));
  EXPECT_EQ(Jobman({"exec", id(), "-w", "1", "--", "pkill -f '[s]leep 4713'"}).code, 0)
      << "it was not killed";
  ASSERT_TRUE(Reaches("SUCCEEDED"));
  EXPECT_GE(Attempt(), 3);
  EXPECT_THAT(Spent(),
              HasSubstr("preemption 0, failure 0, infra " + std::to_string(Attempt() - 1)));
  EXPECT_EQ(Creates(), way().Requests()) << "on the slice that it has";
  EXPECT_EQ(Deletes(), 0);
}

INSTANTIATE_TEST_SUITE_P(Ways, Chips, kEachWay, NameOf);

}  // namespace
}  // namespace jobman::test
