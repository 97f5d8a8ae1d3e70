// The step of the section docker, with a real daemon and a registry on the loopback interface.
#include <algorithm>
#include <fstream>

#include "tests/unit/remote/docker_fixture.hpp"

namespace jobman::remote {
namespace {

using testing::HasSubstr;

class SetupDockerTest : public DockerTest {
 protected:
  Ended Step(const std::string& image) {
    spec.docker.image = image;
    return host.Run({.run_id = "s" + std::to_string(++runs_),
                     .script = InOwnShell(SetupScript(spec, core::SetupStage{})),
                     .env = {{"JOBMAN_NET_TRIES", "2"}, {"JOBMAN_NET_PAUSE_S", "0"}}});
  }
  /// How often the registry was asked since the last call.
  static int Requests() {
    const std::string text = Slurp(folder_ + "/asked");
    std::ofstream(folder_ + "/asked") << "";
    return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
  }
  static std::string AtRegistry(const std::string& image) {
    return registry_->Url().substr(std::string("http://").size()) + "/" + image;
  }

 private:
  int runs_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Shells, SetupDockerTest, HostsShell(), ShellName);

class SetupDockerInEveryShell : public SetupDockerTest {};
INSTANTIATE_TEST_SUITE_P(Shells, SetupDockerInEveryShell, EveryShell(), ShellName);

TEST_P(SetupDockerInEveryShell, AnImageIsPulledOnce) {
  const std::string image = AtRegistry("box/" + ShellName({GetParam(), 0}) + ":1");
  Requests();
  EXPECT_THAT(Step(image), EndedSaying(0, image));
  EXPECT_GT(Requests(), 0);
  EXPECT_EQ(Step(image).err, "jobman: running\njobman: exited 0\n");
  EXPECT_EQ(Requests(), 0) << "it is there";
}

TEST_P(SetupDockerTest, AnImageIsPulledOncePerDigest) {
  const std::string image =
      AtRegistry("box/by-" + ShellName({GetParam(), 0}) + "@" + Slurp(folder_ + "/digest"));
  EXPECT_THAT(Step(image), EndedSaying(0, image));
  Requests();
  EXPECT_EQ(Step(image).out, "");
  EXPECT_EQ(Requests(), 0);
}

TEST_P(SetupDockerTest, GooglesRegistriesGetTheTokenOfTheMachine) {
  const std::string image = "eu-docker.pkg.dev/p/box/" + ShellName({GetParam(), 0}) + ":1";
  EXPECT_THAT(Step(image), EndedSaying(1, "Artifact Registry Reader"));
  host.env["GCE_METADATA_HOST"] = registry_->Url().substr(std::string("http://").size());
  const Ended ended = Step(image);
  EXPECT_THAT(ended, EndedSaying(0, image));
  EXPECT_THAT(ended.out, testing::Not(HasSubstr("the-token")));
  EXPECT_FALSE(std::filesystem::exists(host.home() / ".docker")) << "the login was kept";
}

TEST_P(SetupDockerTest, AnImageThatDoesNotExistIsTheJobFilesFault) {
  EXPECT_THAT(Step(AtRegistry("none:1")), EndedSaying(1, "correct docker.image in the job file"));
  EXPECT_THAT(Step(AtRegistry("secret/x:1")), EndedSaying(1, "not you: is "));
}

TEST_P(SetupDockerTest, ARegistryThatDoesNotAnswerIsTheNetworksFault) {
  EXPECT_THAT(Step("127.0.0.1:1/x:1"), EndedSaying(75, "failed 2 times"));
}

TEST_P(SetupDockerTest, AFullDiskIsNamed) {
  const DockerDaemon small("", "size=1m");
  if (small.Docker("version -f '{{.Server.Version}}'").empty())
    GTEST_SKIP() << "no daemon on a small disk: " << small.LastWords();
  host.env["DOCKER_HOST"] = small.Address();
  EXPECT_THAT(Step(AtRegistry("box/full:1")),
              EndedSaying(1, "(" + small.Folder("data") + "): use a smaller image"));
}

TEST_P(SetupDockerTest, ADaemonOfTheUsersThatIsDownIsNamed) {
  host.env["DOCKER_HOST"] = "unix:///nonexistent";
  EXPECT_THAT(Step("box"), EndedSaying(1, "DOCKER_HOST is unix:///nonexistent on the hosts"));
}

/// The machine's own daemon, as far as `docker` can tell: the context of this home names it. The
/// program `service` starts it.
TEST_P(SetupDockerTest, TheMachinesDaemonIsStarted) {
  if (std::filesystem::exists("/run/systemd/system")) GTEST_SKIP() << "systemd would start its own";
  std::string command;
  {
    const DockerDaemon down;
    command = base::ReplaceAll(down.Command(), down.Folder(""), host.home().string() + "/");
  }
  host.env.erase("DOCKER_HOST");
  const std::string docker = "HOME=" + host.home().string() + " docker context ";
  OutputOf(docker + "create own --docker host=unix://" + (host.home() / "socket").string() +
           " && " + docker + "use own");
  std::ofstream(host.home() / ".profile") << "PATH=$HOME/shell:$PATH\n";
  const base::Path service = host.home() / "shell/service";
  std::ofstream(service) << "#!/bin/sh\n[ \"$*\" = 'docker start' ] || exit 1\n"
                         << "JOBMAN_RUN_DIR= setsid setsid " << command << " >~/log 2>&1 &\n";
  std::filesystem::permissions(service, std::filesystem::perms::owner_all);
  EXPECT_THAT(Step(AtRegistry("none:1")), EndedSaying(1, "manifest unknown"))
      << Slurp(host.home() / "log");
  const pid_t pid = PidIn("pid");
  Signal(pid, SIGTERM);
  EXPECT_TRUE(Eventually([&] { return !IsAlive(pid); }));
  OutputOf("umount " + (host.home() / "exec/netns/default").string() + " 2>/dev/null");
}

}  // namespace
}  // namespace jobman::remote
