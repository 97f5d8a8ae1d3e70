// Commands beside the runs of a job, in real shells.
#include "jobman/remote/direct_command.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "jobman/base/files.hpp"
#include "jobman/base/process.hpp"
#include "jobman/base/task.hpp"
#include "tests/support/temp_dir.hpp"

namespace jobman::remote {
namespace {

using testing::HasSubstr;

class DirectCommandTest : public testing::Test {
 protected:
  base::ProcessResult Run(const std::string& shell, const std::string& line,
                          const std::string& input = {}) {
    const std::string home = home_.path().string();
    const std::vector<std::string> argv = {
        "env", "--chdir=" + home, "HOME=" + home, "CDPATH=/", shell, "-c", line};
    asio::io_context loop;
    const auto ended = base::RunTask(loop, base::RunProcess(argv, input));
    EXPECT_TRUE(ended.ok());
    return ended.value();
  }
  base::ProcessResult RunIn(const DirectCommand& command, const CommandEnvironment& around,
                            const std::string& input = {}, const core::JobSpec& spec = {}) {
    const auto call = CallInEnvironment(command, spec, around);
    EXPECT_TRUE(call.ok());
    return Run("/bin/sh", call->command, call->input + input);
  }
  std::string Folder(const std::string& name) {
    std::filesystem::create_directories(home_.path() / name);
    return (home_.path() / name).string() + "\n";
  }
  test::TempDir home_;
};

TEST_F(DirectCommandTest, BeginsInItsFolder) {
  const std::string folder = Folder("it's mine");
  for (const char* shell : {"/bin/sh", "bash"}) {
    EXPECT_EQ(Run(shell, DirectLine({.line = "pwd", .workdir = "it's mine"})).out, folder);
    EXPECT_EQ(Run(shell, DirectLine({.line = "pwd", .workdir = "~/it's mine"})).out, folder);
    EXPECT_EQ(Run(shell, DirectLine({.line = "pwd", .workdir = "/"})).out, "/\n");
    const auto none = Run(shell, DirectLine({.line = "echo no || echo no", .workdir = "gone"}));
    EXPECT_EQ(none.exit_code, 126);
    EXPECT_EQ(none.out, "");
    EXPECT_THAT(none.err, HasSubstr("gone"));
  }
}

TEST_F(DirectCommandTest, HasTheVariablesAndTheRestOfTheInput) {
  const std::string folder = Folder("work");
  const std::string hard = "it's\n.\n:two \"lines\"$HOME";
  const CommandEnvironment around{
      .workdir = "~/work",
      .env = {{"A", hard}, {"HOME", "/elsewhere"}, {"JOBMAN_CHECKPOINT_DIR", "~/c"}},
      .secrets = {{"TOKEN", "hush"}}};
  const auto ran =
      RunIn({.line = "pwd; echo \"$A $TOKEN $JOBMAN_CHECKPOINT_DIR\"; cat"}, around, "input\n.\n");
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(ran.out, folder + hard + " hush " + home_.path().string() + "/c\ninput\n.\n");
  EXPECT_EQ(RunIn({.line = "pwd", .workdir = "/"}, around).out, "/\n") << "its own comes first";
  EXPECT_EQ(RunIn({.line = "exit 7"}, around).exit_code, 7);
  EXPECT_EQ(RunIn({.line = "true", .workdir = "gone"}, around).exit_code, 126);
}

TEST_F(DirectCommandTest, RunsInBashAfterTheProfileWhichGetsNoInput) {
  const auto profile = home_.path() / ".profile";
  ASSERT_TRUE(base::WriteFileAtomic(profile, "export FROM=profile; cat\n").ok());
  const auto ran = RunIn({.line = "echo ${BASH_VERSION:+bash} $FROM; cat"}, {}, "rest\n");
  EXPECT_EQ(ran.out, "bash profile\nrest\n") << ran.err;
}

TEST_F(DirectCommandTest, ShowsNoVariableToOthers) {
  const CommandEnvironment around{.secrets = {{"TOKEN", "hush"}}};
  const auto call = CallInEnvironment({.line = "tr '\\0' ' ' </proc/$$/cmdline"}, {}, around);
  ASSERT_TRUE(call.ok());
  EXPECT_EQ(call->command.find("hush"), std::string::npos);
  const auto ran = Run("/bin/sh", call->command, call->input);
  EXPECT_THAT(ran.out, testing::Not(HasSubstr("hush")));
  const auto cut = Run("/bin/sh", call->command, call->input.substr(0, call->input.size() - 2));
  EXPECT_EQ(cut.exit_code, 126);
  EXPECT_THAT(cut.err, HasSubstr("arrived incomplete"));
}

TEST_F(DirectCommandTest, EntersTheVenvOfTheJob) {
  Folder("lab/bin");
  ASSERT_TRUE(base::WriteFileAtomic(home_.path() / "lab/bin/activate", "IN=venv\n").ok());
  ASSERT_TRUE(base::WriteFileAtomic(home_.path() / "lab/bin/python", "", 0700).ok());
  core::JobSpec spec;
  spec.env_type = core::EnvType::kVenv;
  spec.venv.name = "lab";
  EXPECT_EQ(RunIn({.line = "echo $IN"}, {}, "", spec).out, "venv\n");
  EXPECT_EQ(RunIn({.line = "#!/bin/false\necho $IN"}, {}, "", spec).out, "venv\n")
      << "a line for the shell, and no file";
}

/// What precedes the command is in a file that is gone when the command begins.
TEST_F(DirectCommandTest, LeavesStdinToATerminal) {
  const auto call = CallOnTerminal({.line = "echo $RATE; pwd; cat; ls \"$FILE\""}, {},
                                   {.workdir = "/", .env = {{"RATE", "0.1"}}});
  ASSERT_TRUE(call.ok());
  const auto put = Run("/bin/sh", call->put, call->content);
  EXPECT_EQ(put.exit_code, 0) << put.err;
  ASSERT_THAT(put.out, testing::MatchesRegex("jobman-file /.*/jobman-tty\\.......\n"));
  const std::string path = put.out.substr(12, put.out.size() - 13);
  EXPECT_EQ(base::ReadFile(path).value_or(""), call->content);
  const auto ran = Run("bash", "export FILE=" + path + "; " + call->LineFor(path), "typed\n");
  EXPECT_EQ(ran.out, "0.1\n/\ntyped\n");
  EXPECT_THAT(ran.err, HasSubstr(path)) << "it is gone";
}

TEST_F(DirectCommandTest, ADetachedScriptIsForAShellWhateverItBeginsWith) {
  EXPECT_EQ(Run("/bin/sh", DetachedScript({.line = "#!/bin/no\necho up"}, nullptr)).out, "up\n");
  const std::string clean = DetachedScript({.line = "true", .clean_libtpu = true}, nullptr);
  EXPECT_THAT(clean, HasSubstr("/tmp/libtpu_lockfile"));
}

}  // namespace
}  // namespace jobman::remote
