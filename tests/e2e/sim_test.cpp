// The command line of the simulator says what it does not do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "jobman/base/strings.hpp"
#include "tests/e2e/place.hpp"
#include "tests/e2e/terminal.hpp"

namespace jobman::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(Sim, AWrongCommandLineEndsWithTwo) {
  Place place;
  EXPECT_EQ(place.Sim({"up", "--nonsense"}).code, 2);
  EXPECT_EQ(place.Sim({"nonsense"}).code, 2);
  EXPECT_EQ(place.Sim({}).code, 2);
  EXPECT_EQ(place.Sim({"--help"}).code, 0);
  using Words = std::vector<std::string>;
  for (const Words& words : {Words{"storm", "--for", ""}, Words{"unplug", "--for", ""},
                             Words{"up", "--detach", "--delays", ""}}) {
    const Ran ran = place.Sim(words);
    EXPECT_EQ(ran.code, 2) << words[0];
    EXPECT_THAT(ran.err, HasSubstr("\"\" is not a duration; write for example 90s"));
  }
}

TEST(Sim, AMisspeltCommandIsNamed) {
  Place place;
  const Ran near = place.Sim({"premept", "x"});
  EXPECT_EQ(near.code, 2);
  EXPECT_EQ(near.err, "jobman-sim: there is no command \"premept\"\n  did you mean preempt?\n");
  EXPECT_THAT(place.Sim({"nonsense"}).err, HasSubstr("jobman-sim --help lists the commands"));
}

TEST(Sim, HelpCutsNoWordAtTheEdgeOfATerminal) {
  const Ran ran = AnswerOnTerminal(
      {"bash", "-c", "stty cols 80 && exec \"$0\" --help", JOBMAN_BIN_DIR "/jobman-sim"},
      "(it asks nothing)", "");
  EXPECT_EQ(ran.code, 0) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("preempt"));
  for (const std::string& line : base::Split(ran.out, '\n'))
    EXPECT_LE(base::Trim(line).size(), 80U) << line;
}

TEST(Sim, OptionsForASimulatorThatServesAlreadyAreNotIgnoredInSilence) {
  Place place;
  place.StartSim({"--delays", "0"});
  EXPECT_EQ(place.Sim({"up", "--detach"}).code, 0) << "safe to repeat";
  EXPECT_EQ(place.Sim({"up", "--json"}).code, 0);
  const Ran ran = place.Sim({"up", "--detach", "--delays", "1h"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("--delays: ignored, since it serves already"),
                             HasSubstr("jobman-sim set")));
}

TEST(Sim, AShellCompletesItsCommandLines) {
  Place place;
  place.StartSim({"--delays", "0"});
  ASSERT_EQ(place.Jobman({"run", place.JobFile("one", 1, "true")}).code, 0);
  EXPECT_THAT(place.Sim({"__complete", "host", "one"}).out, HasSubstr("one-000001-a1/0\t"));
  EXPECT_EQ(place.Sim({"__complete", "--dir", "/nowhere", "host", "one"}).out, "");
  EXPECT_THAT(place.Sim({"__complete", "up", "--fuse", "--sh"}).out, HasSubstr("--share\t"));
  const std::string tab =
      "jobman-sim() { \"$0\" \"$@\"; }; eval \"$(jobman-sim completion bash)\"\n"
      "COMP_WORDS=(jobman-sim up --ligh) COMP_CWORD=2 COMP_LINE='jobman-sim up --ligh' "
      "COMP_POINT=20\n_jobman_sim jobman-sim --ligh up; echo \"${COMPREPLY[@]}\"";
  const Ran shown = RunProgram({"bash", "-c", tab, JOBMAN_BIN_DIR "/jobman-sim"});
  EXPECT_EQ(shown.out, "--light\n") << shown.err;
}

TEST(Sim, AFaultOfAMethodThatThereIsNotIsRefused) {
  Place place;
  place.StartSim({"--delays", "0"});
  const Ran ran = place.Sim({"fault", "nosuch.method", "stockout"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.err, AllOf(HasSubstr("no method is named nosuch.method"),
                             HasSubstr("nodes.create"), HasSubstr("queuedResources.list")));
  EXPECT_EQ(place.Sim({"fault", "*.create", "stockout"}).code, 0);
}

}  // namespace
}  // namespace jobman::test
