// What a host does for a run of a task, with a real git and repositories of this machine.
#include "jobman/remote/task_script.hpp"

#include <gmock/gmock.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "jobman/base/shell.hpp"
#include "jobman/base/strings.hpp"
#include "tests/unit/remote/conda_fake.hpp"
#include "tests/unit/remote/environment_fixture.hpp"

namespace jobman::remote {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class TaskScriptTest : public HostScriptTest {
 protected:
  void SetUp() override {
    HostScriptTest::SetUp();
    if (IsSkipped()) return;
    if (std::system("command -v git >/dev/null") != 0) GTEST_SKIP() << "git is not installed";
    env = {{"JOBMAN_NET_TRIES", "2"}, {"JOBMAN_NET_PAUSE_S", "0"}, {"JOBMAN_LOCK_PAUSE_S", "1"}};
    Sh("git init -q --bare " + Quoted("origin.git"));
    Sh("git init -q " + Quoted("author"));
    Commit("main", "echo one >train.py");
    plan.url = InHome("origin.git");
  }
  std::string InHome(const std::string& name) { return (host.home() / name).string(); }
  std::string Quoted(const std::string& name) { return base::ShellQuote(InHome(name)); }
  static void Sh(const std::string& command) {
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
  }
  /// Puts a commit with what `script` changes on the branch.
  void Commit(const std::string& branch, const std::string& script) {
    const std::string name = base::ShellQuote(branch);
    Sh("cd " + Quoted("author") + " && { git checkout -q " + name +
       " -- 2>/dev/null || git checkout -q -b " + name + "; } && { " + script +
       "; } && git add -A && git -c user.name=ada -c user.email=a@b -c commit.gpgSign=false"
       " commit -q -m change && git push -q ../origin.git " +
       base::ShellQuote("HEAD:refs/heads/" + branch));
  }
  std::string CommitOf(const std::string& branch) {
    Sh("git -C " + Quoted("origin.git") + " rev-parse " + base::ShellQuote(branch) + " >" +
       Quoted("commit"));
    return std::string(base::Trim(Slurp(host.home() / "commit")));
  }
  RunOrder OrderOf(const std::string& run) {
    TaskPlan task = plan;
    const std::string id = "t" + std::to_string(++runs_);
    if (task.run_key.empty()) task.run_key = "key-" + id;
    task.run = run;
    const std::string shell = "#!" + GetParam() + (GetParam() == "/bin/busybox" ? " sh\n" : "\n");
    return {.run_id = id, .script = shell + TaskScript(task), .env = env};
  }
  Ended Task(const std::string& run) { return host.Run(OrderOf(run)); }
  base::Path LastRun() { return host.RunDir("t" + std::to_string(runs_)); }
  bool Exists(const std::string& name) {
    return std::filesystem::exists(std::filesystem::symlink_status(host.home() / name));
  }
  /// A git that does `instead` when it is to fetch.
  void PlayGit(const std::string& instead) {
    std::filesystem::create_directories(host.home() / "tools");
    std::ofstream(host.home() / "tools/git")
        << "#!/bin/sh\ncase \" $* \" in *' fetch '*) " << instead
        << " ;; esac\nPATH=" << base::ShellQuote(host.env["PATH"]) << "\nexec git \"$@\"\n";
    std::filesystem::permissions(host.home() / "tools/git", std::filesystem::perms::owner_all);
    env["PATH"] = InHome("tools") + ":" + host.env["PATH"];
  }

  TaskPlan plan = {.workdir = "work", .branch = "main"};
  std::map<std::string, std::string> env = {};

