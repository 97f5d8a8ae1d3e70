#include "jobman/client/ssh_config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <string>

#include "tests/support/sample_job.hpp"
#include "tests/unit/client/client_world.hpp"

namespace jobman::client {
namespace {

using testing::HasSubstr;
using testing::Not;

const base::Path kIncluded = "/home/ada/my state/ssh_config";
constexpr const char* kIncludeLine = "Include \"/home/ada/my state/ssh_config\"";
constexpr const char* kOwnConfig = "# mine\nHost *\n  Compression yes\n";

class SshInclude : public testing::Test {
 protected:
  base::Path File() const { return dir_ / "config"; }
  std::string Text() const { return base::ReadFile(File()).value_or("(none)"); }
  void Write(const std::string& text, mode_t mode = 0644) const {
    ASSERT_TRUE(base::WriteFileAtomic(File(), text, mode).ok());
  }
  bool Change(bool remove) const {
    const auto plan = PlanInclude(File(), kIncluded, remove);
    EXPECT_TRUE(plan.ok()) << plan.error().ToString();
    if (!plan.ok()) return false;
    const base::Status done = CarryOut(*plan);
    EXPECT_TRUE(done.ok()) << done.error().ToString();
    return plan->changes;
  }
  test::TempDir dir_;
};

TEST_F(SshInclude, IsAddedOnceAtTheTopAndTakenAwayAgain) {
  Write(kOwnConfig);
  EXPECT_TRUE(Change(/*remove=*/false));
  EXPECT_EQ(Text(), std::string(kIncludeLine) + "\n" + kOwnConfig);
  EXPECT_FALSE(Change(/*remove=*/false));
  EXPECT_EQ(Text(), std::string(kIncludeLine) + "\n" + kOwnConfig);
  EXPECT_TRUE(Change(/*remove=*/true));
  EXPECT_EQ(Text(), kOwnConfig);
  EXPECT_FALSE(Change(/*remove=*/true));
}

TEST_F(SshInclude, IsKnownHoweverItIsWrittenButNotBelowAHost) {
  Write("# x\n  INCLUDE=\"/home/ada/my state/ssh_config\"\nHost *\n");
  EXPECT_FALSE(Change(/*remove=*/false));
  const std::string below = "Host a\n  " + std::string(kIncludeLine) + "\n";
  Write(below);
  EXPECT_TRUE(Change(/*remove=*/false));
  EXPECT_EQ(Text(), std::string(kIncludeLine) + "\n" + below);
}

TEST_F(SshInclude, ModeAndLinkStayAndANewFileIsPrivate) {
  const base::Path target = dir_ / "dotfiles";
  ASSERT_TRUE(base::WriteFileAtomic(target, kOwnConfig, 0640).ok());
  std::filesystem::create_symlink(target, File());
  EXPECT_TRUE(Change(/*remove=*/false));
  EXPECT_TRUE(std::filesystem::is_symlink(File()));
  struct stat info = {};
  ASSERT_EQ(::stat(target.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0640u);

  const base::Path fresh = dir_ / "new" / "config";
  const auto plan = PlanInclude(fresh, kIncluded, false);
  ASSERT_TRUE(plan.ok() && CarryOut(*plan).ok());
  ASSERT_EQ(::stat(fresh.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
  ASSERT_EQ(::stat(fresh.parent_path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0700u);
}

TEST_F(SshInclude, WhatIsNoFileOrNotOursIsRefusedByName) {
  std::filesystem::create_directory(File());
  EXPECT_FALSE(PlanInclude(File(), kIncluded, false).ok());
  std::filesystem::create_symlink(dir_ / "nowhere", dir_ / "dangling");
  const auto dangling = PlanInclude(dir_ / "dangling", kIncluded, false);
  ASSERT_FALSE(dangling.ok());
  EXPECT_THAT(dangling.error().message,
              HasSubstr("dangling is a link to a file that is not there"));
  for (const char* path : {"/a\"b", "/a*b", "/a\nb", "/${HOME}/c", "/50%", "relative"})
    EXPECT_FALSE(PlanInclude(dir_ / "other", path, false).ok()) << path;
}

TEST_F(SshInclude, AFolderThatCannotBeWrittenIsNamed) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write anywhere";
  Write(kOwnConfig);
  std::filesystem::permissions(
      dir_.path(), std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  const auto plan = PlanInclude(File(), kIncluded, false);
  ASSERT_TRUE(plan.ok());
  const base::Status done = CarryOut(*plan);
  std::filesystem::permissions(dir_.path(), std::filesystem::perms::owner_all);
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code, base::Code::kPermissionDenied);
  EXPECT_THAT(done.error().message, HasSubstr(dir_.path().string()));
  EXPECT_THAT(done.error().hint, HasSubstr(kIncludeLine));
  EXPECT_EQ(Text(), kOwnConfig);
}

using HostNamesTest = test::ClientWorld;

/// A cloud that does not say what its VMs are called.
class MuteCloud final : public test::FakeSliceApi {
 public:
  using FakeSliceApi::FakeSliceApi;
  base::Task<base::Result<std::map<int, std::string>>> GetVmNames(core::Place,
                                                                  std::string) override {
    co_await base::Sleep(std::chrono::hours{24});
    co_return std::map<int, std::string>();
  }
};

TEST_F(HostNamesTest, AreThoseOfJobsThatHoldHostsWithTheirPinnedKeys) {
  core::Job held = test::SampleJob("held");
  held.state = core::Done{};
  held.slice = test::SampleSlice("held-000001-a1");
  held = Put(held);
  core::Job waiting = test::SampleJob("waiting");
  waiting = Put(waiting);
  ASSERT_TRUE(store_.PinKey("8123456789/0", "ssh-ed25519 AAAA").ok());

  const auto all = Await(FindHostNames(Context()));
  ASSERT_TRUE(all.ok()) << all.error().ToString();
  ASSERT_EQ(all->jobs.size(), 1u);
  EXPECT_THAT(all->config.config, HasSubstr("Host jobman-1 jobman-1-w0 jobman-held "));
  EXPECT_THAT(all->config.config, Not(HasSubstr("waiting")));
  EXPECT_EQ(all->config.known_hosts, "jobman-8123456789-0 ssh-ed25519 AAAA\n");

  EXPECT_TRUE(Await(FindHostNames(Context(), held.id)).ok());
  const auto none = Await(FindHostNames(Context(), waiting.id));
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, base::Code::kUnavailable);
}

TEST_F(HostNamesTest, ACloudThatDoesNotAnswerCostsTheNamesOfItsOwnJobAlone) {
  core::Job mute = test::SampleJob("mute");
  mute.state = core::Done{};
  mute.slice = test::SampleSlice("mute-000001-a1");
  mute.spec.ssh.proxy_command = "connect %n";
  Put(mute);
  core::Job held = test::SampleJob("held");
  held.state = core::Done{};
  held.slice = test::SampleSlice("held-000002-a1");
  Put(held);
  MuteCloud cloud(clock_);
  client::Context context = Context();
  context.open_cloud = test::Lend(cloud);
  const auto names = Await(FindHostNames(context));
  ASSERT_TRUE(names.ok()) << names.error().ToString();
  EXPECT_THAT(names->config.config, HasSubstr("Host jobman-2 "));
  EXPECT_THAT(names->config.config, Not(HasSubstr("Host jobman-1 ")));
}

}  // namespace
}  // namespace jobman::client
