// ssh.identities on a host: keys and our part of ~/.ssh/config.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "jobman/base/strings.hpp"
#include "jobman/remote/setup_script.hpp"
#include "tests/unit/remote/host_script_fixture.hpp"

namespace jobman::remote {
namespace {

using testing::HasSubstr;
using testing::Not;

class IdentitiesTest : public HostScriptTest {
 protected:
  Ended Step() {
    RunOrder order{.run_id = "i" + std::to_string(++runs_),
                   .script = SetupScript(spec_, core::SetupStage{}),
                   .secrets = secrets_};
    return host.Run(order);
  }
  std::string InSsh(const std::string& name) { return Slurp(host.home() / ".ssh" / name); }
  mode_t ModeOf(const std::string& name) {
    struct stat info {};
    EXPECT_EQ(stat((host.home() / ".ssh" / name).c_str(), &info), 0) << name;
    return info.st_mode & 0777U;
  }

  core::JobSpec spec_{
      .ssh = {.identities = {{.private_key = "/home/ada/.ssh/pod key",
                              .public_key = "/home/ada/.ssh/pod key.pub",
                              .config_entry = "Host 10.*\n  IdentityFile \"~/.ssh/pod key\"",
                              .authorize = true}}}};
  std::map<std::string, std::string> secrets_ = {
      {"JOBMAN_IDENTITY_0", "-----BEGIN-----\nit's $SECRET\n-----END-----"},
      {"JOBMAN_IDENTITY_0_PUBLIC", "ssh-ed25519 AAAA ada@laptop"}};

