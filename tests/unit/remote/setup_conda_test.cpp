// The step of the section conda and the command in its environment. conda is played by a program
// that makes real environments, and comes from the installer that the step fetches.
#include "tests/unit/remote/conda_fake.hpp"
#include "tests/unit/remote/environment_fixture.hpp"

namespace jobman::remote {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

/// Serves what is in the folder.
std::string ServeFolder(const base::Path& folder) {
  return "os.chdir(\"" + folder.string() + "\")\nserve(http.server.SimpleHTTPRequestHandler)";
}

class SetupCondaTest : public EnvironmentTest {
 protected:
  void SetUp() override {
    EnvironmentTest::SetUp();
    if (IsSkipped()) return;
    if (access("/opt/conda/bin/conda", X_OK) == 0) GTEST_SKIP() << "this machine has a conda";
    if (std::system("command -v curl >/dev/null") != 0) GTEST_SKIP() << "curl is not installed";
    for (const char* folder : {"web", "channel", "package"})
      std::filesystem::create_directory(host.home() / folder);
    Serve(std::string(kCondaInstaller) + kCondaFake);
    Package("tiny");
    Package("other");
    env["JOBMAN_CONDA_URL"] = "http://127.0.0.1:1/installer.sh";
    spec.env_type = core::EnvType::kConda;
    spec.conda = {.name = "train", .config_file = File({"tiny"})};
  }
  void Serve(const std::string& installer) {
    std::ofstream(host.home() / "web/installer.sh") << installer;
  }
  /// A package of that name in the channel: one module.
  void Package(const std::string& name) {
    std::ofstream(host.home() / (name + ".py")) << "";
    Sh("cd " + host.home().string() + " && /usr/bin/python3 -I -m zipfile -c channel/" + name +
       "-1.0.zip " + name + ".py && rm " + name + ".py");
  }
  std::string File(const std::vector<std::string>& packages, const std::string& channel = "") {
    std::string text = "name: of_the_file\nchannels:\n  - " +
                       (channel.empty() ? InHome("channel") : channel) + "\ndependencies:\n";
    for (const std::string& name : packages) text += "  - " + name + "\n";
    return text;
  }
  /// An installation of the user's own.
  void Install(const std::string& folder, const std::string& program = "conda") {
    std::filesystem::create_directories(host.home() / folder / "bin");
    std::filesystem::create_directories(host.home() / folder / "envs");
    WriteProgram(host.home() / folder / "bin" / program, kCondaFake);
  }
  std::string Calls(const std::string& folder) { return Slurp(host.home() / folder / "calls"); }
  bool Imports(const std::string& name) {
    return Command("python -c 'import " + name + "' 2>/dev/null && echo yes").out == "yes\n";
  }
};

INSTANTIATE_TEST_SUITE_P(Shells, SetupCondaTest, HostsShell(), ShellName);

class SetupCondaInEveryShell : public SetupCondaTest {};
INSTANTIATE_TEST_SUITE_P(Shells, SetupCondaInEveryShell, EveryShell(), ShellName);

TEST_P(SetupCondaInEveryShell, MinicondaIsInstalledWhereThereIsNoConda) {
  const LoopbackServer web(ServeFolder(host.home() / "web"));
  env["JOBMAN_CONDA_URL"] = web.Url() + "/installer.sh";
  EXPECT_THAT(Step(), EndedSaying(0, "the conda environment train is made, in " +
                                         InHome("miniconda/envs/train")));
  EXPECT_TRUE(Imports("tiny"));
  EXPECT_EQ(Command("echo $CONDA_DEFAULT_ENV; command -v python", false).out,
            "train\n" + InHome("miniconda/envs/train/bin/python") + "\n");
  EXPECT_THAT(Leftovers(), IsEmpty());
}

TEST_P(SetupCondaTest, AnInstallerOutOfReachIsTheNetworksFault) {
  EXPECT_THAT(Step(), EndedSaying(75, "installing Miniconda failed 2 times"));
  EXPECT_THAT(Leftovers(), IsEmpty());
}

TEST_P(SetupCondaTest, HalfAnInstallerIsFetchedAgain) {
  const LoopbackServer web(ServeFolder(host.home() / "web"));
  env["JOBMAN_CONDA_URL"] = web.Url() + "/installer.sh";
  Serve("");
  EXPECT_THAT(Step(), EndedSaying(75, "installing Miniconda failed 2 times"));
  Serve(kCondaInstaller);
  EXPECT_THAT(Step(), EndedSaying(75, "installing Miniconda failed 2 times")) << "conda is empty";
  Serve(std::string(kCondaInstaller) + kCondaFake);
  EXPECT_THAT(Step(), EndedSaying(0, "the conda environment train is made"));
}

TEST_P(SetupCondaTest, AnInstallerThatIsNotThereIsNotFetchedAgain) {
  const LoopbackServer web(ServeFolder(host.home() / "web"));
  env["JOBMAN_CONDA_URL"] = web.Url() + "/other.sh";
  const Ended ended = Step();
  EXPECT_THAT(ended, EndedSaying(1, "is not to be had (HTTP 404): install conda on the hosts"));
  EXPECT_THAT(ended.out, Not(HasSubstr("again in")));
}

TEST_P(SetupCondaTest, ASecondStepDoesNotCallConda) {
  Install("miniconda3");
  Step();
  const std::string calls = Calls("miniconda3");
  EXPECT_THAT(Step(), EndedSaying(0, "the conda environment train is up to date"));
  EXPECT_EQ(Calls("miniconda3"), calls);
}

TEST_P(SetupCondaTest, AChangedFileUpdatesTheEnvironment) {
  Install("miniforge3");
  Step();
  spec.conda.config_file = File({"other"});
  EXPECT_THAT(Step(), EndedSaying(0, "the conda environment train is made"));
  EXPECT_THAT(Calls("miniforge3"), HasSubstr("env update -n train -f " +
                                             InHome(".jobman-conda-train.yml") + " --prune\n"));
  EXPECT_TRUE(Imports("other"));
  EXPECT_FALSE(Imports("tiny"));
}

TEST_P(SetupCondaTest, AnEnvironmentOfTheUserKeepsItsPackages) {
  Install("miniconda");
  std::ofstream(host.home() / "mine.yml") << File({"other"});
  Sh(InHome("miniconda/bin/conda") + " env create -n train -f " + InHome("mine.yml"));
  EXPECT_THAT(Step(), EndedSaying(0, "the conda environment train is made"));
  EXPECT_TRUE(Imports("other"));
  EXPECT_TRUE(Imports("tiny"));
}

TEST_P(SetupCondaTest, MicromambaIsSpokenToInItsWords) {
  Install("micro", "micromamba");
  env["PATH"] = InHome("micro/bin") + ":/usr/bin:/bin";
  EXPECT_THAT(Step(), EndedSaying(0, "the conda environment train is made"));
  spec.conda.config_file = File({"other"});
  EXPECT_THAT(Step(), EndedSaying(0, "the conda environment train is made"));
  EXPECT_TRUE(Imports("other"));
  EXPECT_FALSE(Imports("tiny"));
}

TEST_P(SetupCondaTest, AWrongFileIsTriedOnceAndShownLast) {
  Install("miniconda");
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {File({"tiny", "missing"}), "PackagesNotFoundError"}, {"a b c\n", "ParserError"}};
  for (const auto& [text, error] : wrong) {
    spec.conda.config_file = text;
    const Ended ended = Step();
    EXPECT_THAT(ended, EndedSaying(1, "cannot be installed, see above: correct the file"));
    EXPECT_THAT(ended.out, HasSubstr(error));
    EXPECT_THAT(ended.out, Not(HasSubstr("again in")));
  }
  EXPECT_THAT(Leftovers(), IsEmpty());
  spec.conda.config_file = File({"tiny"});
  EXPECT_THAT(Step(), EndedSaying(0, "the conda environment train is made"));
}