 private:
  int runs_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Shells, TaskScriptTest, HostsShell(), ShellName);

class TaskScriptInEveryShell : public TaskScriptTest {};
INSTANTIATE_TEST_SUITE_P(Shells, TaskScriptInEveryShell, EveryShell(), ShellName);

TEST_P(TaskScriptInEveryShell, RunsInACleanFolderWithTheBranch) {
  Commit("dev", "echo two >train.py");
  plan.branch = "dev";
  const Ended ended =
      Task("pwd; ls; cat train.py; git status -sb; git remote get-url origin; exit 3");
  EXPECT_THAT(ended.err, HasSubstr("jobman: exited 3\n"));
  EXPECT_EQ(ended.out, "jobman: ~/work has dev of " + plan.url + ", commit " + CommitOf("dev") +
                           "\n" + InHome("work") + "\ntrain.py\ntwo\n## dev...origin/dev\n" +
                           plan.url + "\n");
}

TEST_P(TaskScriptInEveryShell, NothingOfOneTaskIsThereForTheNext) {
  Task(
      "touch left; mkdir ro; touch ro/x; chmod 500 ro; echo changed >train.py; touch .jobman-left");
  EXPECT_TRUE(Exists("work/left"));
  const Ended next = Task("cat train.py; ls -A");
  EXPECT_THAT(next, EndedSaying(0, "train.py"));
  EXPECT_THAT(next.out, HasSubstr("one\n.git\n.jobman-task\ntrain.py\n"));
  plan.url.clear();
  const Ended empty = Task("ls");
  EXPECT_EQ(empty.out, "jobman: ~/work is a new folder, without a repository\n");
  EXPECT_FALSE(Exists(".jobman/trash"));
  EXPECT_TRUE(std::filesystem::is_empty(host.home() / ".jobman/locks"));
}

TEST_P(TaskScriptInEveryShell, TheCommitIsKnown) {
  const std::string commit = CommitOf("main");
  const Ended ended = Task("echo is $JOBMAN_TASK_COMMIT; git rev-parse HEAD");
  EXPECT_THAT(ended.out, AllOf(HasSubstr("is " + commit + "\n" + commit + "\n"),
                               HasSubstr("commit " + commit + "\n")));
  EXPECT_EQ(Slurp(LastRun() / "commit"), commit + "\n");
}

TEST_P(TaskScriptTest, ATaskFindsWhatWasPushedSince) {
  EXPECT_THAT(Task("cat train.py"), EndedSaying(0, "one"));
  Commit("main", "echo two >train.py");
  EXPECT_THAT(Task("cat train.py"), EndedSaying(0, "two"));
  Sh("cd " + Quoted("author") + " && git checkout -q --orphan again && git rm -qrf .");
  Sh("cd " + Quoted("author") + " && git branch -q -D main");
  Sh("git -C " + Quoted("origin.git") + " update-ref -d refs/heads/main");
  Commit("main", "echo rewritten >train.py");
  EXPECT_THAT(Task("cat train.py"), EndedSaying(0, "rewritten"));
}

TEST_P(TaskScriptTest, TheSecondTaskFetchesNothingThatTheFirstHas) {
  Commit("main", "head -c 300000 /dev/urandom >data");
  EXPECT_THAT(Task("ls"), EndedSaying(0, "train.py"));
  const auto packs = [&] {
    std::uintmax_t bytes = 0;
    for (const auto& one :
         std::filesystem::recursive_directory_iterator(host.home() / ".jobman/git"))
      if (one.is_regular_file()) bytes += one.file_size();
    return bytes;
  };
  const auto before = packs();
  EXPECT_GT(before, 300'000U);
  plan.workdir = "other";
  EXPECT_THAT(Task("ls"), EndedSaying(0, "train.py"));
  EXPECT_LT(packs(), before + 50'000U);
}

TEST_P(TaskScriptTest, WithoutTheServerAnEarlierCommitIsNotUsed) {
  Sh("git -C " + Quoted("origin.git") + " update-server-info");
  {
    const LoopbackServer web("os.chdir(\"" + host.home().string() +
                             "\")\nserve(http.server.SimpleHTTPRequestHandler)");
    plan.url = web.Url() + "/origin.git";
    const Ended first = Task("cat train.py");
    if (base::Contains(first.out, "remote-http")) GTEST_SKIP() << "this git has no http";
    EXPECT_THAT(first, EndedSaying(0, "one")) << "such a server gives a history or nothing";
  }
  const Ended offline = Task("cat train.py");
  EXPECT_THAT(offline, EndedSaying(kTaskCannotBeginNow, "does the host reach the internet?"));
  EXPECT_THAT(offline.out, HasSubstr("jobman: commit " + CommitOf("main") +
                                     " of an earlier run is not used: the branch may have moved"));
}

TEST_P(TaskScriptTest, ARepositoryThatNeedsAKeyIsNamed) {
  const LoopbackServer web(
      "class Asks(http.server.BaseHTTPRequestHandler):\n"
      "    def do_GET(self):\n"
      "        self.send_response(401)\n"
      "        self.send_header(\"WWW-Authenticate\", \"Basic realm=x\")\n"
      "        self.send_header(\"Content-Length\", \"0\")\n"
      "        self.end_headers()\n"
      "serve(Asks)");
  plan.url = web.Url() + "/private.git";
  EXPECT_THAT(Task("ls"),
              EndedSaying(kTaskCannotBegin, plan.url + " is not there, or needs a key that this "
                                                       "host does not have: correct the URL, or "
                                                       "bring the key with ssh.identities"));
  plan.url = InHome("nowhere.git");
  EXPECT_THAT(Task("ls"), EndedSaying(kTaskCannotBegin, plan.url + " is not there, or needs"));
  PlayGit("echo 'Host key verification failed.' >&2; exit 128");
  EXPECT_THAT(Task("ls"), EndedSaying(kTaskCannotBegin, "does not know the server of " + plan.url));
}

TEST_P(TaskScriptTest, ABranchThatIsGoneIsNamed) {
  EXPECT_THAT(Task("touch mine"), EndedSaying(0, "commit"));
  plan.branch = "gone";
  EXPECT_THAT(Task("ls"), EndedSaying(kTaskCannotBegin, plan.url + " has no branch gone: correct"));
  EXPECT_TRUE(Exists("work/mine")) << "nothing was removed for a run that cannot begin";
}

TEST_P(TaskScriptTest, AGitThatHangsIsEnded) {
  PlayGit("exec sleep 1000");
  env["JOBMAN_GIT_LIMIT_S"] = "1";
  EXPECT_THAT(Task("ls"), EndedSaying(kTaskCannotBeginNow, "took longer than 1 s and was ended"));
}

TEST_P(TaskScriptTest, ADamagedCacheIsMadeAnew) {
  EXPECT_THAT(Task("ls"), EndedSaying(0, "train.py"));
  for (const auto& cache : std::filesystem::directory_iterator(host.home() / ".jobman/git"))
    std::ofstream(cache.path() / "HEAD") << "half";
  EXPECT_THAT(Task("ls"), EndedSaying(0, "train.py"));
}

TEST_P(TaskScriptTest, ALockThatAKilledGitLeftIsNoObstacle) {
  EXPECT_THAT(Task("ls"), EndedSaying(0, "train.py"));
  for (const auto& cache : std::filesystem::directory_iterator(host.home() / ".jobman/git"))
    std::ofstream(cache.path() / "shallow.lock") << "";
  Commit("main", "echo two >train.py");
  EXPECT_THAT(Task("cat train.py"), EndedSaying(0, "two"));
}

TEST_P(TaskScriptTest, AHostWithoutGitIsTold) {
  const base::Path tools = host.home() / "tools";
  std::filesystem::create_directories(tools);
  for (const auto& program : std::filesystem::directory_iterator("/usr/bin")) {
    const std::string name = program.path().filename();
    if (!name.starts_with("git")) std::filesystem::create_symlink(program.path(), tools / name);
  }
  env["PATH"] = tools;
  EXPECT_THAT(Task("ls"), EndedSaying(kTaskCannotBegin, "git is not installed on this host"));
  plan.url.clear();
  EXPECT_THAT(Task("echo ran"), EndedSaying(0, "ran")) << "who needs none runs";
}

// --- What jobman did not make is not touched. ---

TEST_P(TaskScriptInEveryShell, AFolderOfSomebodyElseIsRefused) {
  Sh("mkdir " + Quoted("work") + " && echo mine >" + Quoted("work/x"));
  EXPECT_THAT(Task("ls"), EndedSaying(kTaskCannotBegin,
                                      "~/work is there and jobman did not make it, "
                                      "so it is not emptied: move it away on the "
                                      "host, or give the task another workdir"));
  EXPECT_EQ(Slurp(host.home() / "work/x"), "mine\n");
  Sh("rm -r " + Quoted("work") + " && git clone -q " + Quoted("origin.git") + " " + Quoted("work"));
  EXPECT_THAT(Task("ls"), EndedSaying(kTaskCannotBegin, "jobman did not make it"));
  EXPECT_TRUE(Exists("work/.git"));
}

TEST_P(TaskScriptTest, AFolderThatWasMovedIsNoLongerOurs) {
  EXPECT_THAT(Task("echo result >out"), EndedSaying(0, "commit"));
  Sh("mv " + Quoted("work") + " " + Quoted("kept"));
  plan.workdir = "kept";
  EXPECT_THAT(Task("ls"), EndedSaying(kTaskCannotBegin, "jobman did not make it"));
  EXPECT_EQ(Slurp(host.home() / "kept/out"), "result\n");
}

TEST_P(TaskScriptTest, TheMarkOutlivesWhatTasksClean) {
  EXPECT_THAT(Task("git clean -qfdx; ls -A"), EndedSaying(0, "train.py"));
  EXPECT_THAT(Task("rm -rf .git; ls -A"), EndedSaying(0, "train.py"));
  EXPECT_THAT(Task("git status --porcelain; echo clean"), EndedSaying(0, "clean"));
}

TEST_P(TaskScriptTest, AnEmptyFolderIsUsed) {
  Sh("mkdir " + Quoted("work"));
  EXPECT_THAT(Task("ls"), EndedSaying(0, "train.py"));
}

TEST_P(TaskScriptTest, LinksAreRefused) {
  Sh("mkdir " + Quoted("outside") + " && touch " + Quoted("outside/x"));
  Sh("ln -s " + Quoted("outside") + " " + Quoted("link"));
  for (const std::string workdir : {"link", "link/work"}) {
    plan.workdir = workdir;
    EXPECT_THAT(Task("ls"),
                EndedSaying(kTaskCannotBegin, "/link is a link, which a workdir must not be"));
  }
  EXPECT_TRUE(Exists("link"));
  EXPECT_FALSE(Exists("outside/work"));
  EXPECT_TRUE(Exists("outside/x"));
  plan.workdir = "work";
  Task("ln -s ../outside out; ln -s ../outside .git-link");
  Task("ls");
  EXPECT_TRUE(Exists("outside/x")) << "links in the folder are removed, not what they lead to";
}

TEST_P(TaskScriptTest, AFileInTheWayIsRefused) {
  Sh("echo mine >" + Quoted("work"));
  EXPECT_THAT(Task("ls"), EndedSaying(kTaskCannotBegin, "/work is no folder"));
  EXPECT_EQ(Slurp(host.home() / "work"), "mine\n");
}

TEST_P(TaskScriptTest, AFolderOutsideOfTheHomeFolderIsRefused) {
  for (const std::string workdir : {"", ".", "..", "../x", "/tmp/x", "a/../../x", "a//b", "a/."}) {
    plan.workdir = workdir;
    EXPECT_THAT(Task("ls"), EndedSaying(kTaskCannotBegin, "is no folder below the home folder"));
  }
}

TEST_P(TaskScriptTest, AFolderWithAMountIsNotEmptied) {
  EXPECT_THAT(Task("mkdir 'the data'"), EndedSaying(0, "commit"));
  const std::string bucket = InHome("work/the data");
  if (getuid() != 0 || mount("tmpfs", bucket.c_str(), "tmpfs", 0, "size=128k") != 0)
    GTEST_SKIP() << "this user cannot mount";
  std::ofstream(bucket + "/x") << "precious";
  const Ended ended = Task("ls");
  EXPECT_EQ(Slurp(bucket + "/x"), "precious");
  umount2(bucket.c_str(), MNT_DETACH);
  EXPECT_THAT(ended,
              EndedSaying(kTaskCannotBegin, bucket + " is mounted there, so ~/work cannot be "
                                                     "emptied"));
  EXPECT_THAT(Task("ls"), EndedSaying(0, "train.py"));
}

TEST_P(TaskScriptTest, AFolderInWhichAnotherTaskRunsIsRefused) {
  const RunOrder first = OrderOf("touch \"$HOME/begun\"; exec sleep 1000");
  const auto running = StartRunning(first);
  ASSERT_TRUE(Eventually([&] { return Exists("begun"); }));
  EXPECT_THAT(Task("ls"), EndedSaying(kTaskCannotBegin, "~/work is in use by another task (run " +
                                                            first.run_id + ")"));
  host.Stop(first.run_id, 0);
  host.Wait(running);
  EXPECT_THAT(Task("ls"), EndedSaying(0, "train.py"));
}

TEST_P(TaskScriptTest, HostsThatShareAHomeShareTheFolderOfARun) {
  plan.run_key = "key-of-the-run";
  EXPECT_THAT(Task("touch of-the-first"), EndedSaying(0, "commit"));
  Commit("main", "echo two >train.py");
  const Ended second = Task("ls; cat train.py");
  EXPECT_THAT(second.out, AllOf(HasSubstr("of-the-first\n"), HasSubstr("one\n")));
  plan.run_key = "key-of-the-next";
  EXPECT_THAT(Task("ls; cat train.py").out,
              AllOf(Not(HasSubstr("of-the-first\n")), HasSubstr("two\n")));
}

/// A run that was killed while it made the folder.
TEST_P(TaskScriptTest, AHalfMadeFolderIsMadeAnew) {
  plan.run_key = "the-same";
  EXPECT_THAT(Task("ls"), EndedSaying(0, "train.py"));
  Sh("sed -i s/the-same/unfinished/ " + Quoted("work/.jobman-task") + " " +
     Quoted("work/.git/jobman-task") + " && rm " + Quoted("work/train.py"));
  EXPECT_THAT(Task("ls"), EndedSaying(0, "train.py"));
}

// --- The script and its environment. ---

TEST_P(TaskScriptInEveryShell, NoValueBecomesShellText) {
  const std::string branch = "it's;$(touch${IFS}pwned)&`x`\"y\"";
  Commit(branch, "echo odd >train.py");
  Sh("mv " + Quoted("origin.git") + " " + Quoted("o'$(touch pwned) \"g\""));
  plan = {.run_key = "k",
          .workdir = "a'b\n$(touch pwned) `touch pwned`; touch pwned/-d",
          .url = InHome("o'$(touch pwned) \"g\""),
          .branch = branch};
  EXPECT_THAT(Task("cat train.py"), EndedSaying(0, "odd"));
  EXPECT_TRUE(Exists(plan.workdir + "/train.py"));
  plan.run_key = "next";
  EXPECT_THAT(Task("cat train.py"), EndedSaying(0, "odd")) << "the folder is known again";
  for (const std::string bad :
       {"ma\nin", "a b; touch pwned", "-x;touch pwned", "", "a:b", "../x"}) {
    plan.branch = bad;
    EXPECT_THAT(Task("ls").err, HasSubstr("jobman: exited 78\n")) << bad;
  }
  plan.branch = "main";
  plan.run_key = "after it";  // the folder of an earlier run is not taken as it is
  for (const std::string bad : {"--upload-pack=touch pwned", "ext::sh -c touch% pwned", "\n"}) {
    plan.url = bad;
    EXPECT_THAT(Task("ls").err, HasSubstr("jobman: exited 78\n")) << bad;
  }
  plan = {.workdir = "work", .env = "e'$(touch pwned)\n; touch pwned"};
  EXPECT_THAT(Task("ls").err, HasSubstr("jobman: exited 78\n"));
  for (const auto& one : std::filesystem::recursive_directory_iterator(host.home()))
    EXPECT_NE(one.path().filename(), "pwned") << one.path();
}

TEST_P(TaskScriptTest, AScriptMayNameItsInterpreter) {
  const Ended ended = Task("#!/usr/bin/env -S awk -f\nBEGIN { print 6 * 7; exit 4 }");
  EXPECT_THAT(ended, EndedSaying(4, "42"));
}

TEST_P(TaskScriptTest, NothingOfThePreparationIsLeftInTheShell) {
  env["GIT_SSH_COMMAND"] = "ssh -v";
  const Ended ended = Task("set; trap; echo \"ssh is $GIT_SSH_COMMAND\"");
  EXPECT_THAT(ended.out, AllOf(Not(HasSubstr("jb_")), HasSubstr("ssh is ssh -v\n")));
}

TEST_P(TaskScriptInEveryShell, ALineOfAnErrorIsThatOfTheTask) {
  const Ended ended = Task("true\ntrue\nno-such-program");
  EXPECT_THAT(ended.err, HasSubstr("jobman: exited 127\n"));
  EXPECT_THAT(ended.out, testing::ContainsRegex("3: .*no-such-program"));
}

TEST_P(TaskScriptTest, AnEnvironmentThatIsMissingIsNamed) {
  plan.env = "jax";
  EXPECT_THAT(Task("ls"), EndedSaying(kTaskCannotBegin,
                                      "there is no environment jax on this host, neither ~/jax nor "
                                      "one of conda: make it with the section venv or conda"));
  EXPECT_FALSE(Exists("work"));
}

TEST_P(TaskScriptInEveryShell, AVenvIsActivated) {
  if (std::system(
          ("/usr/bin/python3 -I -m venv --without-pip " + Quoted("envs/jax") + " 2>/dev/null")
              .c_str()) != 0)
    GTEST_SKIP() << "/usr/bin/python3 cannot make environments here";
  plan.env = "envs/jax";
  EXPECT_THAT(Task("command -v python; ls"),
              AllOf(EndedSaying(0, "train.py"),
                    testing::Field(&Ended::out, HasSubstr(InHome("envs/jax/bin/python") + "\n"))));
}

/// As the section conda of the job file leaves it.
TEST_P(TaskScriptInEveryShell, AnEnvironmentOfCondaIsActivated) {
  if (access("/usr/bin/python3", X_OK) != 0) GTEST_SKIP() << "no /usr/bin/python3";
  for (const char* folder : {"conda/bin", "conda/envs/jax/conda-meta", ".jobman/conda/jax"})
    std::filesystem::create_directories(host.home() / folder);
  std::ofstream(host.home() / "conda/bin/conda") << kCondaFake;
  std::filesystem::permissions(host.home() / "conda/bin/conda", std::filesystem::perms::owner_all);
  std::ofstream(host.home() / "conda/envs/jax/conda-meta/history") << "";
  std::ofstream(host.home() / ".jobman/conda/jax/where") << InHome("conda/envs/jax") << "\n"
                                                         << InHome("conda/bin/conda") << "\n";
  plan.env = "jax";
  EXPECT_THAT(Task("pwd; echo $CONDA_DEFAULT_ENV"), EndedSaying(0, "jax"));
  // One that the user made is found by the program itself.
  std::filesystem::remove_all(host.home() / ".jobman/conda");
  env["CONDA_EXE"] = InHome("conda/bin/conda");
  env["PATH"] = InHome("conda/bin") + ":" + host.env["PATH"];
  EXPECT_THAT(Task("echo $CONDA_DEFAULT_ENV"), EndedSaying(0, "jax"));
}

}  // namespace
}  // namespace jobman::remote
