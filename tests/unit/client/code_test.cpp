// Snapshots of code, with real folders and real repositories.
#include "jobman/client/code.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "jobman/base/process.hpp"
#include "jobman/base/strings.hpp"
#include "tests/support/temp_dir.hpp"

namespace jobman::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

bool HasGit() {
  return std::system("git --version >/dev/null 2>&1") == 0;
}

class CodeTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!HasGit()) GTEST_SKIP() << "git is not installed";
    std::filesystem::create_directories(proj());
    std::filesystem::create_directories(scratch());
    // Nothing of the user's own settings, and an author.
    std::ofstream(dir_ / "gitconfig") << "[user]\nname = Ada\nemail = ada@example.com\n"
                                      << "[init]\ndefaultBranch = main\n"
                                      << "[protocol \"file\"]\nallow = always\n";
    setenv("GIT_CONFIG_GLOBAL", (dir_ / "gitconfig").c_str(), 1);
    setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
    code.dir = proj().string();
  }
  void TearDown() override {
    unsetenv("GIT_CONFIG_GLOBAL");
    unsetenv("GIT_CONFIG_NOSYSTEM");
  }
  base::Path proj() { return dir_ / "proj"; }
  base::Path scratch() { return dir_ / "scratch"; }
  /// Runs shell lines in the folder.
  void In(const base::Path& folder, const std::string& script) {
    std::filesystem::create_directories(folder);
    const std::string line = "cd '" + folder.string() + "' && { " + script + "; } >/dev/null 2>&1";
    EXPECT_EQ(std::system(line.c_str()), 0) << script;
  }
  void InProj(const std::string& script) { In(proj(), script); }
  template <class T>
  T Await(base::Task<T> task) {
    return base::RunTask(loop_, std::move(task));
  }
  base::Result<TakenCode> Take() { return Await(TakeCode(code, scratch())); }
  TakenCode MustTake() {
    auto taken = Take();
    EXPECT_TRUE(taken.ok()) << taken.error().ToString();
    return taken.ok() ? *std::move(taken) : TakenCode{};
  }
  base::Error Refused() {
    const auto taken = Take();
    EXPECT_FALSE(taken.ok());
    EXPECT_TRUE(std::filesystem::is_empty(scratch())) << "what was begun is removed";
    return taken.ok() ? base::Error{} : taken.error();
  }
  /// Unpacks it as a host does.
  base::Path Unpack(const TakenCode& taken) {
    base::Path to = dir_ / ("out" + std::to_string(++unpacked_));
    In(to, "tar -xzf '" + taken.archive.string() + "' --strip-components=1");
    return to;
  }
  std::vector<std::string> NamesIn(const TakenCode& taken) {
    std::vector<std::string> argv = {"tar", "-xzOf", taken.archive.string(), "files"};
    const auto listed = Await(base::RunProcess(argv));
    std::vector<std::string> names = base::Split(listed->out, '\n');
    names.pop_back();
    return names;
  }
  std::vector<std::string> Names() { return NamesIn(MustTake()); }
  static std::string Read(const base::Path& file) {
    return base::ReadFile(file).value_or("(no file)");
  }
  /// A repository at `path` with two commits, a tag on the first, a branch and the second's number.
  std::string MakeRepository(const base::Path& path) {
    In(path,
       "git init -q && echo one >train.py && git add . && git commit -qm 1 && git tag -am v1 v1 &&"
       " git branch old && echo two >train.py && echo x >more && git add . && git commit -qm 2 &&"
       " git rev-parse HEAD >.git/number");
    return std::string(base::Trim(Read(path / ".git/number")));
  }

  test::TempDir dir_;
  asio::io_context loop_;
  core::CodeSpec code = {.path = "~/proj"};

 private:
  int unpacked_ = 0;
};

