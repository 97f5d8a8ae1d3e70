// From a job file to exit codes, as a user sees it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/e2e/place.hpp"

namespace jobman::test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Journey, TheQuickstartSucceedsOnFourHosts) {
  Place place;
  const std::string file = std::string(JOBMAN_SOURCE_DIR) + "/configs/quickstart.yaml";
  const Ran ran = place.Jobman({"run", file});
  EXPECT_EQ(ran.code, 0) << ran.All();
  EXPECT_THAT(ran.out, HasSubstr("host 3 | step 5 of 5"));
  EXPECT_THAT(ran.out, HasSubstr("SUCCEEDED"));
  EXPECT_THAT(ran.out, HasSubstr("jobman delete 000001"));
  EXPECT_THAT(place.Log(1, 1, "setup-0-workspace", 2), HasSubstr("quickstart"));
  EXPECT_THAT(place.Jobman({"list"}).out, HasSubstr("IDLE"));
  const Ran quiet = place.Jobman({"exec", "quickstart", "--fold", "-q", "--", "echo same"});
  EXPECT_THAT(quiet.out, testing::HasSubstr("same\n"));
  EXPECT_EQ(quiet.err, "");
  const Ran folded = place.Jobman({"exec", "quickstart", "--fold", "--", "echo same"});
  EXPECT_EQ(folded.code, 0) << folded.All();
  EXPECT_THAT(folded.out, HasSubstr("hosts 0-3 (4): same"));
  EXPECT_EQ(place.Jobman({"exec", "1", "-w", "1-2", "--", "exit 3"}).code, 3);
  const Ran login = place.Jobman({"ssh", "1", "-w", "2", "hostname"});
  EXPECT_THAT(login.out, HasSubstr("-w-2")) << login.err;
  const base::Path mark = place.path() / "mark";
  place.Jobman({"ssh", "1", "--", "-oProxyCommand=touch " + mark.string()});
  EXPECT_FALSE(base::FileSize(mark)) << "a word of the host's command became an option of ssh";
  EXPECT_EQ(place.Jobman({"delete", "1", "--wait"}).code, 0);
  EXPECT_THAT(place.Sim({"status"}).out, HasSubstr("no nodes, no queued resources"));
  EXPECT_EQ(place.Jobman({"clean", "1"}).code, 0);
  EXPECT_EQ(place.Jobman({"show", "1"}).code, 3);
}

TEST(Journey, TheQuickstartSucceedsWithoutSandboxesToo) {
  Place place;
  place.StartSim({"--no-sandbox", "--delays", "0"});
  const Ran ran =
      place.Jobman({"run", std::string(JOBMAN_SOURCE_DIR) + "/configs/quickstart.yaml"});
  EXPECT_EQ(ran.code, 0) << ran.All();
  EXPECT_THAT(ran.out, HasSubstr("host 3 | step 5 of 5"));
  EXPECT_EQ(place.Jobman({"delete", "1", "--wait"}).code, 0);
}

TEST(Journey, AChangedJobFileRunsOnTheSliceThatIsHeld) {
  Place place;
  place.StartSim({"--delays", "0"});
  const std::string file = place.JobFile("again", 1, "echo first; exit 3");
  EXPECT_EQ(place.Jobman({"run", file}).code, 3);
  const Ran set = place.Jobman({"resume", "again", "--wait", "--set", "command.cmd=echo second"});
  EXPECT_EQ(set.code, 0) << set.All();
  EXPECT_EQ(place.Log(1, 2, "run", 0), "second\n");
  const std::string changed = place.JobFile("again", 1, "echo third; exit 4");
  EXPECT_EQ(place.Jobman({"reboot", "1", "--wait", "-f", changed}).code, 4);
  EXPECT_EQ(place.Log(1, 3, "run", 0), "third\n");
  EXPECT_THAT(place.Jobman({"show", "1"}).out, HasSubstr("again-000001-a1")) << "one slice for all";
  // What a slice cannot change in is said, and nothing is stored.
  const Ran other = place.Jobman({"resume", "1", "--set", "tpu.accelerator=v4-16"});
  EXPECT_NE(other.code, 0);
  EXPECT_THAT(other.err, HasSubstr("has slice again-000001-a1, which cannot change in "
                                   "tpu.accelerator"));
  EXPECT_THAT(place.Jobman({"show", "1"}).out, testing::Not(HasSubstr("used from the next")));
  const Ran bad = place.Jobman({"resume", "1", "--set", "command.cmt=x"});
  EXPECT_EQ(bad.code, 2) << bad.All();
}

