#include "jobman/client/copy.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <array>
#include <filesystem>

#include "client/copy_parts.hpp"
#include "tests/unit/client/copy_fixture.hpp"

namespace jobman::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
namespace fs = std::filesystem;

TEST(CopyPlan, OneSideIsHereAndTheOtherOnHosts) {
  const auto up = PlanCopy({"a", "b/c", "train:data"});
  ASSERT_TRUE(up.ok());
  EXPECT_TRUE(up->to_hosts);
  EXPECT_EQ(up->job, "train");
  EXPECT_EQ(up->to, "data");
  EXPECT_THAT(up->sources, ElementsAre("a", "b/c"));
  const auto down = PlanCopy({"7:/var/log/x", "7:y", "."});
  ASSERT_TRUE(down.ok());
  EXPECT_FALSE(down->to_hosts);
  EXPECT_EQ(down->job, "7");
  EXPECT_THAT(down->sources, ElementsAre("/var/log/x", "y"));
  EXPECT_TRUE(ParseCopyPlace("./a:b").job.empty()) << "a file of this machine";
  EXPECT_EQ(ParseCopyPlace("7:").path, "");

  EXPECT_THAT(PlanCopy({"1:a", "2:b"}).error().message, HasSubstr("both sides, 1:a and 2:b"));
  EXPECT_THAT(PlanCopy({"a", "b"}).error().message, HasSubstr("neither a nor b"));
  EXPECT_THAT(PlanCopy({"1:a", "2:b", "."}).error().message, HasSubstr("2 and 1 are two"));
  EXPECT_THAT(PlanCopy({"x/a", "y/a", "1:"}).error().message, HasSubstr("have the name a"));
  for (const char* nameless : {"1:", "1:..", "1:a/..", "1:/", "1:~", "1:."})
    EXPECT_EQ(PlanCopy({nameless, "."}).error().code, base::Code::kInvalidArgument) << nameless;
  std::vector<std::string> many;
  for (int i = 0; i < 2000; ++i) many.push_back("1:" + std::string(60, 'x') + std::to_string(i));
  many.push_back(".");
  EXPECT_THAT(PlanCopy(many).error().message, HasSubstr("2000 paths of hosts"));
}

TEST_F(CopyTest, EachHostGetsTheFilesUnderTheirNames) {
  shell_ = &hosts_;
  Write(Here("data/a"), "A");
  Write(Here("-b"), "B");
  const auto context = Context();
  const CopyPlan plan{.to_hosts = true, .sources = {Here("data/"), Here("-b")}, .to = "~"};
  std::int64_t told = 0;
  const auto copied =
      CopyToHosts(context, Hosts(2), plan, [&](const CopyState& state) { told = state.bytes; });
  ASSERT_TRUE(copied.ok()) << copied.error().ToString();
  for (const auto& row : copied->hosts) EXPECT_FALSE(row.error) << row.error->ToString();
  EXPECT_EQ(told, copied->bytes);
  for (const char* host : {"h0", "h1"}) {
    EXPECT_THAT(NamesIn(hosts_.HomeOf(host)), ElementsAre("-b", "data"));
    EXPECT_EQ(Read(hosts_.HomeOf(host) / "data/a"), "A");
    EXPECT_EQ(Read(hosts_.HomeOf(host) / "-b"), "B");
  }
}

TEST_F(CopyTest, AHostThatFailsIsNamedAndTheOthersHaveTheirs) {
  shell_ = &hosts_;
  hosts_.Unplug("h1");
  Write(Here("a"), "A");
  const auto context = Context();
  const CopyPlan plan{.to_hosts = true, .sources = {Here("a")}, .to = ""};
  const auto copied = CopyToHosts(context, Hosts(2), plan, {});
  ASSERT_TRUE(copied.ok()) << copied.error().ToString();
  EXPECT_FALSE(copied->hosts[0].error);
  EXPECT_EQ(copied->hosts[1].error->reason, base::Reason::kHostRefused);
  EXPECT_EQ(Read(hosts_.HomeOf("h0") / "a"), "A");
}