TEST_F(CodeTest, AFolderGivesWhatItsGitignoreDoesNotName) {
  InProj(
      "mkdir -p a/b data && echo 1 >train.py && echo 2 >a/b/x && echo 3 >data/big.ckpt &&"
      " echo 4 >a/y.log && printf '*.log\\n/data/\\n' >.gitignore && mkdir .git && echo x >.git/y");
  const TakenCode taken = MustTake();
  EXPECT_THAT(NamesIn(taken), ElementsAre(".gitignore", "a/b/x", "train.py"));
  EXPECT_EQ(taken.snapshot.files, 3);
  EXPECT_EQ(taken.snapshot.unpacked, 17);
  EXPECT_EQ(taken.snapshot.packed, *base::FileSize(taken.archive));
  EXPECT_EQ(taken.snapshot.sha256.size(), 64U);
  EXPECT_EQ(taken.snapshot.commit, "");
  EXPECT_EQ(Read(Unpack(taken) / "a/b/x"), "2\n");
  EXPECT_THAT(taken.notes, IsEmpty());
}

TEST_F(CodeTest, AWorkTreeGivesWhatIsTrackedOrCouldBe) {
  InProj(
      "git init -q && echo 1 >kept && echo 2 >gone && echo 3 >old.log && git add . &&"
      " git commit -qm 1 && printf '*.log\\n' >.gitignore && rm gone && echo 4 >new &&"
      " echo 5 >new.log");
  const TakenCode taken = MustTake();
  EXPECT_THAT(NamesIn(taken), ElementsAre(".gitignore", "kept", "new", "old.log"))
      << "what is tracked is never ignored";
  EXPECT_EQ(taken.snapshot.commit.size(), 40U);
  EXPECT_TRUE(taken.snapshot.changed);
  InProj("git add -A && git commit -qm 2");
  EXPECT_FALSE(MustTake().snapshot.changed);
  EXPECT_FALSE(std::filesystem::exists(taken.folder->path() / "clone"));
}

TEST_F(CodeTest, AFolderWithinAWorkTreeGivesOnlyItself) {
  InProj(
      "git init -q && echo '*.log' >.gitignore && mkdir -p sub/data && echo 1 >sub/x && echo 2 >y "
      "&&"
      " echo 3 >sub/z.log && echo 4 >sub/data/d && git add . && git commit -qm 1");
  code.dir = (proj() / "sub").string();
  EXPECT_THAT(Names(), ElementsAre("data/d", "x"));
  code.exclude = {"/data"};
  EXPECT_THAT(Names(), ElementsAre("x")) << "patterns begin at the folder";
}

TEST_F(CodeTest, ExcludeLeavesOutWhatIsTrackedToo) {
  InProj(
      "git init -q && mkdir -p data/keep m && echo 1 >data/a && echo 2 >data/keep/b &&"
      " echo 3 >m/x.ckpt && echo 4 >train.py && git add . && git commit -qm 1 && echo 5 >y.ckpt");
  code.exclude = {"data/*", "!data/keep", "*.ckpt"};
  EXPECT_THAT(Names(), ElementsAre("data/keep/b", "train.py"));
}

TEST_F(CodeTest, SubmodulesAndOtherRepositoriesInItAreTaken) {
  In(dir_ / "lib",
     "git init -q && echo 1 >lib.py && echo '*.o' >.gitignore && git add . &&"
     " git commit -qm 1");
  InProj("git init -q && echo 1 >a && git add . && git submodule add '" + (dir_ / "lib").string() +
         "' deps/lib && git commit -qm 1 && echo 2 >deps/lib/x.o &&"
         " echo 3 >deps/lib/new && git clone -q '" +
         (dir_ / "lib").string() + "' other");
  EXPECT_THAT(Names(), ElementsAre(".gitmodules", "a", "deps/lib/.gitignore", "deps/lib/lib.py",
                                   "deps/lib/new", "other/.gitignore", "other/lib.py"));
  code.exclude = {"deps/lib/l*"};
  EXPECT_THAT(Names(), testing::Not(testing::Contains("deps/lib/lib.py")));
  InProj("git submodule deinit -f deps/lib");
  EXPECT_THAT(MustTake().notes,
              ElementsAre("the submodule deps/lib is not taken: its folder is empty here"));
}