TEST_P(SetupCondaTest, AChannelOutOfReachIsTheNetworksFault) {
  Install("miniconda");
  spec.conda.config_file = File({"tiny"}, "http://127.0.0.1:1/channel");
  const Ended ended = Step();
  EXPECT_THAT(ended, EndedSaying(75, "making the conda environment train failed 2 times"));
  EXPECT_THAT(ended.out, HasSubstr("the network is at fault: CondaHTTPError"));
}

TEST_P(SetupCondaTest, TermsOfServiceAreForTheUserToAccept) {
  Install("miniconda");
  std::ofstream(host.home() / "miniconda/terms") << "";
  EXPECT_THAT(Step(),
              EndedSaying(1, "set CONDA_PLUGINS_AUTO_ACCEPT_TOS: \"yes\" in job.environment"));
  env["CONDA_PLUGINS_AUTO_ACCEPT_TOS"] = "yes";
  EXPECT_THAT(Step(), EndedSaying(0, "the conda environment train is made"));
}

/// Killed while it makes the environment, and again while it changes it.
TEST_P(SetupCondaTest, AStepThatWasKilledIsDoneAnew) {
  Install("miniconda");
  for (const char* package : {"tiny", "other"}) {
    const base::Path hangs = host.home() / (std::string("hangs-") + package);
    spec.conda.config_file = File({package});
    RunOrder order = StepOrder();
    order.env["CONDA_TEST_HANG"] = hangs;
    const auto running = host.Start(*RunCall(order, 0));
    ASSERT_TRUE(Eventually([&] { return std::filesystem::exists(hangs); }));
    host.Stop(order.run_id, 0);
    host.Wait(running);
    const Ended ended = Step();
    EXPECT_THAT(ended, EndedSaying(0, "the conda environment train is made"));
    EXPECT_THAT(ended.out, HasSubstr("is incomplete (its setup was interrupted): making it anew"));
    EXPECT_TRUE(Imports(package));
  }
  EXPECT_THAT(Leftovers(), IsEmpty());
}

