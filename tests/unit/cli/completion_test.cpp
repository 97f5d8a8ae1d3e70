#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "tests/support/cli_world.hpp"

namespace jobman::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class Completion : public testing::Test {
 protected:
  std::string Script(const std::string& shell) {
    const auto ended = world_.Run({"completion", shell});
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    const auto path = world_.paths().home / ("jobman." + shell);
    std::ofstream(path) << ended.out;
    return path.string();
  }

  /// What a command line of the system's prints, and its exit status.
  static std::pair<std::string, int> Shell(const std::string& line) {
    std::FILE* pipe = ::popen((line + " 2>&1").c_str(), "r");
    if (pipe == nullptr) return {"popen failed", -1};
    std::string text(4096, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), pipe));
    return {text, ::pclose(pipe)};
  }

  /// What bash offers for the last of `words`; `jobman list` is played by a function.
  std::string Offer(const std::string& words) {
    const std::string script = Script("bash");
    return Shell("bash -c 'jobman() { echo 000041; }; source " + script + "; COMP_WORDS=(" + words +
                 "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _jobman; echo \" ${COMPREPLY[*]} \"'")
        .first;
  }

  CliWorld world_;
};

TEST_F(Completion, EachShellReadsItsScript) {
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    const std::string script = Script(shell);
    if (Shell("command -v " + shell).second != 0) {
      std::printf("%s is not installed: its script is not read\n", shell.c_str());
      continue;  // bash is everywhere we build
    }
    const auto [said, status] = Shell(shell + " -n " + script);
    EXPECT_EQ(status, 0) << shell << ": " << said;
  }
}

TEST_F(Completion, BashOffersCommandsOptionsJobsAndValues) {
  EXPECT_THAT(Offer("jobman l"), HasSubstr(" list logs "));
  EXPECT_THAT(Offer("jobman logs --f"), HasSubstr(" --follow --fold "));
  EXPECT_THAT(Offer("jobman logs \"\""), HasSubstr(" 000041 "));
  EXPECT_THAT(Offer("jobman --home list show \"\""), HasSubstr(" 000041 "));
  EXPECT_THAT(Offer("jobman ls --j"), HasSubstr(" --json ")) << "an alias, and a global option";
  EXPECT_THAT(Offer("jobman completion f"), HasSubstr(" fish "));
  EXPECT_THAT(Offer("jobman history 1 --kind st"), HasSubstr(" state "));
  EXPECT_THAT(Offer("jobman config ch"), HasSubstr(" check "));
  EXPECT_THAT(Offer("jobman config check --s"), HasSubstr(" --set "));
  EXPECT_THAT(Offer("jobman config show --zone"), Not(HasSubstr("--zone"))) << "not list's option";
}

TEST_F(Completion, ZshCompletesACommandAtTheFirstTab) {
  if (Shell("command -v zsh").second != 0) GTEST_SKIP() << "zsh is not installed";
  const auto folder = world_.paths().home / "functions";
  std::filesystem::create_directory(folder);
  std::filesystem::copy_file(Script("zsh"), folder / "_jobman");
  const auto driver = world_.paths().home / "driver.zsh";
  // A shell on a terminal of its own; its answer is awaited, and `timeout` ends a wait in vain.
  std::ofstream(driver) << "zmodload zsh/zpty\n"
                           "zpty shell 'TERM=dumb zsh -f -i'\n"
                           "zpty -w shell 'fpath=("
                        << folder.string()
                        << " $fpath); autoload -U compinit; compinit -u -D; echo rea\"\"dy'\n"
                           "zpty -r -m shell said '*ready*'\n"
                           "zpty -w -n shell $'jobman hist\\t'\n"
                           "zpty -r -m shell said '*jobman hist*ory *' && echo completed\n"
                           "zpty -d shell\n";
  EXPECT_THAT(Shell("timeout 60 zsh -f " + driver.string()).first, HasSubstr("completed"));
}

TEST_F(Completion, FishCompletesCommandsOptionsAndValues) {
  if (Shell("command -v fish").second != 0) GTEST_SKIP() << "fish is not installed";
  const std::string script = Script("fish");
  const auto offer = [&](const std::string& line) {
    return Shell("HOME=" + world_.paths().home.string() + " fish --no-config -c 'source " + script +
                 "; complete -C \"" + line + "\"'")
        .first;
  };
  EXPECT_THAT(offer("jobman hist"), StartsWith("history\t"));
  EXPECT_THAT(offer("jobman completion f"), HasSubstr("fish"));
  EXPECT_THAT(offer("jobman config check --se"), StartsWith("--set\t"));
  EXPECT_EQ(offer("jobman config show --zon"), "") << "not list's option";
}

TEST_F(Completion, EveryCommandIsInEveryScript) {
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    const std::string script = world_.Run({"completion", shell}).out;
    for (const cli::Command& command : cli::Commands())
      EXPECT_THAT(script, HasSubstr(std::string(command.name))) << shell;
  }
}

}  // namespace
}  // namespace jobman::test