TEST_F(CodeTest, TheSameFilesMakeTheSameArchive) {
  InProj("mkdir b && echo 1 >b/x && echo 2 >a && ln -s a l && chmod 644 a");
  const std::string first = MustTake().snapshot.sha256;
  In(dir_ / "again",
     "umask 002; ln -s a l && echo 2 >a && mkdir b && echo 1 >b/x && ln b/x hard &&"
     " rm hard && touch -d '2001-01-01' a && chmod 664 a");
  code.dir = (dir_ / "again").string();
  EXPECT_EQ(MustTake().snapshot.sha256, first) << "times and the umask do not matter";
  In(dir_ / "again", "chmod 755 a");
  const std::string executable = MustTake().snapshot.sha256;
  EXPECT_NE(executable, first);
  In(dir_ / "again", "echo 3 >a");
  EXPECT_NE(MustTake().snapshot.sha256, executable);
}

TEST_F(CodeTest, NamesModesAndLinksAreKept) {
  InProj(
      "mkdir 'a b' && echo 1 >'a b/c d' && echo 2 >'new\nline' && echo 3 >'back\\slash' &&"
      " echo 4 >-x && echo 5 >'*' && printf '#!/bin/sh\\n' >run && chmod 700 run &&"
      " ln -s 'a b' folder && ln -s /nowhere dangling && ln -s './a b/c d' link");
  const TakenCode taken = MustTake();
  EXPECT_THAT(NamesIn(taken),
              UnorderedElementsAre("*", "-x", "a b/c d", "back\\\\slash", "dangling", "folder",
                                   "link", "new\\nline", "run"));
  const base::Path out = Unpack(taken);
  EXPECT_EQ(Read(out / "new\nline"), "2\n");
  EXPECT_EQ(Read(out / "back\\slash"), "3\n");
  EXPECT_EQ(Read(out / "folder/c d"), "1\n");
  EXPECT_EQ(std::filesystem::read_symlink(out / "dangling"), "/nowhere");
  EXPECT_EQ(std::filesystem::read_symlink(out / "link"), "./a b/c d");
  EXPECT_EQ(::access((out / "run").c_str(), X_OK), 0);
}

TEST_F(CodeTest, ALargerOneThanAllowedNamesTheLargestFiles) {
  InProj("for i in 1 2 3 4 5 6 7; do head -c ${i}00000 /dev/urandom >file$i; done");
  code.max_size = 1 << 20;
  const base::Error error = Refused();
  EXPECT_EQ(error.code, base::Code::kInvalidArgument);
  EXPECT_THAT(error.message, HasSubstr("the code is larger than 1.0 MB packed (code.max_size): "
                                       "2.7 MB in 7 files. The largest:\n    683.6 KB  file7\n"));
  EXPECT_THAT(error.message, HasSubstr("file3"));
  EXPECT_THAT(error.message, testing::Not(HasSubstr("file2")));
  EXPECT_THAT(error.hint, HasSubstr("code.exclude"));
  code.max_size = 3 << 20;
  EXPECT_EQ(MustTake().snapshot.files, 7);
}

TEST_F(CodeTest, WhatIsNoFileIsLeftOutWithANote) {
  InProj("echo 1 >a && mkdir b && echo 2 >b/x && mkfifo b/pipe");
  const TakenCode taken = MustTake();
  EXPECT_THAT(NamesIn(taken), ElementsAre("a", "b/x"));
  EXPECT_THAT(taken.notes, ElementsAre("b/pipe is left out: it is a FIFO"));
}