// --- The command. ---

TEST_P(SetupCondaTest, ACommandWithoutItsEnvironmentFailsWithTheCure) {
  const std::string gone = "the environment train is not there";
  EXPECT_THAT(Command("echo ran"), EndedSaying(1, gone));
  Install("miniconda");
  Step();
  std::filesystem::remove_all(host.home() / "miniconda/envs/train");
  EXPECT_THAT(Command("echo ran", false), EndedSaying(1, gone));
}

TEST_P(SetupCondaTest, ACondaThatDoesNotRunIsKept) {
  Install("miniconda");
  WriteProgram(host.home() / "miniconda/bin/conda", "#!/bin/sh\nexit 1\n");
  std::ofstream(host.home() / "miniconda/envs/mine") << "";
  EXPECT_THAT(Step(), EndedSaying(1, "does not run: repair it, or move it away"));
  EXPECT_TRUE(std::filesystem::exists(host.home() / "miniconda/envs/mine"));
}

TEST_P(SetupCondaTest, TheCommandEndsAsItWouldAlone) {
  Install("miniconda");
  Step();
  EXPECT_THAT(Command("exit 3").err, HasSubstr("jobman: exited 3\n"));
  const Ended script = Command(
      "#!/usr/bin/env python\nimport os, sys\nprint(os.environ['CONDA_PREFIX'])\nsys.exit(5)");
  EXPECT_EQ(script.out, InHome("miniconda/envs/train") + "\n");
  EXPECT_THAT(script.err, HasSubstr("jobman: exited 5\n"));
  for (const bool own_shell : {true, false}) {
    const RunOrder slow = CommandOrder(
        "trap 'echo term; exit 7' TERM; echo ready; while :; do sleep 0.05; done", own_shell);
    const auto running = host.Start(*RunCall(slow, 0));
    ASSERT_TRUE(Eventually([&] { return running.Out() == "ready\n"; }));
    EXPECT_EQ(host.Stop(slow.run_id, 30).exit_code, 7);
    // Between them bash may say that it terminated the sleep.
    EXPECT_THAT(host.Wait(running).out, AllOf(StartsWith("ready\n"), EndsWith("term\n")));
  }
}

}  // namespace
}  // namespace jobman::remote