TEST(Journey, TheEditorChangesTheNextAttempt) {
  Place place;
  place.StartSim({"--delays", "0"});
  EXPECT_EQ(place.Jobman({"run", place.JobFile("edited", 1, "echo first")}).code, 0);
  setenv("EDITOR", "sed -i s/first/second/", 1);
  const Ran edit = place.Jobman({"edit", "edited"});
  EXPECT_EQ(edit.code, 0) << edit.All();
  EXPECT_THAT(edit.err, HasSubstr("jobman resume 000001"));
  EXPECT_EQ(place.Jobman({"resume", "edited", "--wait"}).code, 0);
  EXPECT_EQ(place.Log(1, 2, "run", 0), "second\n");
  setenv("EDITOR", "sed -i 's/command/comand/;s/second/third/'", 1);
  const Ran bad = place.Jobman({"edit", "edited"});
  EXPECT_EQ(bad.code, 2) << bad.All();
  EXPECT_THAT(bad.err, HasSubstr("your text is kept"));
  setenv("EDITOR", "sed -i s/comand/command/", 1);
  const Ran corrected = place.Jobman({"edit", "edited"});
  EXPECT_EQ(corrected.code, 0) << corrected.All();
  EXPECT_THAT(corrected.err, HasSubstr("going on with your text of an earlier edit"));
  setenv("EDITOR", "true", 1);
  EXPECT_THAT(place.Jobman({"edit", "edited"}).err, testing::StartsWith("nothing was changed"));
}

TEST(Journey, ADirectNodeRunsToo) {
  Place place;
  place.StartSim({"--delays", "0"});
  const Ran ran = place.Jobman({"run", place.JobFile("direct", 1, "echo here"), "--set",
                                "tpu.allocation_mode=tpu-vm", "--set", "tpu.pricing=ondemand"});
  EXPECT_EQ(ran.code, 0) << ran.All();
  EXPECT_EQ(place.Log(1, 1, "run", 0), "here\n");
}

TEST(Journey, AJobFileMayComeFromStandardInput) {
  Place place;
  place.StartSim({"--delays", "0"});
  const std::string script = (place.path() / "run.sh").string();
  ASSERT_TRUE(base::WriteFileAtomic(script, "echo one  # a: b\necho two\n").ok());
  const std::string command =
      "\"$0\" --home \"$1\" create - --wait --set-file command.cmd=\"$2\" <\"$3\"";
  const Ran ran = RunProgram({"sh", "-c", command, JOBMAN_BIN_DIR "/jobman", place.home().string(),
                              script, place.JobFile("piped", 1, "false")});
  EXPECT_EQ(ran.code, 0) << ran.All();
  EXPECT_EQ(place.Log(1, 1, "run", 0), "one\ntwo\n");
}

TEST(Journey, QuietOutputIsThatOfTheHosts) {
  Place place;
  place.StartSim({"--delays", "0"});
  const Ran ran = place.Jobman({"run", "-q", place.JobFile("seven", 1, "echo out; exit 7")});
  EXPECT_EQ(ran.code, 7) << ran.All();
  EXPECT_EQ(ran.out, "out\n");
  EXPECT_EQ(ran.err, "");
  const Ran exec = place.Jobman({"exec", "1", "--", "echo out"});
  EXPECT_EQ(exec.out, "host 0 | out\n");
  EXPECT_THAT(exec.err, HasSubstr("EXIT CODE"));
}

TEST(Journey, AQuietControllerLogsNothing) {
  Place place;
  place.StartSim({"--delays", "0"});
  place.StartController({"--quiet"});
  ASSERT_EQ(place.Jobman({"create", place.JobFile("one", 1, "true")}).code, 0);
  ASSERT_TRUE(place.Reaches("1", "SUCCEEDED"));
  EXPECT_EQ(base::ReadFile(place.home() / "controller.log").value_or(""), "");
}

TEST(Journey, ASetupStepEndsAtTheFirstCommandThatFails) {
  Place place;
  place.StartSim({"--delays", "0"});
  const auto run = [&](const std::string& name, const std::string& step) {
    return place.Jobman(
        {"run", place.JobFile(name, 1, "true", "setup: [{name: tools, " + step + "}]\n")});
  };
  EXPECT_NE(run("strict", "run: 'nosuchtool --install; echo done'").code, 0);
  EXPECT_THAT(place.Log(1, 1, "setup-0-tools", 0), Not(HasSubstr("done")));
  EXPECT_NE(run("pipe", "run: 'false | cat; echo done'").code, 0);
  EXPECT_EQ(run("lax", "run: 'nosuchtool --install; echo done', strict: false").code, 0);
  EXPECT_EQ(run("own", "run: \"#!/bin/sh\\nnosuchtool; echo done\"").code, 0)
      << "a script that names its interpreter";
}