TEST_F(CodeTest, WhatCannotBeReadIsNamed) {
  if (getuid() == 0) GTEST_SKIP() << "root reads everything";
  InProj("echo 1 >a && echo 2 >secret && chmod 000 secret");
  EXPECT_THAT(Refused().message, HasSubstr("proj/secret cannot be read: permission denied"));
  code.exclude = {"secret"};
  EXPECT_THAT(Names(), ElementsAre("a"));
  InProj("mkdir closed && echo 3 >closed/x && chmod 000 closed");
  EXPECT_THAT(Refused().message, HasSubstr("closed/ cannot be read: permission denied"));
  InProj("chmod 700 closed");
}

TEST_F(CodeTest, AFolderWithoutFilesIsRefused) {
  EXPECT_THAT(Refused().message, HasSubstr("there are no files in "));
  InProj("echo '*' >.gitignore && echo 1 >a");
  EXPECT_THAT(Refused().hint, HasSubstr("ignored"));
}

TEST_F(CodeTest, WithoutGitEverythingIsTakenAndANoteSaysSo) {
  InProj("echo 1 >a && echo a >.gitignore && mkdir .git b && echo x >.git/y && echo 2 >b/c");
  const base::Path tools = dir_ / "tools";
  In(tools, "for t in env sh tar gzip; do ln -s $(command -v $t) .; done");
  const std::string path = getenv("PATH");
  setenv("PATH", tools.c_str(), 1);
  const auto taken = Take();
  code.exclude = {"a"};
  const auto refused = Take();
  setenv("PATH", path.c_str(), 1);
  ASSERT_TRUE(taken.ok()) << taken.error().ToString();
  EXPECT_THAT(NamesIn(*taken), ElementsAre(".gitignore", "a", "b/c"));
  EXPECT_THAT(taken->notes, ElementsAre("git is not installed here, so .gitignore was not read"));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, "code.exclude needs git on this machine");
}

/// What git 2.39 says when its first file does not fit.
TEST_F(CodeTest, AFullDiskIsNamedWhenGitMeetsItFirst) {
  InProj("echo a > a");
  const base::Path bin = dir_ / "bin";
  In(bin,
     "printf '#!/bin/sh\\n[ $1 = --version ] && exit 0\\necho \"error: unable to write symref "
     "for HEAD: No space left on device\" >&2\\nexit 128\\n' > git; chmod +x git");
  const std::string path = std::getenv("PATH");
  setenv("PATH", (bin.string() + ":" + path).c_str(), 1);
  const base::Error error = Refused();
  setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(error.reason, base::Reason::kDiskFull);
  EXPECT_EQ(error.message,
            "the code cannot be packed: the disk of " + scratch().string() + " is full");
  EXPECT_EQ(error.hint, "free some space there");
}

TEST_F(CodeTest, AVariableOfAHookOfGitDoesNotMatter) {
  InProj("git init -q && echo 1 >a && git add . && git commit -qm 1");
  setenv("GIT_DIR", "/nowhere", 1);
  setenv("TAR_OPTIONS", "--nonsense", 1);
  const auto taken = Take();
  unsetenv("GIT_DIR");
  unsetenv("TAR_OPTIONS");
  ASSERT_TRUE(taken.ok()) << taken.error().ToString();
  EXPECT_THAT(NamesIn(*taken), ElementsAre("a"));
}

TEST_F(CodeTest, ARepositoryIsPinnedToACommit) {
  const std::string commit = MakeRepository(dir_ / "repo");
  code.dir.clear();
  code.git = "file://" + (dir_ / "repo").string();
  const TakenCode head = MustTake();
  EXPECT_EQ(head.snapshot.commit, commit);
  EXPECT_FALSE(head.snapshot.changed);
  EXPECT_THAT(NamesIn(head), ElementsAre("more", "train.py"));
  EXPECT_EQ(Read(Unpack(head) / "train.py"), "two\n");
  for (const std::string& ref : {std::string("main"), commit, commit.substr(0, 8)}) {
    code.ref = ref;
    EXPECT_EQ(MustTake().snapshot.sha256, head.snapshot.sha256) << ref;
  }
  for (const char* ref : {"old", "v1", "refs/tags/v1"}) {
    code.ref = ref;
    EXPECT_EQ(Read(Unpack(MustTake()) / "train.py"), "one\n") << ref;
  }
  code.ref.clear();
  code.git = (dir_ / "repo").string();
  EXPECT_EQ(MustTake().snapshot.sha256, head.snapshot.sha256) << "a path works too";
}

