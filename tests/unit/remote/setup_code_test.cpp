// The step of the section code, with archives as `create` makes them.
#include <gmock/gmock.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <cstdlib>

#include "jobman/base/shell.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/remote/setup_script.hpp"
#include "tests/unit/remote/host_script_fixture.hpp"

namespace jobman::remote {
namespace {

using testing::HasSubstr;

class SetupCodeTest : public HostScriptTest {
 protected:
  void SetUp() override {
    HostScriptTest::SetUp();
    if (IsSkipped()) return;
    spec.code.dir = "/somewhere/proj";
    spec.code.path = "~/proj";
    spec.code.snapshot.sha256 = "0123456789abcdef";
    if (GetParam() == "/bin/busybox") UseToolsOfBusybox();
  }
  /// What the step calls is busybox's too.
  void UseToolsOfBusybox() {
    const base::Path tools = InHome("tools");
    std::filesystem::create_directories(tools);
    for (const char* tool : {"awk", "cp", "cut", "df", "find", "mktemp", "mv", "rm", "rmdir", "sed",
                             "sha256sum", "sort", "stat", "tail", "tar", "tr", "wc"})
      std::filesystem::create_symlink(GetParam(), tools / tool);
    env["PATH"] = tools.string() + ":" + host.env["PATH"];
  }
  base::Path InHome(const std::string& name) { return host.home() / name; }
  static void Sh(const std::string& command) {
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
  }
  /// Makes an archive of what `script` makes in an empty folder.
  void Pack(const std::string& script) {
    const base::Path folder = InHome("made");
    Sh("rm -rf " + folder.string() + " && mkdir " + folder.string() + " && cd " + folder.string() +
       " && { " + script +
       "; } &&"
       " find . ! -type d -print0 | LC_ALL=C sort -z >../names &&"
       " sed -z 's,^\\./,,; s,\\\\,\\\\\\\\,g; s,\\n,\\\\n,g' ../names | tr '\\0' '\\n' >../files "
       "&&"
       " tar -c -I 'gzip -n' -f ../code.tar.gz --format=gnu --no-recursion"
       " --transform 'flags=r;s,^\\./,code/,' -C .. files -C made --null -T ../names");
  }
  Ended Step() {
    env["JOBMAN_CODE_FILE"] = "~/code.tar.gz";
    return host.Run({.run_id = "s" + std::to_string(++runs_),
                     .script = "#!" + GetParam() + (GetParam() == "/bin/busybox" ? " sh\n" : "\n") +
                               SetupScript(spec, core::SetupStage{}),
                     .env = env});
  }
  void ExpectDone(const Ended& ended) {
    EXPECT_THAT(ended.err, HasSubstr("jobman: exited 0\n")) << ended.out;
  }
  /// It failed, with this in its last line.
  static void ExpectFailed(const Ended& ended, int code, const std::string& words) {
    EXPECT_THAT(ended.err, HasSubstr("jobman: exited " + std::to_string(code) + "\n"));
    EXPECT_THAT(base::Split(base::Trim(ended.out), '\n').back(), HasSubstr(words)) << ended.out;
  }
  std::string Read(const std::string& name) { return Slurp(InHome("proj") / name); }
  bool Exists(const std::string& name) {
    return std::filesystem::exists(std::filesystem::symlink_status(InHome("proj") / name));
  }

  core::JobSpec spec = {};
  std::map<std::string, std::string> env = {};