TEST(Journey, AJobDoesNotShowTheLogOfAnotherOfItsNumber) {
  Place place;
  place.StartSim({"--delays", "0"});
  ASSERT_EQ(place.Jobman({"run", place.JobFile("one", 1, "echo one")}).code, 0);
  ASSERT_EQ(place.Jobman({"controller", "stop"}).code, 0);
  const std::string store = (place.home() / "store").string();
  ASSERT_EQ(RunProgram({"cp", "-a", store, store + ".old"}).code, 0);
  ASSERT_EQ(place.Jobman({"run", place.JobFile("two", 1, "echo earlier")}).code, 0);
  ASSERT_EQ(place.Jobman({"controller", "stop"}).code, 0);
  ASSERT_EQ(RunProgram({"rm", "-r", store}).code, 0);
  ASSERT_EQ(RunProgram({"mv", store + ".old", store}).code, 0);
  ASSERT_EQ(place.Jobman({"store", "adopt"}).code, 0);
  const Ran ran = place.Jobman({"run", place.JobFile("three", 1, "echo later")});
  EXPECT_EQ(ran.code, 0) << ran.All();
  EXPECT_THAT(ran.out, HasSubstr("job 000002 (three)"));
  EXPECT_THAT(ran.out, Not(HasSubstr("earlier")));
  EXPECT_EQ(place.Jobman({"logs", "2"}).out, "later\n");
  EXPECT_EQ(*base::ReadFile(place.home() / "jobs/000002.1/attempt-1/run/host-0000.log"),
            "earlier\n");
}

TEST(Journey, TheCommandsExitCodeIsTheJobs) {
  Place place;
  place.StartSim({"--delays", "0"});
  const Ran ran = place.Jobman({"run", place.JobFile("seven", 2, "exit 7")});
  EXPECT_EQ(ran.code, 7) << ran.All();
  EXPECT_THAT(ran.out, HasSubstr("FAILED"));
  EXPECT_THAT(place.Jobman({"why", "1"}).out, HasSubstr("exit code 7"));
  EXPECT_EQ(place.Jobman({"resume", "1", "--wait"}).code, 7);
  const Ran quiet = place.Jobman({"create", "--wait", "-q", place.JobFile("eight", 1, "exit 8")});
  EXPECT_EQ(quiet.code, 8);
  EXPECT_EQ(quiet.out, "000002\nFAILED\n");
}

TEST(Journey, AStoredJobRunsAgainInTheForeground) {
  Place place;
  place.StartSim({"--delays", "0"});
  const std::string file =
      place.JobFile("again", 1, "echo attempt $JOBMAN_ATTEMPT; test $JOBMAN_ATTEMPT != 1 || exit 7",
                    "setup: [{name: mark, run: \"echo x >> ~/marks\"}]\n");
  EXPECT_EQ(place.Jobman({"run", file}).code, 7);
  const Ran second = place.Jobman({"run", "1"});
  EXPECT_EQ(second.code, 0) << second.All();
  EXPECT_THAT(second.out, testing::AllOf(HasSubstr("attempt 2\n"), HasSubstr("SUCCEEDED"),
                                         testing::Not(HasSubstr("attempt 1\n"))));
  EXPECT_EQ(place.Jobman({"exec", "1", "--", "test $(wc -l < ~/marks) = 1"}).code, 0);
  const Ran third = place.Jobman({"run", "again", "--force"});
  EXPECT_EQ(third.code, 0) << third.All();
  EXPECT_THAT(third.out, HasSubstr("attempt 3\n"));
  EXPECT_EQ(place.Jobman({"exec", "1", "--", "test $(wc -l < ~/marks) = 2"}).code, 0);
  const Ran changed = place.Jobman({"run", "again", "--set", "tpu.zone=us-central1-a"});
  EXPECT_EQ(changed.code, 2);
  EXPECT_THAT(changed.err, HasSubstr("--array and --name are for a job file"));
  EXPECT_EQ(place.Jobman({"run", "nobody"}).code, 3);
  EXPECT_EQ(place.Jobman({"run", "v1.2/of nobody"}).code, 3) << "a job may be called so";
  EXPECT_EQ(place.Jobman({"run", "nothing.yaml"}).code, 2);
}

TEST(Journey, ALoopGoesOnUntilItSucceeds) {
  Place place;
  place.StartSim({"--delays", "0"});
  place.StartController();
  const std::string file = place.JobFile("loop", 1, "test $JOBMAN_ATTEMPT = 3",
                                         "retries: {backoff: 1s, backoff_cap: 1s}\n");
  const Ran created = place.Jobman({"create", file, "--set", "job.loop=true"});
  EXPECT_THAT(created.out,
              testing::AllOf(testing::StartsWith("Created job 000001 (loop): v4-8, 1 host, in "),
                             HasSubstr("\n  tried again without limit until it succeeds\n")));
  ASSERT_TRUE(place.Reaches("loop", "SUCCEEDED"));
  EXPECT_EQ(base::GetInt(place.Show("loop"), "attempt"), 3);
}