/// Modes and times of files, folders and links, up and down again; also of folders that were there.
TEST_F(CopyTest, ModesAndTimesAreKept) {
  shell_ = &hosts_;
  Write(Here("tree/sub/run -x\n.sh"), "#!/bin/sh\n");
  fs::create_symlink("nowhere", Here("tree/link"));
  struct Entry {
    std::string name;
    mode_t mode;
    timespec time;
  };
  const std::vector<Entry> entries = {{"tree/sub/run -x\n.sh", 0751, {1'000'000'001, 123'456'789}},
                                      {"tree/link", 0777, {1'000'000'002, 500'000'000}},
                                      {"tree/sub", 0711, {1'000'000'003, 0}},
                                      {"tree", 0750, {1'000'000'004, 999'999'999}}};
  for (const Entry& one : entries) {
    const std::string path = Here(one.name);
    if (one.name != "tree/link") {
      ASSERT_EQ(::chmod(path.c_str(), one.mode), 0);
    }
    const std::array<timespec, 2> times = {one.time, one.time};
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times.data(), AT_SYMLINK_NOFOLLOW), 0);
  }
  const auto expect_kept = [&](const base::Path& root) {
    for (const Entry& one : entries) {
      struct stat facts = {};
      ASSERT_EQ(::lstat((root / one.name).c_str(), &facts), 0) << root / one.name;
      EXPECT_EQ(facts.st_mode & 07777, one.mode) << root / one.name;
      EXPECT_EQ(facts.st_mtim.tv_sec, one.time.tv_sec) << root / one.name;
      EXPECT_EQ(facts.st_mtim.tv_nsec, one.time.tv_nsec) << root / one.name;
    }
  };
  const auto context = Context();
  fs::create_directories(Here("back"));
  // The second time into folders that are there.
  for (int i = 0; i < 2; ++i) {
    const CopyPlan up{.to_hosts = true, .sources = {Here("tree")}, .to = ""};
    const auto went = CopyToHosts(context, Hosts(1), up, {});
    ASSERT_TRUE(went.ok() && !went->hosts[0].error);
    expect_kept(hosts_.HomeOf("h0"));
    const CopyPlan down{.sources = {"tree"}, .to = Here("back")};
    const auto came = CopyFromHosts(context, Hosts(1), down, false, {});
    ASSERT_TRUE(came.ok() && !came->hosts[0].error);
    expect_kept(Here("back"));
    ASSERT_EQ(::chmod((hosts_.HomeOf("h0") / "tree/sub").c_str(), 0700), 0);
  }
}

TEST_F(CopyTest, AnotherUsersFolderOfThatNameIsNotTaken) {
  shell_ = &hosts_;
  Write(Here("a"), "A");
  Write(hosts_.HomeOf("h0") / "a", "theirs");
  const auto context = Context();
  const CopyPlan up{.to_hosts = true, .sources = {Here("a")}, .to = ""};
  fs::create_directories(Here("elsewhere"));
  fs::create_symlink(Here("elsewhere"), hosts_.HomeOf("h0") / (CopyFolder(context, up) + "-0"));
  const auto went = CopyToHosts(context, Hosts(1), up, {});
  ASSERT_TRUE(went.ok());
  ASSERT_TRUE(went->hosts[0].error);
  EXPECT_THAT(went->hosts[0].error->message, HasSubstr("is not a folder of this user"));
  const CopyPlan down{.sources = {"a"}, .to = Here()};
  fs::create_symlink(Here("elsewhere"), Here(CopyFolder(context, down) + "-0"));
  const auto came = CopyFromHosts(context, Hosts(1), down, false, {});
  ASSERT_FALSE(came.ok());
  EXPECT_THAT(came.error().message, HasSubstr("is not a folder of this user"));
  EXPECT_THAT(NamesIn(Here("elsewhere")), IsEmpty());
}

TEST_F(CopyTest, WhatTheScriptTellsJobmanIsNoErrorMessage) {
  std::string people;
  PackNews news([&](std::string_view bytes) {
    people.append(bytes);
    return base::Ok();
  });
  for (const char* piece :
       {"job", "man-cp size 12", "34\ntar: a: ", "changed\njobman-cp waits\n", "jobs are many\n"})
    EXPECT_TRUE(news.Hear(piece).ok());
  EXPECT_EQ(news.size(), 1234);
  EXPECT_EQ(people, "tar: a: changed\njobs are many\n");
}

TEST_F(CopyTest, TheRestOfALineForPeopleTellsJobmanNothing) {
  std::string people;
  PackNews news([&](std::string_view bytes) {
    people.append(bytes);
    return base::Ok();
  });
  for (const char* piece : {"tar: ", "jobman-cp size 7\n", "job", "s: ", "jobman-cp size 8\n"})
    EXPECT_TRUE(news.Hear(piece).ok());
  EXPECT_EQ(news.size(), 0);
  EXPECT_EQ(people, "tar: jobman-cp size 7\njobs: jobman-cp size 8\n");
}

TEST_F(CopyTest, FoldersAreMergedAndReadOnlyOnesToo) {
  shell_ = &hosts_;
  Write(hosts_.HomeOf("h0") / "out/run/new", "new");
  ASSERT_EQ(::chmod((hosts_.HomeOf("h0") / "out/run").c_str(), 0555), 0);
  Write(Here("out/run/old"), "old");
  Write(Here("out/run/new"), "before");
  const auto context = Context();
  const CopyPlan plan{.sources = {"out"}, .to = Here()};
  const auto copied = CopyFromHosts(context, Hosts(1), plan, false, {});
  ASSERT_TRUE(copied.ok()) << copied.error().ToString();
  ASSERT_FALSE(copied->hosts[0].error) << copied->hosts[0].error->ToString();
  EXPECT_EQ(Read(Here("out/run/old")), "old");
  EXPECT_EQ(Read(Here("out/run/new")), "new");
  EXPECT_THAT(NamesIn(Here()), ElementsAre("out")) << "no scratch folder is left";
  EXPECT_EQ(::chmod((hosts_.HomeOf("h0") / "out/run").c_str(), 0755), 0);  // to be removed
}

/// A conflict is found before anything is replaced, here and there.
TEST_F(CopyTest, WhatIsInTheWayKeepsEverythingAsItWas) {
  shell_ = &hosts_;
  Write(Here("out/a"), "mine");
  Write(Here("out/sub"), "a file");
  Write(hosts_.HomeOf("h0") / "out/a", "theirs");
  Write(hosts_.HomeOf("h0") / "out/sub/b", "b");
  const auto context = Context();
  const CopyPlan down{.sources = {"out"}, .to = Here()};
  const auto came = CopyFromHosts(context, Hosts(1), down, false, {});
  ASSERT_TRUE(came.ok()) << came.error().ToString();
  EXPECT_THAT(came->hosts[0].error->message, HasSubstr("out/sub is not a folder"));
  EXPECT_FALSE(came->hosts[0].partly);
  EXPECT_EQ(Read(Here("out/a")), "mine");
  const CopyPlan up{.to_hosts = true, .sources = {Here("out")}, .to = ""};
  const auto went = CopyToHosts(context, Hosts(1), up, {});
  ASSERT_TRUE(went.ok()) << went.error().ToString();
  EXPECT_THAT(went->hosts[0].error->message, HasSubstr("out/sub: Is a directory"));
  EXPECT_FALSE(went->hosts[0].partly);
  EXPECT_EQ(Read(hosts_.HomeOf("h0") / "out/a"), "theirs");
  EXPECT_THAT(NamesIn(hosts_.HomeOf("h0")), ElementsAre("out"));
  EXPECT_THAT(NamesIn(Here()), ElementsAre("out"));
}

TEST_F(CopyTest, NamesAreTakenAsTheyAre) {
  shell_ = &hosts_;
  Write(Here("a\\tb/c\\n\\101"), "A");
  const auto context = Context();
  const CopyPlan up{.to_hosts = true, .sources = {Here("a\\tb/c\\n\\101")}, .to = ""};
  const auto went = CopyToHosts(context, Hosts(1), up, {});
  ASSERT_TRUE(went.ok()) << went.error().ToString();
  ASSERT_FALSE(went->hosts[0].error) << went->hosts[0].error->ToString();
  EXPECT_THAT(NamesIn(hosts_.HomeOf("h0")), ElementsAre("c\\n\\101"));
  fs::create_directories(Here("in\\to"));
  const CopyPlan down{.sources = {"c\\n\\101//"}, .to = Here("in\\to")};
  const auto slashes = CopyFromHosts(context, Hosts(1), down, false, {});
  ASSERT_TRUE(slashes.ok());
  EXPECT_TRUE(slashes->hosts[0].error) << "a file with a slash at its end";
  const CopyPlan again{.sources = {"c\\n\\101"}, .to = Here("in\\to")};
  const auto came = CopyFromHosts(context, Hosts(1), again, false, {});
  ASSERT_TRUE(came.ok()) << came.error().ToString();
  ASSERT_FALSE(came->hosts[0].error) << came->hosts[0].error->ToString();
  EXPECT_EQ(Read(Here("in\\to/c\\n\\101")), "A");
}

TEST_F(CopyTest, HolesOfAFileAreNotSent) {
  shell_ = &hosts_;
  Write(Here("sparse"), "x");
  fs::resize_file(Here("sparse"), 500'000'000);
  const auto context = Context();
  const CopyPlan plan{.to_hosts = true, .sources = {Here("sparse")}, .to = ""};
  const auto copied = CopyToHosts(context, Hosts(1), plan, {});
  ASSERT_TRUE(copied.ok()) << copied.error().ToString();
  EXPECT_LT(copied->bytes, 1'000'000);
  EXPECT_EQ(fs::file_size(hosts_.HomeOf("h0") / "sparse"), 500'000'000U);
}

TEST_F(CopyTest, AFolderMadeForACopyThatFailedIsRemoved) {
  shell_ = &hosts_;
  fs::create_directories(Here());
  const auto context = Context();
  const CopyPlan plan{.sources = {"none"}, .to = Here("both")};
  const auto copied = CopyFromHosts(context, Hosts(2), plan, true, {});
  ASSERT_TRUE(copied.ok()) << copied.error().ToString();
  EXPECT_EQ(copied->hosts[0].error->code, base::Code::kNotFound);
  EXPECT_THAT(NamesIn(Here()), IsEmpty());
}

TEST(CopyTalk, TheCauseIsFoundAmongWarnings) {
  std::string said;
  for (int i = 0; i < 1000; ++i) KeepEnds(said, "tar: a: some warning\n");
  KeepEnds(said, "tar: b: Cannot write: No space left on device\n");
  EXPECT_LT(said.size(), 10'000U);
  const base::Error error = CopyError(said, 2);
  EXPECT_EQ(error.reason, base::Reason::kDiskFull);
  EXPECT_EQ(error.message, "b: Cannot write: No space left on device");
  const base::Error cut = CopyError("tar: ./g: Wrote only 1536 of 10240 bytes\n", 2);
  EXPECT_EQ(cut.reason, base::Reason::kDiskFull);
  EXPECT_EQ(cut.message, "./g: Wrote only 1536 of 10240 bytes: no space is left");
}

}  // namespace
}  // namespace jobman::client