 private:
  int runs_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Shells, SetupCodeTest, HostsShell(), ShellName);

class SetupCodeInEveryShell : public SetupCodeTest {};
INSTANTIATE_TEST_SUITE_P(Shells, SetupCodeInEveryShell, EveryShell(), ShellName);

TEST_P(SetupCodeInEveryShell, EveryFileIsThereAsItWas) {
  Pack(
      "mkdir -p 'a b/c' && echo deep >'a b/c/x' && printf '#!/bin/sh\\necho ran\\n' >run.sh &&"
      " chmod 755 run.sh && ln -s 'a b/c/x' link && ln -s nowhere dangling &&"
      " echo odd >'new\nline' && echo back >'back\\slash' && echo dash >-dash");
  const Ended ended = Step();
  ExpectDone(ended);
  EXPECT_THAT(ended.out, HasSubstr("jobman: ~/proj has the 7 files of snapshot 0123456789ab\n"));
  EXPECT_EQ(Read("a b/c/x"), "deep\n");
  EXPECT_EQ(Read("link"), "deep\n");
  EXPECT_EQ(std::filesystem::read_symlink(InHome("proj/dangling")), "nowhere");
  EXPECT_EQ(Read("new\nline"), "odd\n");
  EXPECT_EQ(Read("back\\slash"), "back\n");
  EXPECT_EQ(Read("-dash"), "dash\n");
  EXPECT_EQ(access(InHome("proj/run.sh").c_str(), X_OK), 0);
  EXPECT_FALSE(Exists("files")) << "the list of names stays in the archive";
}

TEST_P(SetupCodeInEveryShell, WhatANewSnapshotLacksGoesAndWhatIsNotOursStays) {
  Pack(
      "mkdir -p old/deep kept && echo 1 >old/deep/x && echo 1 >kept/y && echo 1 >'odd\n\\name' &&"
      " echo 1 >same && ln -s same link");
  ExpectDone(Step());
  Sh("cd " + InHome("proj").string() + " && echo out >kept/output && mkdir ckpt && echo c >ckpt/1");
  Pack("echo 2 >same && mkdir new && echo 2 >new/z");
  ExpectDone(Step());
  EXPECT_EQ(Read("same"), "2\n");
  EXPECT_EQ(Read("new/z"), "2\n");
  for (const char* gone : {"old", "kept/y", "odd\n\\name", "link"})
    EXPECT_FALSE(Exists(gone)) << gone;
  EXPECT_EQ(Read("kept/output"), "out\n");
  EXPECT_EQ(Read("ckpt/1"), "c\n");
}

TEST_P(SetupCodeTest, AFileMayBecomeAFolderAndAFolderAFile) {
  Pack("echo 1 >a && mkdir b && echo 1 >b/x");
  ExpectDone(Step());
  Pack("mkdir a && echo 2 >a/x && echo 2 >b");
  ExpectDone(Step());
  EXPECT_EQ(Read("a/x"), "2\n");
  EXPECT_EQ(Read("b"), "2\n");
}

TEST_P(SetupCodeTest, AFileIsAsNewAsItWasUnpacked) {
  Pack("echo 1 >a && touch -d '2001-01-01' a");
  const Ended ended = Step();
  ExpectDone(ended);
  EXPECT_THAT(ended.out, HasSubstr("~/proj has the one file of snapshot 0123456789ab\n"));
  struct stat info {};
  ASSERT_EQ(stat(InHome("proj/a").c_str(), &info), 0);
  EXPECT_GT(info.st_mtime, 1'500'000'000) << "or Python would run what it compiled before";
}

TEST_P(SetupCodeTest, AFolderOfSomebodyElseIsRefused) {
  Pack("echo 1 >a");
  Sh("mkdir " + InHome("proj").string() + " && echo mine >" + InHome("proj/b").string());
  ExpectFailed(Step(), 1, "~/proj holds files that jobman did not put there: choose another");
  EXPECT_FALSE(Exists("a"));
  std::filesystem::remove(InHome("proj/b"));
  ExpectDone(Step());
  std::filesystem::remove_all(InHome("proj"));
  std::filesystem::remove_all(InHome(".jobman/code"));
  Sh("echo x >" + InHome("proj").string());
  ExpectFailed(Step(), 1, "~/proj is no folder on this host");
}

/// A step that was killed while it unpacked.
TEST_P(SetupCodeTest, WhatAKilledStepHasUnpackedIsKnown) {
  Pack("echo 1 >first && echo 1 >second");
  const base::Path tools = InHome("cut");
  std::filesystem::create_directories(tools);
  const std::string path = env.contains("PATH") ? env["PATH"] : host.env["PATH"];
  std::ofstream(tools / "tar") << "#!/bin/sh\nPATH=" + path +
                                      "\ncase $1 in\n  -xzO*) exec tar \"$@\" ;;\nesac\n"
                               << "echo half >" + InHome("proj/first").string() +
                                      "\nkill -KILL $PPID\n";
  std::filesystem::permissions(tools / "tar", std::filesystem::perms::owner_all);
  env["PATH"] = tools.string() + ":" + path;
  EXPECT_THAT(Step().err, testing::Not(HasSubstr("exited 0")));
  EXPECT_EQ(Read("first"), "half\n");
  env["PATH"] = path;
  env["JOBMAN_LOCK_PAUSE_S"] = "1";
  Pack("echo 2 >third");
  ExpectDone(Step());
  EXPECT_FALSE(Exists("first"));
  EXPECT_EQ(Read("third"), "2\n");
}

TEST_P(SetupCodeTest, AnArchiveThatIsGoneIsSentAgain) {
  ExpectFailed(Step(), 75, "the archive of the code is not on this host any more");
}

TEST_P(SetupCodeTest, AFullDiskIsNamed) {
  const base::Path small = InHome("small");
  std::filesystem::create_directory(small);
  if (getuid() != 0 || mount("tmpfs", small.c_str(), "tmpfs", 0, "size=128k") != 0)
    GTEST_SKIP() << "this user cannot mount a small disk";
  Pack("head -c 1000000 /dev/zero >large && echo 1 >a");
  spec.code.path = (small / "proj").string();
  const Ended ended = Step();
  umount2(small.c_str(), MNT_DETACH);
  ExpectFailed(ended, 1, "no room for the code in " + (small / "proj").string());
}

TEST_P(SetupCodeTest, ABrokenArchiveIsNamed) {
  std::ofstream(InHome("code.tar.gz")) << "no archive";
  ExpectFailed(Step(), 1, "cannot unpack the code into ~/proj, see above");
}

TEST(SetupCode, AContainerHasTheFolderAndStartsThere) {
  core::JobSpec spec;
  spec.env_type = core::EnvType::kDocker;
  spec.docker.image = "box";
  spec.command.cmd = "python train.py";
  EXPECT_THAT(CommandScript(spec), testing::Not(HasSubstr(" -w ")));
  spec.code.dir = "/somewhere/proj";
  spec.code.path = "~/proj";
  const std::string folder = "\"$jb_home\"/" + base::ShellQuote("proj");
  EXPECT_THAT(CommandScript(spec), HasSubstr(" -v " + folder + ":" + folder + " -w " + folder));
  spec.command.workdir = "proj/src";
  EXPECT_THAT(CommandScript(spec), HasSubstr(" -w \"$jb_home\"/proj/src"));
  spec.command.workdir = "/opt/app";
  EXPECT_THAT(CommandScript(spec), HasSubstr(" -w /opt/app"));
  spec.docker.workdir = "/w";
  EXPECT_THAT(CommandScript(spec), HasSubstr(" -w " + base::ShellQuote("/w")));
}

}  // namespace
}  // namespace jobman::remote