TEST(Journey, ASetupStepTimeoutIsAFailureWithoutRetry) {
  Place place;
  place.StartSim({"--delays", "0"});
  const Ran ran = place.Jobman(
      {"create", "--wait", "--json",
       place.JobFile("slow", 1, "true", "setup: [{name: nap, run: sleep 600, timeout: 1s}]\n")});
  EXPECT_EQ(ran.code, 1) << ran.All();
  EXPECT_THAT(ran.out, HasSubstr("\"exit_code\": 1"));
}

TEST(Journey, SecretsReachOnlyTheCommand) {
  Place place;
  place.StartSim({"--delays", "0"});
  const std::string file =
      place.JobFile("secret", 1, "printf %s \"$E2E_SECRET\" | wc -c", "  secrets: [E2E_SECRET]\n");
  setenv("E2E_SECRET", "hush-hush-42", 1);
  EXPECT_EQ(place.Jobman({"run", file}).code, 0);
  unsetenv("E2E_SECRET");
  EXPECT_EQ(place.Log(1, 1, "run", 0), "12\n");
  const Ran grep = RunProgram({"grep", "-rl", "hush-hush-42", place.home().string()});
  EXPECT_EQ(grep.out, "");
  const Ran missing = place.Jobman({"create", file});
  EXPECT_EQ(missing.code, 2);
  EXPECT_THAT(missing.err, HasSubstr("E2E_SECRET"));
}

TEST(Journey, TickDoesTheWorkForCron) {
  Place place;
  place.StartSim({"--delays", "0"});
  ASSERT_EQ(place.Jobman({"create", place.JobFile("cron", 1, "echo ticked")}).code, 0);
  place.Jobman({"controller", "stop"});
  place.Until("SUCCEEDED by ticks alone", [&] {
    EXPECT_EQ(place.Jobman({"tick", "--bound", "20"}).code, 0);
    return place.StateOf("1") == "SUCCEEDED";
  });
  EXPECT_EQ(place.Log(1, 1, "run", 0), "ticked\n");
}

TEST(Journey, SecretsBelongToTheJobAndResumeReadsThemAgain) {
  Place place;
  place.StartSim({"--delays", "0"});
  const std::string more = "  secrets: [E2E_SECRET]\n";
  const std::string command = "echo \"got $E2E_SECRET\"";
  setenv("E2E_SECRET", "of-the-controller", 1);
  ASSERT_EQ(place.Jobman({"run", place.JobFile("one", 1, command, more)}).code, 0);
  setenv("E2E_SECRET", "two", 1);
  ASSERT_EQ(place.Jobman({"run", place.JobFile("two", 1, command, more)}).code, 0);
  unsetenv("E2E_SECRET");
  ASSERT_EQ(place.Jobman({"reboot", "two", "--wait"}).code, 0);
  EXPECT_EQ(place.Log(2, 2, "run", 0), "got two\n");
  setenv("E2E_SECRET", "three", 1);
  ASSERT_EQ(place.Jobman({"resume", "two", "--wait"}).code, 0);
  unsetenv("E2E_SECRET");
  EXPECT_EQ(place.Log(2, 3, "run", 0), "got three\n");
}

TEST(Journey, ATickEndsForACommandThatNeedsAController) {
  Place place;
  place.StartSim({"--delays", "0"});
  // A tick lasts as long as hosts write output, up to its bound.
  const std::string chatty = "while :; do echo news; sleep 0.3; done";
  ASSERT_EQ(place.Jobman({"create", place.JobFile("long", 1, chatty)}).code, 0);
  ASSERT_TRUE(place.Reaches("long", "RUNNING"));
  ASSERT_EQ(place.Jobman({"controller", "stop"}).code, 0);
  RunProgram({"sh", "-c",
              std::string(JOBMAN_BIN_DIR) + "/jobman --home " + place.home().string() +
                  " tick >/dev/null 2>&1 &"});
  ASSERT_TRUE(place.Until("the tick to hold the lease", [&] {
    return place.Jobman({"controller", "status"}).code == 0;
  }));
  ASSERT_EQ(place.Jobman({"create", place.JobFile("short", 1, "true")}).code, 0);
  EXPECT_TRUE(place.Reaches("short", "SUCCEEDED"));
  EXPECT_EQ(place.Jobman({"controller", "status"}).code, 0) << "a controller that stays";
}

}  // namespace
}  // namespace jobman::test
