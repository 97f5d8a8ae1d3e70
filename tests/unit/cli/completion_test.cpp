#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "jobman/base/strings.hpp"
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

  /// The output of a shell command, and its exit status.
  static std::pair<std::string, int> Shell(const std::string& line) {
    std::FILE* pipe = ::popen((line + " 2>&1").c_str(), "r");
    if (pipe == nullptr) return {"popen failed", -1};
    std::string text(4096, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), pipe));
    return {text, ::pclose(pipe)};
  }

  /// The program's answer to a shell that completes the last of `words`, such as "list logs".
  std::string Answer(const std::vector<std::string>& words) {
    std::vector<std::string> args = {"__complete"};
    args.insert(args.end(), words.begin(), words.end());
    const auto ended = world_.Run(args);
    EXPECT_EQ(ended.exit_code, 0) << ended.err;
    std::string text = " ";
    for (const std::string& line : base::Split(ended.out, '\n'))
      text += line.substr(0, line.find('\t')) + " ";
    return text;
  }

  CliWorld world_;
};

TEST_F(Completion, EachShellReadsItsScript) {
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    const std::string script = Script(shell);
    if (Shell("command -v " + shell).second != 0) {
      std::printf("%s is not installed: its script is not read\n", shell.c_str());
      continue;  // bash is on every machine that builds jobman
    }
    const auto [said, status] = Shell(shell + " -n " + script);
    EXPECT_EQ(status, 0) << shell << ": " << said;
  }
}

TEST_F(Completion, CommandsOptionsAndTheirValues) {
  EXPECT_EQ(Answer({"l"}), " list logs  ");
  EXPECT_EQ(Answer({"logs", "--f"}), " --follow --fold  ");
  EXPECT_EQ(Answer({"logs", "--ti"}), " --timestamps  ");
  EXPECT_EQ(Answer({"logs", "-s", "SUC"}), " SUCCEEDED  ");
  EXPECT_THAT(Answer({"ls", "--j"}), HasSubstr(" --json ")) << "an alias, and a global option";
  EXPECT_THAT(Answer({"completion", "f"}), HasSubstr(" fish "));
  EXPECT_THAT(Answer({"history", "1", "--kind", "st"}), HasSubstr(" state "));
  EXPECT_EQ(Answer({"history", "-k", ""}), " state effect host wish slice note hook  ");
  EXPECT_EQ(Answer({"history", "-k", "state,ho"}), " state,host state,hook  ");
  EXPECT_THAT(Answer({"config", "ch"}), HasSubstr(" check "));
  EXPECT_THAT(Answer({"config", "check", "--s"}), HasSubstr(" --set "));
  EXPECT_THAT(Answer({"config", "show", "--zone"}), Not(HasSubstr("--zone")))
      << "not list's option";
  EXPECT_THAT(Answer({"create", ""}), HasSubstr(" :files "));
  EXPECT_THAT(Answer({}), HasSubstr(" create "));
  EXPECT_THAT(world_.Run({"__complete", "hist"}).out, StartsWith("history\tThe journal"));
}

TEST_F(Completion, JobsByNumberAndByName) {
  world_.fill = [](MemoryStore& store) {
    for (const char* name : {"train", "train", "eval"})
      EXPECT_TRUE(store.Create(core::Job{.name = name}, "", {}).ok());
  };
  EXPECT_EQ(Answer({"logs", ""}), " 000001 000002 000003 eval train  ");
  EXPECT_EQ(Answer({"--endpoint", "list", "show", "t"}), " train  ");
  EXPECT_EQ(Answer({"edit", "1", ""}), "  ") << "it takes one";
  EXPECT_EQ(Answer({"logs", "1", "e"}), " eval  ");
  EXPECT_EQ(Answer({"wait", "1", "e"}), " eval  ");
  EXPECT_EQ(Answer({"exec", "1", "--", ""}), "  ") << "a command of the hosts";
}

