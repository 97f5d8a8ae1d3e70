#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "jobman/base/strings.hpp"
#include "tests/support/cli_world.hpp"
#include "tests/support/public_keys.hpp"
#include "tests/support/sample_job.hpp"

namespace jobman::test {
namespace {

using testing::AllOf;
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

  /// A folder that has "code", "lrs-0", "lunch.yaml" and "lump.txt", the first two being folders.
  std::string Folder() {
    const auto folder = world_.paths().home / "folder";
    for (const char* name : {"code", "lrs-0"}) std::filesystem::create_directories(folder / name);
    for (const char* name : {"lunch.yaml", "lump.txt"}) std::ofstream(folder / name) << "\n";
    return folder.string();
  }

  /// What bash shows in place of `typed` after a Tab, in Folder(), if the program answers so, in
  /// the words of printf; and "#", which is typed then.
  std::string BashShows(const std::string& typed, const std::string& answer) {
    const std::string home = world_.paths().home.string();
    std::ofstream(home + "/rc") << "source " << Script("bash") << "; cd " << Folder()
                                << "\nbind 'set bell-style none'\n"
                                << "jobman() { [ \"$1\" = __complete ] && printf -- '" << answer
                                << "' \"$*\"; }\n";
    std::ofstream(home + "/typed") << typed << "\t#\n";
    // A session of its own: no terminal to be taken from the one who tests.
    const std::string said =
        Shell("cd " + home + " && HOME=" + home +
              " HISTFILE= PS1= TERM=dumb INPUTRC=/dev/null timeout 60 setsid -w "
              "bash --noprofile --rcfile rc -i <typed")
            .first;
    for (const std::string& line : base::Split(said, '\n'))
      if (line.ends_with('#')) return line;
    return said;
  }

  /// Whether zsh shows `shown`, a pattern, after `typed` and a Tab in Folder(), if the program
  /// answers so.
  bool ZshShows(const std::string& typed, const std::string& answer, const std::string& shown) {
    const auto functions = world_.paths().home / "functions";
    std::filesystem::create_directories(functions);
    std::filesystem::copy_file(Script("zsh"), functions / "_jobman",
                               std::filesystem::copy_options::overwrite_existing);
    const auto driver = world_.paths().home / "driver.zsh";
    // A shell on a terminal of its own; `timeout` ends the wait if no answer comes.
    std::ofstream(driver) << "zmodload zsh/zpty\n"
                             "zpty shell 'TERM=dumb zsh -f -i'\n"
                             "zpty -w shell 'fpath=("
                          << functions.string() << " $fpath); cd " << Folder()
                          << "; jobman() { printf -- \"" << answer
                          << "\" }; autoload -U compinit; compinit -u -D; echo rea\"\"dy'\n"
                             "zpty -r -m shell said '*ready*'\n"
                             "zpty -w -n shell $'"
                          << typed << "\\t'\nzpty -r -m shell said '*" << shown
                          << "' && echo completed\nzpty -d shell\n";
    return base::Contains(Shell("timeout 60 zsh -f " + driver.string()).first, "completed");
  }

