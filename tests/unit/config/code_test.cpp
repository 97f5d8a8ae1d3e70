// The section code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/config/support.hpp"

namespace jobman::config {
namespace {

using ::testing::HasSubstr;
using testing::MustLoad;
using testing::ProblemsOf;
using testing::RequestOf;
using testing::SmallJob;

core::CodeSpec CodeOf(const std::string& members) {
  return MustLoad(RequestOf(SmallJob("code: {" + members + "}\n"))).spec.code;
}

std::string Problems(const std::string& members) {
  return ProblemsOf(SmallJob("code: {" + members + "}\n"));
}

TEST(Code, AFolderIsNamedAlikeOnTheHosts) {
  const core::CodeSpec code = CodeOf("dir: /usr/share/, exclude: '*.ckpt'");
  EXPECT_EQ(code.dir, "/usr/share");
  EXPECT_EQ(code.path, "~/share");
  EXPECT_EQ(code.exclude, std::vector<std::string>{"*.ckpt"});
  EXPECT_EQ(code.max_size, 100 << 20);
  EXPECT_TRUE(code.snapshot.empty()) << "create takes it";
}

TEST(Code, ARelativeFolderIsLookedForBesideTheJobFile) {
  const testing::ScratchDir dir;
  dir.Write("proj/train.py", "");
  LoadRequest request = RequestOf(SmallJob("code: {dir: ./proj}\n"));
  request.file = dir.path() / "job.yaml";
  const Loaded loaded = MustLoad(request);
  EXPECT_EQ(loaded.spec.code.dir, (dir.path() / "proj").string());
  EXPECT_EQ(loaded.spec.code.path, "~/proj");
  EXPECT_THAT(ResolvedYaml(loaded, true), HasSubstr("path: \"~/proj\"  # code.dir"));
}

TEST(Code, ARepositoryGivesItsName) {
  EXPECT_EQ(CodeOf("git: 'https://example.com/me/proj.git'").path, "~/proj");
  EXPECT_EQ(CodeOf("git: 'git@example.com:me/proj.git/', ref: v1.2").path, "~/proj");
  EXPECT_EQ(CodeOf("git: 'host:proj'").path, "~/proj");
  EXPECT_EQ(CodeOf("git: '~/repos/proj'").git, "/home/nobody-here/repos/proj");
  EXPECT_EQ(CodeOf("git: 'host:proj', path: /opt/x/").path, "/opt/x");
  EXPECT_THAT(Problems("git: /"), HasSubstr("write code.path"));
}

TEST(Code, SizesHaveLetters) {
  EXPECT_EQ(CodeOf("dir: /usr, max_size: 500K").max_size, 500 << 10);
  EXPECT_EQ(CodeOf("dir: /usr, max_size: 2G").max_size, std::int64_t{2} << 30);
  EXPECT_EQ(CodeOf("dir: /usr, max_size: 1234").max_size, 1234);
  for (const char* size : {"100MB", "M", "-1", "1.5G", "x"}) {
    EXPECT_THAT(Problems(std::string("dir: /usr, max_size: ") + size),
                HasSubstr("expected a size, found"))
        << size;
  }
  for (const char* size : {"3G", "99999999999999999G", "99999999999999999999"}) {
    EXPECT_THAT(Problems(std::string("dir: /usr, max_size: ") + size),
                HasSubstr("must be between 1 and 2147483648"))
        << size;
  }
}

TEST(Code, WhatMeansNothingIsRefused) {
  EXPECT_THAT(Problems("dir: /usr, git: 'h:x'"), HasSubstr("cannot be used together"));
  EXPECT_THAT(Problems("path: ~/x"), HasSubstr("code names no files"));
  EXPECT_THAT(Problems("dir: /usr, ref: main"), HasSubstr("code.ref has no meaning without"));
  EXPECT_THAT(Problems("git: 'h:x', exclude: [a]"), HasSubstr("code.exclude has no meaning"));
  EXPECT_THAT(Problems("dir: /nowhere/x"), HasSubstr("code.dir: /nowhere/x does not exist"));
  EXPECT_THAT(Problems("dir: /etc/passwd"), HasSubstr("code.dir: /etc/passwd is no folder"));
  EXPECT_THAT(Problems("dir: /usr, exclude: ['']"), HasSubstr("a pattern is one line"));
  EXPECT_EQ(Problems(""), "") << "the same as no section";
}

TEST(Code, AFolderOfTheHostsIsOneThatItMayOwn) {
  for (const char* path : {"x", "/", "~/", "~/a/../b", "~/.jobman", "~/.jobman/x", "/a:b", "~"}) {
    EXPECT_THAT(Problems("dir: /usr, path: '" + std::string(path) + "'"), HasSubstr("code.path: "))
        << path;
  }
  EXPECT_EQ(CodeOf("dir: /usr, path: ~/.jobmanx").path, "~/.jobmanx");
}

TEST(Code, ARepositoryIsNoOptionAndHoldsNoPassword) {
  EXPECT_THAT(Problems("git: 'https://me:token@example.com/x'"),
              HasSubstr("which everybody would see"));
  EXPECT_THAT(Problems("git: '--upload-pack=x'"), HasSubstr("is not the URL of a repository"));
  EXPECT_THAT(Problems("git: 'ext::sh -c x'"), HasSubstr("is not the URL of a repository"));
  for (const char* ref : {"-x", "a b", "a..b", "a:b", "HEAD~1"}) {
    EXPECT_THAT(Problems("git: 'h:x', ref: '" + std::string(ref) + "'"),
                HasSubstr("is not the name of a branch"))
        << ref;
  }
}

}  // namespace
}  // namespace jobman::config