TEST_F(Completion, DeletedJobsAreOnlyToBeCleaned) {
  world_.fill = [](MemoryStore& store) {
    core::Job gone{.name = "gone"};
    gone.state = core::Done{.outcome = core::Outcome::kDeleted};
    for (const core::Job& job : {gone, core::Job{.name = "train"}})
      EXPECT_TRUE(store.Create(job, "", {}).ok());
  };
  EXPECT_EQ(Answer({"logs", ""}), " 000002 train  ");
  EXPECT_EQ(Answer({"clean", ""}), " 000001 000002 gone train  ");
}

TEST_F(Completion, StagesStatesAndKeys) {
  world_.fill = [](MemoryStore& store) {
    core::Job job{.name = "train"};
    job.spec.setup = {{.name = "install"}, {.name = "data"}};
    EXPECT_TRUE(store.Create(job, "", {}).ok());
  };
  EXPECT_EQ(Answer({"logs", "train", "--stage", ""}), " install data run  ");
  EXPECT_EQ(Answer({"logs", "tr*", "--stage", ""}), " install data run  ");
  EXPECT_EQ(Answer({"logs", "--stage", ""}), "  ") << "of which job?";
  EXPECT_EQ(Answer({"list", "-s", "SUC"}), " SUCCEEDED  ");
  EXPECT_EQ(Answer({"list", "--status", "running,fai"}), " running,failed  ");
  EXPECT_THAT(Answer({"wait", "1", "--for", "D"}), HasSubstr(" DONE "));
  EXPECT_THAT(Answer({"create", "--set", "tpu.zo"}), HasSubstr(" tpu.zone= "));
  EXPECT_EQ(Answer({"create", "--set", "setup"}), "  ") << "a list has no one value";
  EXPECT_THAT(Answer({"config", "explain", "setup"}), HasSubstr(" setup[].run "));
}

TEST_F(Completion, BashOffersTheProgramsAnswers) {
  const std::string script = Script("bash");
  const auto offer = [&](const std::string& answer) {
    return Shell("bash -c 'jobman() { local IFS=\" \"; printf \"" + answer +
                 "\" \"$*\"; }; source " + script +
                 "; COMP_WORDS=(jobman logs \"\"); COMP_CWORD=2; _jobman; echo "
                 "\"<${COMPREPLY[*]}>\"'")
        .first;
  };
  EXPECT_EQ(offer("000041\\ttrain, RUNNING\\ntrain\\tthe newest\\n"), "<000041 train>\n");
  EXPECT_EQ(offer("%s\\t\\n"), "<__complete logs >\n") << "the word at the cursor, too";
}

TEST_F(Completion, ZshCompletesACommandAtTheFirstTab) {
  if (Shell("command -v zsh").second != 0) GTEST_SKIP() << "zsh is not installed";
  const auto folder = world_.paths().home / "functions";
  std::filesystem::create_directory(folder);
  std::filesystem::copy_file(Script("zsh"), folder / "_jobman");
  const auto driver = world_.paths().home / "driver.zsh";
  // A shell on a terminal of its own; `timeout` ends the wait if no answer comes.
  std::ofstream(driver)
      << "zmodload zsh/zpty\n"
         "zpty shell 'TERM=dumb zsh -f -i'\n"
         "zpty -w shell 'fpath=("
      << folder.string()
      << " $fpath); jobman() { print \"history\\tthe journal\" }; autoload -U compinit; "
         "compinit -u -D; echo rea\"\"dy'\n"
         "zpty -r -m shell said '*ready*'\n"
         "zpty -w -n shell $'jobman hist\\t'\n"
         "zpty -r -m shell said '*jobman hist*ory *' && echo completed\n"
         "zpty -d shell\n";
  EXPECT_THAT(Shell("timeout 60 zsh -f " + driver.string()).first, HasSubstr("completed"));
}

TEST_F(Completion, FishOffersTheProgramsAnswers) {
  if (Shell("command -v fish").second != 0) GTEST_SKIP() << "fish is not installed";
  const std::string script = Script("fish");
  const std::string line = "HOME=" + world_.paths().home.string() +
                           " fish --no-config -c 'source " + script +
                           "; function jobman; printf \"history\\tthe journal\\n\"; end; "
                           "complete -C \"jobman hist\"'";
  EXPECT_THAT(Shell(line).first, StartsWith("history\tthe journal"));
}

}  // namespace
}  // namespace jobman::test