  /// What fish offers for the last word of `typed` in Folder(), if the program answers so.
  std::string FishOffers(const std::string& typed, const std::string& answer) {
    return Shell("cd " + Folder() + " && HOME=" + world_.paths().home.string() +
                 " fish --no-config -c 'source " + Script("fish") + "; function jobman; printf \"" +
                 answer + "\"; end; complete -C \"" + typed + "\"'")
        .first;
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

TEST_F(Completion, GuestsByFingerprintAndUser) {
  world_.fill = [](MemoryStore& store) { EXPECT_TRUE(store.SetGuest({}, Ann()).ok()); };
  EXPECT_EQ(Answer({"keys", "remove", "a"}), " ann  ");
  EXPECT_EQ(Answer({"keys", "remove", "SHA"}), std::string(" ") + kEd25519Print + "  ");
  EXPECT_THAT(Answer({"keys", "add", ""}), HasSubstr(" :files "));
}

TEST_F(Completion, ZonesAndTypesThatAreBuiltIn) {
  EXPECT_EQ(Answer({"zones", "us-central2"}), " us-central2-b  ");
  EXPECT_EQ(Answer({"list", "-z", "us-central2-b,us-east1-d"}), " us-central2-b,us-east1-d  ");
  EXPECT_EQ(Answer({"zones", "-a", "v5litepod-1"}), " v5litepod-1 v5litepod-16 v5litepod-128  ");
  EXPECT_EQ(Answer({"zones", "-o", ""}), " wide  ");
  EXPECT_EQ(Answer({"cost", "--by", ""}), " job user day zone  ");
  EXPECT_EQ(Answer({"billing", "--by", ""}), " sku service day  ");
  EXPECT_EQ(Answer({"quota", "-z", "us-central2"}), " us-central2-b  ");
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
  EXPECT_EQ(Answer({"keys", "add", "k.pub", "--job", "1,e"}), " 1,eval  ");
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

TEST_F(Completion, TheValueOfAnOptionMayFollowAnEqualsSign) {
  EXPECT_THAT(Answer({"wait", "1", "--for=D"}), HasSubstr(" --for=DONE "));
  EXPECT_EQ(Answer({"list", "--status=running,fai"}), " --status=running,failed  ");
  EXPECT_EQ(Answer({"list", "--sort=na"}), " --sort=name  ");
  EXPECT_EQ(Answer({"create", "--set=tpu.zon"}), " --set=tpu.zone=  ");
  EXPECT_EQ(Answer({"logs", "--follow="}), "  ") << "it takes none";
  EXPECT_EQ(world_.Run({"__complete", "--home=/t"}).out, ":files\t--home=\n");
  EXPECT_THAT(world_.Run({"__complete", "--home=/nowhere", "hist"}).out, StartsWith("history\t"));
}

TEST_F(Completion, ValuesOfKeys) {
  EXPECT_EQ(Answer({"create", "--set", "tpu.pricing="}),
            " tpu.pricing=spot tpu.pricing=ondemand tpu.pricing=preemptible tpu.pricing=reserved "
            "tpu.pricing=flex-start tpu.pricing=reservation-bound  ");
  EXPECT_EQ(world_.Run({"__complete", "create", "--set=tpu.pricing=o"}).out,
            "--set=tpu.pricing=ondemand\tthe default\n");
  EXPECT_EQ(Answer({"create", "--set", "checks.jax="}), " checks.jax=true checks.jax=false  ");
  EXPECT_EQ(Answer({"create", "--set", "retries.infra="}), " retries.infra=unlimited  ");
  EXPECT_EQ(Answer({"create", "--set", "command.workers="}), " command.workers=all  ");
  EXPECT_EQ(Answer({"create", "--set", "tpu.zone="}), "  ");
  EXPECT_EQ(Answer({"create", "--set", "tpu.nothing="}), "  ");
  EXPECT_EQ(world_.Run({"__complete", "create", "--set", "cloud.token_file=/t"}).out,
            ":files\tcloud.token_file=\n");
  EXPECT_EQ(world_.Run({"__complete", "create", "--set-file", "command.cmd=r"}).out,
            ":files\tcommand.cmd=\n");
}

TEST_F(Completion, HostsOfTheJob) {
  world_.fill = [](MemoryStore& store) {
    core::Job train = SampleJob("train");
    train.slice = SampleSlice("train-000001-a1");
    for (const core::Job& job : {train, SampleJob("eval")})
      EXPECT_TRUE(store.Create(job, "", {}).ok());
  };
  EXPECT_EQ(Answer({"ssh", "train", "-w", ""}), " 0 1  ");
  EXPECT_EQ(Answer({"exec", "train", "--host="}), " --host=all --host=0 --host=1  ");
  EXPECT_EQ(Answer({"exec", "train", "--exclude="}), " --exclude=0 --exclude=1  ");
  EXPECT_EQ(Answer({"logs", "train", "--host", "0,"}), " 0,0 0,1  ");
  EXPECT_EQ(Answer({"cp", "data", "train:", "-w", ""}), " all 0 1  ");
  EXPECT_EQ(Answer({"sync", "data", "train:code", "-w", ""}), " all 0 1  ");
  EXPECT_EQ(Answer({"ssh", "train", "ls", "-w", "1"}), " 1  ") << "ls is no job";
  EXPECT_EQ(Answer({"ssh", "eval", "-w", ""}), "  ") << "it has no hosts yet";
  EXPECT_EQ(Answer({"exec", "-w", ""}), " all  ") << "of which job?";
}

TEST_F(Completion, LabelsOfJobs) {
  world_.fill = [](MemoryStore& store) {
    core::Job eval = SampleJob("eval");
    eval.spec.labels = {{"team", "text"}, {"try", "2"}};
    for (const core::Job& job : {SampleJob("train"), eval})
      EXPECT_TRUE(store.Create(job, "", {}).ok());
  };
  EXPECT_EQ(Answer({"list", "-l", ""}), " team= try=  ");
  EXPECT_EQ(Answer({"list", "-l", "team="}), " team=text team=vision  ");
  EXPECT_EQ(Answer({"logs", "--label=team=text,tr"}), " --label=team=text,try=  ");
}

TEST_F(Completion, FilesAndJobs) {
  world_.fill = [](MemoryStore& store) {
    EXPECT_TRUE(store.Create(SampleJob("train"), "", {}).ok());
  };
  EXPECT_EQ(Answer({"cp", ""}), " 000001: train: :files  ");
  EXPECT_EQ(Answer({"cp", "data", "t"}), " train: :files  ");
  EXPECT_EQ(Answer({"cp", "train:"}), "  ") << "no host is asked";
  EXPECT_EQ(Answer({"cp", "train:da"}), "  ");
  EXPECT_EQ(Answer({"cp", "./a:b"}), " :files  ") << "a file of this machine";
  EXPECT_EQ(Answer({"sync", ""}), " :files  ");
  EXPECT_EQ(Answer({"sync", "data", ""}), " 000001: train:  ");
  EXPECT_EQ(Answer({"sync", "data", "train:da"}), "  ") << "no host is asked";
  EXPECT_EQ(Answer({"run", ""}), " 000001 train :jobfiles  ");
  EXPECT_EQ(Answer({"run", "train", ""}), "  ") << "it takes one";
}

TEST_F(Completion, BashOffersTheProgramsAnswers) {
  EXPECT_EQ(BashShows("jobman hist", "history\\tthe journal\\n"), "jobman history #");
  EXPECT_EQ(BashShows("jobman show 4", "42\\ta\\n43\\tb\\n"), "jobman show 4#");
  EXPECT_EQ(BashShows("jobman show my", "my job\\ta\\n"), "jobman show my\\ job #");
  EXPECT_EQ(BashShows("jobman show 'a*' --for=", "%s\\t\\n"),
            "jobman show 'a*' --for=__complete\\ show\\ a\\*\\ --for=#")
      << "what it asks";
}

TEST_F(Completion, BashReplacesWhatFollowsAnEqualsSignOrAColon) {
  EXPECT_EQ(BashShows("jobman wait 1 --for=", "--for=RUNNING\\t\\n"),
            "jobman wait 1 --for=RUNNING #");
  EXPECT_EQ(BashShows("jobman wait 1 --for=R", "--for=RUNNING\\t\\n"),
            "jobman wait 1 --for=RUNNING #");
  EXPECT_EQ(BashShows("jobman run --set tpu.pr", "tpu.pricing=\\t\\n"),
            "jobman run --set tpu.pricing=#");
  EXPECT_EQ(BashShows("jobman run --set tpu.pricing=s", "tpu.pricing=spot\\t\\n"),
            "jobman run --set tpu.pricing=spot #");
  EXPECT_EQ(BashShows("jobman --home=co", ":files\\t--home=\\n"), "jobman --home=code/#");
  EXPECT_EQ(BashShows("jobman cp lrs-0:", ""), "jobman cp lrs-0:#");
}

TEST_F(Completion, BashTakesOnlyFilesForFiles) {
  EXPECT_EQ(BashShows("jobman logs 1 --stage c", "code\\ta step\\n"),
            "jobman logs 1 --stage code #");
  EXPECT_EQ(BashShows("jobman logs lrs-0", "lrs-0\\ta job\\n"), "jobman logs lrs-0 #");
  EXPECT_EQ(BashShows("jobman cp c", ":files\\n"), "jobman cp code/#");
  EXPECT_EQ(BashShows("jobman cp lrs-1", "lrs-1:\\ta job\\n:files\\n"), "jobman cp lrs-1:#");
  EXPECT_EQ(BashShows("jobman run lu", ":jobfiles\\n"), "jobman run lunch.yaml #");
  EXPECT_EQ(BashShows("jobman run c", ":jobfiles\\n"), "jobman run code/#");
  EXPECT_EQ(BashShows("jobman run lrs-0", "lrs-0\\ta job\\n:jobfiles\\n"), "jobman run lrs-0#")
      << "the job or the folder";
}

TEST_F(Completion, ZshCompletesACommandAtTheFirstTab) {
  if (Shell("command -v zsh").second != 0) GTEST_SKIP() << "zsh is not installed";
  EXPECT_TRUE(ZshShows("jobman hist", "history\\tthe journal", "jobman hist*ory *"));
}

TEST_F(Completion, ZshTellsFilesFromOtherWords) {
  if (Shell("command -v zsh").second != 0) GTEST_SKIP() << "zsh is not installed";
  EXPECT_TRUE(ZshShows("jobman logs lrs-0", "lrs-0\\ta job", "jobman logs lrs-0 *"));
  EXPECT_TRUE(ZshShows("jobman cp lrs-1", "lrs-1:\\ta job\\n:files", "jobman cp lrs-1:*"));
  EXPECT_TRUE(ZshShows("jobman run lu", ":jobfiles", "jobman run lu*nch.yaml*"));
  EXPECT_TRUE(ZshShows("jobman --home=co", ":files\\t--home=", "jobman --home=co*de/*"));
  EXPECT_TRUE(ZshShows("jobman wait --for=R", "--for=RUNNING", "jobman wait --for=R*UNNING *"));
}

TEST_F(Completion, FishOffersTheProgramsAnswers) {
  if (Shell("command -v fish").second != 0) GTEST_SKIP() << "fish is not installed";
  EXPECT_THAT(FishOffers("jobman hist", "history\\tthe journal\\n"),
              StartsWith("history\tthe journal"));
  EXPECT_EQ(FishOffers("jobman wait --for=R", "--for=RUNNING\\n"), "--for=RUNNING\n");
  EXPECT_EQ(FishOffers("jobman logs lrs-0", "lrs-0\\ta job\\n"), "lrs-0\ta job\n");
  EXPECT_THAT(FishOffers("jobman cp lrs-0", "lrs-0:\\ta job\\n:files\\n"),
              AllOf(HasSubstr("lrs-0:\ta job\n"), HasSubstr("lrs-0/\n")));
  EXPECT_EQ(FishOffers("jobman run lu", ":jobfiles\\n"), "lunch.yaml\n");
  EXPECT_EQ(FishOffers("jobman --home=co", ":files\\t--home=\\n"), "--home=code/\n");
}

}  // namespace
}  // namespace jobman::test
