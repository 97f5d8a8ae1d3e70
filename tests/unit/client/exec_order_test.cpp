#include "jobman/client/exec_order.hpp"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>

#include "jobman/client/run_on_hosts.hpp"
#include "tests/unit/client/client_world.hpp"

namespace jobman::client {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

TEST(CommandLine, OneWordIsALineAndSeveralAreQuoted) {
  EXPECT_EQ(CommandLine({"a && b | c"}), "a && b | c");
  EXPECT_EQ(CommandLine({"X=1"}), "X=1");
  EXPECT_EQ(CommandLine({"ls", "my file"}), "ls 'my file'");
  EXPECT_EQ(CommandLine({"X=1 2", "Y=", "python", "a=b"}), "env 'X=1 2' 'Y=' python 'a=b'");
  EXPECT_EQ(CommandLine({"1=2", "x"}), "'1=2' x") << "no name of a variable";
}

class ExecOrderTest : public test::ClientWorld {
 protected:
  std::string LineFor(const core::Job& job, const ExecOrder& order) {
    std::vector<ssh::FanOutHost> hosts;
    return Prepare(Context(), job, order, hosts).value_or("refused");
  }
  std::string FolderOf(const core::Job& job) { return JobFolder(Context().paths, job); }
  static core::Job JobOn(int hosts) {
    core::Job job = test::JobBuilder().Build();
    job.attempt = 1;
    return test::WithHosts(std::move(job), hosts);
  }
};

TEST_F(ExecOrderTest, TheFolderIsEnteredFirst) {
  core::Job job = JobOn(1);
  EXPECT_EQ(LineFor(job, {.words = {"ls"}}), "ls");
  EXPECT_EQ(LineFor(job, {.words = {"ls"}, .workdir = "/mnt/my disk"}),
            "cd '/mnt/my disk' || exit 126; ls");
  EXPECT_EQ(LineFor(job, {.words = {"ls"}, .workdir = "~/my code"}),
            "cd ~/'my code' || exit 126; ls");
  EXPECT_EQ(LineFor(job, {.words = {"ls"}, .workdir = "-x"}), "cd ./-x || exit 126; ls");
  job.spec.code.path = "~/code";
  EXPECT_EQ(LineFor(job, {.words = {"ls"}, .workdir = ""}), "cd ~/code || exit 126; ls");
  job.spec.command.workdir = "/mnt/${job.id}";
  EXPECT_EQ(LineFor(job, {.words = {"ls"}, .workdir = ""}), "cd /mnt/000042 || exit 126; ls");
  job.spec.env_type = core::EnvType::kDocker;
  EXPECT_EQ(FolderOf(job), "~/code") << "the other is in the container";
}

/// As podrun -w does.
TEST_F(ExecOrderTest, AJobWithoutAFolderTakesTheSameAsHere) {
  const core::Job job = JobOn(1);
  const base::Path before = std::filesystem::current_path();
  const std::string old_home = base::HomeDir().string();
  const base::Path home = base::RealPath(home_.path());
  ::setenv("HOME", home.c_str(), 1);
  std::filesystem::create_directories(home / "lab/run");
  std::filesystem::current_path(home / "lab/run");
  EXPECT_EQ(FolderOf(job), "~/lab/run");
  auto hosts = ChooseHosts(Context().paths, job, "all").value();
  ASSERT_TRUE(
      Prepare(Context(), job, {.words = {"ls"}, .workdir = "", .job_env = true}, hosts).ok());
  EXPECT_THAT(hosts[0].input(), HasSubstr("cd \"$jm_home\"/lab/run || exit 126"));
  std::filesystem::current_path(home);
  EXPECT_EQ(FolderOf(job), "~");
  std::filesystem::current_path("/usr");
  EXPECT_EQ(FolderOf(job), "/usr");
  std::filesystem::current_path(before);
  ::setenv("HOME", old_home.c_str(), 1);
}

TEST_F(ExecOrderTest, ATerminalHasTheSameFolderAndTheSameHint) {
  core::Job job = JobOn(1);
  const ExecOrder order{.words = {"htop"}, .workdir = "", .job_env = true};
  const auto call = PrepareOnTerminal(Context(), job, order, 0);
  ASSERT_TRUE(call.ok()) << call.error().ToString();
  auto hosts = ChooseHosts(Context().paths, job, "all").value();
  ASSERT_TRUE(Prepare(Context(), job, order, hosts).ok());
  EXPECT_TRUE(call->content.ends_with(hosts[0].input())) << call->content;
  job.spec.command.secrets = {{.name = "JOBMAN_TEST_MISSING"}};
  const auto none = PrepareOnTerminal(Context(), job, order, 0);
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().hint, HasSubstr("export it here"));
}

TEST_F(ExecOrderTest, CleaningComesRightBeforeTheCommand) {
  const std::string line = LineFor(
      JobOn(1), {.words = {"python", "train.py"}, .workdir = "~/code", .clean_libtpu = true});
  EXPECT_TRUE(line.starts_with("cd ~/code || exit 126; sh -c 'exec </dev/null; rm -rf ")) << line;
  EXPECT_TRUE(line.ends_with("/tmp/tpu_logs'; python train.py")) << line;
}

TEST_F(ExecOrderTest, InTheJobsEnvironmentEachHostHasItsVariablesOnItsInput) {
  core::Job job = JobOn(2);
  job.spec.environment = {{"LEVEL", "job"}};
  job.spec.command.env = {{"LEVEL", "command"}};
  job.spec.command.secrets = {{.name = "JOBMAN_TEST_TOKEN"}};
  ::setenv("JOBMAN_TEST_TOKEN", "hush", 1);
  auto hosts = ChooseHosts(Context().paths, job, "all").value();
  const auto line = Prepare(Context(), job, {.words = {"train", "now"}, .job_env = true}, hosts);
  ASSERT_TRUE(line.ok()) << line.error().ToString();
  EXPECT_THAT(*line, Not(AnyOf(HasSubstr("hush"), HasSubstr("train"))));
  EXPECT_THAT(
      hosts[1].input(),
      AllOf(HasSubstr(":export JOBMAN_HOST_INDEX=1\n"), HasSubstr(":export JOBMAN_HOSTS=h0,h1\n"),
            HasSubstr(":export LEVEL=command\n"), HasSubstr(":export JOBMAN_TEST_TOKEN=hush\n"),
            testing::EndsWith(":train now\n.\n")));
  ::unsetenv("JOBMAN_TEST_TOKEN");
  const auto none = Prepare(Context(), job, {.words = {"train"}, .job_env = true}, hosts);
  EXPECT_EQ(none.error().message, "the secret JOBMAN_TEST_TOKEN has no value");
  EXPECT_THAT(none.error().hint, HasSubstr("export it here"));
}

}  // namespace
}  // namespace jobman::client