 private:
  int runs_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Shells, IdentitiesTest, HostsShell(), ShellName);

class IdentitiesInEveryShell : public IdentitiesTest {};
INSTANTIATE_TEST_SUITE_P(Shells, IdentitiesInEveryShell, EveryShell(), ShellName);

TEST_P(IdentitiesTest, AreInstalledForTheirOwnerAlone) {
  const Ended step = Step();
  EXPECT_THAT(step.err, HasSubstr("exited 0")) << step.out;
  EXPECT_EQ(InSsh("pod key"), secrets_["JOBMAN_IDENTITY_0"] + "\n");
  EXPECT_EQ(InSsh("pod key.pub"), "ssh-ed25519 AAAA ada@laptop\n");
  EXPECT_EQ(InSsh("authorized_keys"), "ssh-ed25519 AAAA ada@laptop\n");
  EXPECT_EQ(ModeOf("pod key"), 0600U);
  EXPECT_EQ(ModeOf("pod key.pub"), 0644U);
  EXPECT_EQ(ModeOf("config"), 0600U);
  EXPECT_THAT(step.out, Not(HasSubstr("SECRET")));
  EXPECT_THAT(Slurp(host.RunDir("i1") / "command"), Not(HasSubstr("SECRET")));
}

TEST_P(IdentitiesTest, APublicKeyKeepsItsOwnName) {
  spec_.ssh.identities[0].public_key = "/home/ada/keys/it's other.pub";
  const Ended step = Step();
  EXPECT_THAT(step.err, HasSubstr("exited 0")) << step.out;
  EXPECT_EQ(InSsh("it's other.pub"), "ssh-ed25519 AAAA ada@laptop\n");
  EXPECT_EQ(ModeOf("it's other.pub"), 0644U);
  EXPECT_FALSE(std::filesystem::exists(host.home() / ".ssh/pod key.pub"));
  EXPECT_EQ(InSsh("authorized_keys"), "ssh-ed25519 AAAA ada@laptop\n");
}

TEST_P(IdentitiesTest, APublicKeyOfAnOldJobTakesNoOtherFilesPlace) {
  for (const char* const name : {"config", "authorized_keys", "pod key"}) {
    spec_.ssh.identities[0].public_key = std::string("/home/ada/keys/") + name;
    EXPECT_THAT(SetupScript(spec_, core::SetupStage{}), HasSubstr("pod key.pub")) << name;
  }
}

TEST_P(IdentitiesTest, AKeyWithoutAPublicHalfComesAlone) {
  spec_.ssh.identities[0].public_key = "";
  spec_.ssh.identities[0].authorize = false;
  secrets_.erase("JOBMAN_IDENTITY_0_PUBLIC");
  const Ended step = Step();
  EXPECT_THAT(step.err, HasSubstr("exited 0")) << step.out;
  EXPECT_EQ(ModeOf("pod key"), 0600U);
  EXPECT_FALSE(std::filesystem::exists(host.home() / ".ssh/pod key.pub"));
  EXPECT_FALSE(std::filesystem::exists(host.home() / ".ssh/authorized_keys"));
}

TEST_P(IdentitiesInEveryShell, KeepWhatIsThere) {
  std::filesystem::create_directory(host.home() / ".ssh");
  std::ofstream(host.home() / ".ssh/config") << "Host own\n  User me\n";
  std::ofstream(host.home() / ".ssh/authorized_keys") << "ssh-rsa BBBB login\n";
  Step();
  const std::string config = InSsh("config");
  EXPECT_EQ(config,
            "# jobman: begin\nHost 10.*\n  IdentityFile \"~/.ssh/pod key\"\nHost *\n"
            "# jobman: end\nHost own\n  User me\n");
  Step();
  EXPECT_EQ(InSsh("config"), config) << "once";
  EXPECT_EQ(InSsh("authorized_keys"), "ssh-rsa BBBB login\nssh-ed25519 AAAA ada@laptop\n");
  spec_.ssh.identities[0].config_entry = "";
  Step();
  EXPECT_EQ(InSsh("config"), "Host own\n  User me\n");
}

TEST_P(IdentitiesTest, AKeyThatDidNotArriveIsAFailure) {
  secrets_.erase("JOBMAN_IDENTITY_0");
  const Ended step = Step();
  EXPECT_THAT(step.err, HasSubstr("exited 1"));
  EXPECT_THAT(step.out, HasSubstr("the key pod key did not arrive"));
}

TEST(StageFiles, AreThoseOfTheIdentitiesAlone) {
  core::JobSpec spec{
      .ssh = {.identities = {{.private_key = "/a"}, {.private_key = "/b", .public_key = "/b.pub"}}},
      .setup = {{.name = "mine", .run = "true"}}};
  EXPECT_EQ(FilesOf(spec, core::SetupStage{0}),
            (std::vector<StageFile>{{"JOBMAN_IDENTITY_0", "/a"},
                                    {"JOBMAN_IDENTITY_1", "/b"},
                                    {"JOBMAN_IDENTITY_1_PUBLIC", "/b.pub"}}));
  EXPECT_TRUE(FilesOf(spec, core::SetupStage{1}).empty());
  EXPECT_TRUE(FilesOf(spec, core::CommandStage{}).empty());
}

TEST(SetupScript, ThatOfTheUserIsItself) {
  core::JobSpec spec{.setup = {{.name = "mine", .run = "echo hi"}}};
  EXPECT_EQ(SetupScript(spec, core::SetupStage{0}), "echo hi");
  spec.setup[0].strict = true;
  EXPECT_THAT(SetupScript(spec, core::SetupStage{0}), testing::EndsWith("; echo hi"))
      << "on its own first line";
  spec.setup[0].run = "#!/usr/bin/env python3\nprint('hi')";
  EXPECT_EQ(SetupScript(spec, core::SetupStage{0}), spec.setup[0].run)
      << "another interpreter reads it";
}

TEST(CommandScript, WithoutACommandTheSliceIsHeld) {
  EXPECT_EQ(CommandScript({.command = {.cmd = "train"}}), "train");
  EXPECT_THAT(CommandScript({}), HasSubstr("while :; do sleep"));
}

}  // namespace
}  // namespace jobman::remote