TEST_F(CodeTest, ARefThatIsNotThereIsNamed) {
  MakeRepository(dir_ / "repo");
  code.dir.clear();
  code.git = "file://" + (dir_ / "repo").string();
  for (const char* ref : {"nowhere", "deadbeef", "0123456789012345678901234567890123456789"}) {
    code.ref = ref;
    const base::Error error = Refused();
    EXPECT_EQ(error.code, base::Code::kInvalidArgument);
    EXPECT_THAT(error.message, HasSubstr("code.ref: " + code.git + " has no branch"));
    EXPECT_THAT(error.message, HasSubstr(ref));
  }
}

TEST_F(CodeTest, ARepositoryThatCannotBeFetchedIsNamed) {
  code.dir.clear();
  code.git = "file:///nowhere/repo";
  const base::Error error = Refused();
  EXPECT_EQ(error.code, base::Code::kUnavailable);
  EXPECT_THAT(error.message, HasSubstr("code.git: file:///nowhere/repo cannot be fetched: "));
  EXPECT_THAT(error.hint, HasSubstr("git ls-remote file:///nowhere/repo"));
}

TEST_F(CodeTest, SubmodulesOfARepositoryAreTakenIfAskedFor) {
  MakeRepository(dir_ / "lib");
  In(dir_ / "repo",
     "git init -q && echo 1 >a && git submodule add '../lib' lib && git add . &&"
     " git commit -qm 1");
  code.dir.clear();
  code.git = "file://" + (dir_ / "repo").string();
  const TakenCode without = MustTake();
  EXPECT_THAT(NamesIn(without), ElementsAre(".gitmodules", "a"));
  EXPECT_THAT(without.notes, ElementsAre(HasSubstr("the submodule lib is not taken")));
  code.submodules = true;
  EXPECT_THAT(Names(), ElementsAre(".gitmodules", "a", "lib/more", "lib/train.py"));
}

TEST_F(CodeTest, TheArchiveIsKeptWithTheJob) {
  InProj("echo 1 >a");
  const base::StatePaths paths{.home = dir_ / "home"};
  {
    const TakenCode taken = MustTake();
    ASSERT_TRUE(KeepCode(taken, paths, 42).ok());
    EXPECT_EQ(base::FileSize(paths.CodeFile(42, taken.snapshot.sha256)), taken.snapshot.packed);
    ASSERT_TRUE(KeepCode(taken, paths, 42).ok()) << "again";
    ASSERT_TRUE(KeepCode(taken, paths, 43).ok());
    EXPECT_TRUE(std::filesystem::equivalent(paths.CodeFile(42, taken.snapshot.sha256),
                                            paths.CodeFile(43, taken.snapshot.sha256)));
  }
  EXPECT_TRUE(std::filesystem::is_empty(scratch()));
}

TEST_F(CodeTest, WhatAKilledProcessLeftIsRemovedADayLater) {
  InProj("echo 1 >a");
  In(scratch(),
     "mkdir jobman-code-old1 jobman-code-new1 && echo x >jobman-code-old1/x &&"
     " touch -d '2 days ago' jobman-code-old1");
  MustTake();
  EXPECT_FALSE(std::filesystem::exists(scratch() / "jobman-code-old1"));
  EXPECT_TRUE(std::filesystem::exists(scratch() / "jobman-code-new1"));
}

}  // namespace
}  // namespace jobman::client
