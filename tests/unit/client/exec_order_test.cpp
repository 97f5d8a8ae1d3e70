#include "jobman/client/exec_order.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/job_builder.hpp"
#include "tests/support/temp_dir.hpp"

namespace jobman::client {
namespace {

TEST(CommandLine, OneWordIsALineAndSeveralAreQuoted) {
  EXPECT_EQ(CommandLine({"a && b | c"}), "a && b | c");
  EXPECT_EQ(CommandLine({"X=1"}), "X=1");
  EXPECT_EQ(CommandLine({"ls", "my file"}), "ls 'my file'");
  EXPECT_EQ(CommandLine({"X=1 2", "Y=", "python", "a=b"}), "env 'X=1 2' 'Y=' python 'a=b'");
  EXPECT_EQ(CommandLine({"1=2", "x"}), "'1=2' x") << "no name of a variable";
}

TEST(ExecOrder, TheFolderIsEnteredFirst) {
  core::Job job = test::JobBuilder().Build();
  EXPECT_EQ(LineFor(job, {.words = {"ls"}}), "ls");
  EXPECT_EQ(LineFor(job, {.words = {"ls"}, .workdir = "/mnt/my disk"}),
            "cd '/mnt/my disk' || exit 126; ls");
  EXPECT_EQ(LineFor(job, {.words = {"ls"}, .workdir = "~/my code"}),
            "cd ~/'my code' || exit 126; ls");
  EXPECT_EQ(LineFor(job, {.words = {"ls"}, .workdir = "-x"}), "cd ./-x || exit 126; ls");
  job.spec.code.path = "~/code";
  EXPECT_EQ(LineFor(job, {.words = {"ls"}, .workdir = ""}), "cd ~/code || exit 126; ls");
  job.spec.command.workdir = "~/other";
  EXPECT_EQ(LineFor(job, {.words = {"ls"}, .workdir = ""}), "cd ~/other || exit 126; ls");
  job.spec.env_type = core::EnvType::kDocker;
  EXPECT_EQ(JobFolder(job), "~/code") << "the other is in the container";
}

/// As podrun -w does.
TEST(ExecOrder, AJobWithoutAFolderTakesTheSameAsHere) {
  const core::Job job = test::JobBuilder().Build();
  const test::TempDir home;
  const base::Path before = std::filesystem::current_path();
  const std::string old_home = base::HomeDir().string();
  ::setenv("HOME", home.path().c_str(), 1);
  std::filesystem::create_directories(home.path() / "lab/run");
  std::filesystem::current_path(home.path() / "lab/run");
  EXPECT_EQ(JobFolder(job), "~/lab/run");
  std::filesystem::current_path(home.path());
  EXPECT_EQ(JobFolder(job), "~");
  std::filesystem::current_path("/usr");
  EXPECT_EQ(JobFolder(job), "/usr");
  std::filesystem::current_path(before);
  ::setenv("HOME", old_home.c_str(), 1);
}

TEST(ExecOrder, CleaningComesRightBeforeTheCommand) {
  const std::string line =
      LineFor(test::JobBuilder().Build(),
              {.words = {"python", "train.py"}, .workdir = "~/code", .clean_libtpu = true});
  EXPECT_TRUE(line.starts_with("cd ~/code || exit 126; sh -c 'exec </dev/null; rm -rf ")) << line;
  EXPECT_TRUE(line.ends_with("/tmp/tpu_logs'; python train.py")) << line;
}

}  // namespace
}  // namespace jobman::client
