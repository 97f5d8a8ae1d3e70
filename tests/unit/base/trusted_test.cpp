#include "jobman/base/trusted.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/temp_dir.hpp"

namespace jobman::base {
namespace {

using testing::HasSubstr;

constexpr TrustedUse kUse{.what = "the thing", .instead = "name another one"};
constexpr uid_t kStranger = 54321;

class Trusted : public testing::Test {
 protected:
  Trusted() {
    EXPECT_TRUE(EnsureDir(dir_ / "a/b").ok());
    EXPECT_TRUE(WriteFileAtomic(file_, "x").ok());
  }
  void Mode(const std::string& name, mode_t mode) {
    ASSERT_EQ(::chmod((dir_ / name).c_str(), mode), 0);
  }
  void Refused(const Path& path, const std::string& why) {
    const Status checked = CheckTrusted(path, kUse);
    ASSERT_FALSE(checked.ok()) << path;
    EXPECT_EQ(checked.error().code, Code::kFailedPrecondition);
    EXPECT_THAT(checked.error().message, HasSubstr("the thing is not safe: "));
    EXPECT_THAT(checked.error().message, HasSubstr(why));
    EXPECT_THAT(checked.error().hint, HasSubstr("name another one"));
  }
  test::TempDir dir_;
  Path file_ = dir_ / "a/b/file";
};

TEST_F(Trusted, WhatOnlyThisUserCanWriteIs) {
  EXPECT_TRUE(CheckTrusted(file_, kUse).ok());
  Mode("a/b/file", 0644);
  Mode("a", 0755);
  EXPECT_TRUE(CheckTrusted(file_, kUse).ok());
  EXPECT_TRUE(CheckTrusted("/etc/passwd", kUse).ok()) << "root's";
  EXPECT_TRUE(CheckTrusted("/dev/null", kUse).ok());
}

TEST_F(Trusted, AFileIsOpenToOthersIfItsFoldersAre) {
  Mode("", 0755);
  Mode("a", 0755);
  Mode("a/b", 0711);
  EXPECT_FALSE(IsOpenToOthers(file_));
  Mode("a/b/file", 0644);
  EXPECT_TRUE(IsOpenToOthers(file_));
  std::filesystem::create_symlink(file_, dir_ / "link");
  EXPECT_TRUE(IsOpenToOthers(dir_ / "link"));
  Mode("a", 0750);
  EXPECT_FALSE(IsOpenToOthers(file_));
  EXPECT_FALSE(IsOpenToOthers(dir_ / "link"));
  EXPECT_FALSE(IsOpenToOthers(dir_ / "absent"));
}

TEST_F(Trusted, WhatOthersCanWriteIsNot) {
  Mode("a/b/file", 0602);
  Refused(file_, "a/b/file can be written by other users");
  EXPECT_THAT(CheckTrusted(file_, kUse).error().hint, HasSubstr("chmod go-w " + file_.string()));
  Mode("a/b/file", 0600);
  Mode("a", 0777);
  Refused(file_, (dir_ / "a").string() + " can be written by other users");
  Refused(dir_ / "a/b", "/a can be written by other users");
  Refused(dir_ / "a/b/absent", "/a can be written by other users");
}

TEST_F(Trusted, AStickyFolderMayBeAboveButNotTheThingItself) {
  Mode("a", 01777);
  EXPECT_TRUE(CheckTrusted(file_, kUse).ok());
  Refused(dir_ / "a", "/a can be written by other users");
}

TEST_F(Trusted, WhatIsMissingCanBeMadeWhereNobodyElseCan) {
  EXPECT_TRUE(CheckTrusted(dir_ / "new/folder", kUse).ok());
  EXPECT_TRUE(CheckTrusted(dir_ / "a/b/file/x", kUse).ok());
}

TEST_F(Trusted, LinksAndDotsAreFollowed) {
  std::filesystem::create_directory(dir_ / "open");
  ASSERT_TRUE(WriteFileAtomic(dir_ / "open/file", "x").ok());
  Mode("open", 0777);
  std::filesystem::create_symlink("../../open/file", dir_ / "a/b/relative");
  std::filesystem::create_symlink(dir_ / "open", dir_ / "a/absolute");
  Refused(dir_ / "a/b/relative", "/open can be written by other users");
  Refused(dir_ / "a/absolute/file", "/open can be written by other users");
  Refused(dir_ / "a/b/../../open/file", "/open can be written by other users");
  std::filesystem::create_symlink("loop", dir_ / "loop");
  EXPECT_TRUE(CheckTrusted(dir_ / "loop", kUse).ok()) << "cannot be opened";
}

TEST_F(Trusted, ALinkInASharedFolderMustBeOurs) {
  Mode("a", 01777);
  std::filesystem::create_symlink("b/file", dir_ / "a/link");
  EXPECT_TRUE(CheckTrusted(dir_ / "a/link", kUse).ok());
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  ASSERT_EQ(::lchown((dir_ / "a/link").c_str(), kStranger, kStranger), 0);
  Refused(dir_ / "a/link", "a/link belongs to another user (uid 54321)");
}

TEST_F(Trusted, WhatBelongsToAnotherUserIsNot) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  ASSERT_EQ(::chown((dir_ / "a/b").c_str(), kStranger, kStranger), 0);
  Refused(file_, "a/b belongs to another user (uid 54321)");
  ASSERT_EQ(::chown((dir_ / "a/b").c_str(), 1, 1), 0);
  Refused(file_, "a/b belongs to another user (uid 1, ");
  EXPECT_THAT(CheckTrusted(file_, kUse).error().hint, HasSubstr("run jobman as "));
}

TEST_F(Trusted, TheGroupOfRootIsNoPrivateGroup) {
  Mode("a/b/file", 0660);
  if (::geteuid() == 0) Refused(file_, "a/b/file can be written by other users");
}

TEST_F(Trusted, TheFileOfACommandIsChecked) {
  const auto check = [this](const std::string& command) {
    return CheckTrustedCommand(command, dir_ / "a", kUse).ok();
  };
  const std::vector<std::string> commands = {"b/file x",
                                             " ./b/file; true",
                                             "'" + file_.string() + "' x",
                                             "\"b/file\"",
                                             ". ./b/file",
                                             "exec sh b/file",
                                             file_.string() + ">log",
                                             "/bin/sh b/file",
                                             "sh -e b/file",
                                             "source b/file",
                                             "python3 -u b/file",
                                             "X=1 b/file",
                                             "true; sh b/file",
                                             "env X=1 sh b/file",
                                             "$HOME/file",
                                             "\"$HOME\"/file x",
                                             "${HOME}/file",
                                             "bash -c 'b/file x'"};
  ::setenv("HOME", (dir_ / "a/b").c_str(), 1);
  const std::vector<std::string> programs = {"timeout 5 b/file", "cd / && b/file", "env b/file"};
  for (const std::string& command : commands) EXPECT_TRUE(check(command)) << command;
  Mode("a/b/file", 0777);
  for (const std::string& command : commands) EXPECT_FALSE(check(command)) << command;
  for (const std::string& command : programs) EXPECT_FALSE(check(command)) << command;
  for (const char* command :
       {"", " ", "true", "file", "$DIR/b/file", "X=b/file true", "b/absent", "'", "sh"}) {
    EXPECT_TRUE(check(command)) << command;
  }
}

}  // namespace
}  // namespace jobman::base
