#include "jobman/client/copy.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "client/copy_parts.hpp"
#include "jobman/base/process.hpp"
#include "jobman/client/run_on_hosts.hpp"
#include "tests/support/local_shell.hpp"
#include "tests/unit/client/client_world.hpp"

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

/// A host that sends what it likes, and says that all is well.
class LyingShell final : public ports::HostShell {
 public:
  base::Task<base::Result<int>> Run(ports::HostTarget, ports::RemoteCommand command,
                                    ports::ByteSink out, ports::ByteSink) override {
    JM_CO_TRY(command.pace->MayRead());
    JM_CO_TRY(out(sends));
    co_await base::Yield();
    co_return 0;
  }
  void Drop(const ports::HostTarget&) override {}
  std::string sends = {};
};

class CopyTest : public test::ClientWorld {
 protected:
  CopyTest() { ::signal(SIGPIPE, SIG_IGN); }  // as the program does
  std::vector<ssh::FanOutHost> Hosts(int count, const std::string& which = "all") {
    core::Job job = test::JobBuilder().Build();
    job.attempt = 1;
    auto hosts = ChooseHosts(Context().paths, test::WithHosts(std::move(job), count), which);
    EXPECT_TRUE(hosts.ok());
    return std::move(*hosts);
  }
  void Write(const base::Path& path, const std::string& text) {
    fs::create_directories(path.parent_path());
    ASSERT_TRUE(base::WriteFileAtomic(path, text, 0640).ok());
  }
  static std::string Read(const base::Path& path) {
    return base::ReadFile(path).value_or("(none)");
  }
  static std::vector<std::string> NamesIn(const base::Path& folder) {
    std::vector<std::string> names;
    for (const auto& one : fs::directory_iterator(folder)) names.push_back(one.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }
  std::string Here(const std::string& name = {}) { return (home_.path() / "here" / name).string(); }
  test::LocalShell hosts_{home_.path() / "hosts"};
};

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

/// The connection breaks after all was sent: nobody knows whether it arrived.
TEST_F(CopyTest, WithoutAnAnswerNothingGetsItsName) {
  shell_ = &hosts_;
  hosts_.LoseAnswers(1, 1);  // that of receive
  Write(Here("a"), "A");
  const auto context = Context();
  const CopyPlan plan{.to_hosts = true, .sources = {Here("a")}, .to = "new"};
  const auto copied = CopyToHosts(context, Hosts(1), plan, {});
  ASSERT_TRUE(copied.ok()) << copied.error().ToString();
  ASSERT_TRUE(copied->hosts[0].error);
  EXPECT_THAT(copied->hosts[0].error->hint, HasSubstr("is kept in .jobman-cp-"));
  EXPECT_FALSE(fs::exists(hosts_.HomeOf("h0") / "new"));
  const auto again = CopyToHosts(context, Hosts(1), plan, {});
  ASSERT_TRUE(again.ok()) << again.error().ToString();
  ASSERT_FALSE(again->hosts[0].error) << again->hosts[0].error->ToString();
  EXPECT_EQ(again->hosts[0].bytes, 0) << "all had arrived";
  EXPECT_EQ(again->hosts[0].resumed, again->bytes);
  EXPECT_THAT(NamesIn(hosts_.HomeOf("h0")), ElementsAre("new"));
}

/// Hosts whose connection breaks in the middle: after so many bytes of input or output.
class BreakingShell final : public ports::HostShell {
 public:
  explicit BreakingShell(ports::HostShell* hosts) : hosts_(hosts) {}
  base::Task<base::Result<int>> Run(ports::HostTarget target, ports::RemoteCommand command,
                                    ports::ByteSink out, ports::ByteSink err) override {
    if (!command.pace || breaks == 0)
      co_return co_await hosts_->Run(target, std::move(command), std::move(out), std::move(err));
    --breaks;
    const std::shared_ptr<ports::Pace> pace = std::exchange(command.pace, nullptr);
    while (command.input.size() < after) {
      JM_CO_ASSIGN_OR_RETURN(const auto piece, pace->NextInput());
      if (piece && piece->empty()) break;
      if (piece) command.input += *piece;
      if (!piece) co_await base::Yield();
    }
    command.input.resize(std::min(command.input.size(), after));
    std::size_t room = after;
    const ports::ByteSink some = [&room, &out](std::string_view bytes) -> base::Status {
      const std::string_view part = bytes.substr(0, room);
      room -= part.size();
      return out && !part.empty() ? out(part) : base::Ok();
    };
    JM_CO_TRY(co_await hosts_->Run(target, std::move(command), some, std::move(err)));
    base::Error broke{.code = base::Code::kUnavailable,
                      .message = target.address + ": the connection broke",
                      .reason = base::Reason::kConnectionBroke};
    co_return broke;
  }
  void Drop(const ports::HostTarget&) override {}
  int breaks = 1;
  std::size_t after = 1'000'000;

 private:
  ports::HostShell* hosts_;
};

/// A copy of 3 MB in both directions that breaks after 1 MB.
class BrokenCopy : public CopyTest {
 protected:
  BrokenCopy() { shell_ = &breaking_; }
  /// Text in which no part is like another.
  static std::string Text(int seed) {
    std::string text;
    while (text.size() < 3'000'000) text += std::to_string(seed++) + "\n";
    return text;
  }
  Copied::Host Copy(const CopyPlan& plan) {
    const auto context = Context();
    auto copied = plan.to_hosts ? CopyToHosts(context, Hosts(1), plan, {})
                                : CopyFromHosts(context, Hosts(1), plan, false, {});
    EXPECT_TRUE(copied.ok()) << copied.error().ToString();
    return copied.ok() ? copied->hosts.at(0) : Copied::Host{};
  }
  base::Path There(const std::string& name) { return hosts_.HomeOf("h0") / name; }
  /// The copy of `from` to `to`, and what is left beside it when it broke off.
  void GoesOn(const CopyPlan& plan, const base::Path& from, const base::Path& to) {
    Write(from, Text(1));
    fs::create_directories(to.parent_path());
    const Copied::Host broke = Copy(plan);
    ASSERT_TRUE(broke.error);
    EXPECT_EQ(broke.error->reason, base::Reason::kConnectionBroke);
    EXPECT_THAT(broke.error->hint, HasSubstr("is kept in .jobman-cp-"));
    EXPECT_FALSE(fs::exists(to));
    EXPECT_THAT(NamesIn(to.parent_path()), ElementsAre(testing::StartsWith(".jobman-cp-")));
    const Copied::Host done = Copy(plan);
    ASSERT_FALSE(done.error) << done.error->ToString();
    EXPECT_EQ(done.resumed, 1'000'000);
    EXPECT_GT(done.bytes, 2'000'000);
    EXPECT_LT(done.bytes, 2'100'000);
    EXPECT_TRUE(Read(to) == Read(from));
    EXPECT_THAT(NamesIn(to.parent_path()), ElementsAre(to.filename().string()));
  }
  /// Never the beginning of one version and the end of another.
  void BeginsAnewForAnotherVersion(const CopyPlan& plan, const base::Path& from,
                                   const base::Path& to) {
    Write(from, Text(1));
    fs::create_directories(to.parent_path());
    EXPECT_TRUE(Copy(plan).error);
    Write(from, Text(2));
    const Copied::Host done = Copy(plan);
    ASSERT_FALSE(done.error) << done.error->ToString();
    EXPECT_EQ(done.resumed, 0);
    EXPECT_GT(done.bytes, 3'000'000);
    EXPECT_TRUE(Read(to) == Text(2));
    EXPECT_THAT(NamesIn(to.parent_path()), ElementsAre(to.filename().string()));
  }
  CopyPlan Up() { return {.to_hosts = true, .sources = {Here("big")}, .to = ""}; }
  CopyPlan Down() { return {.sources = {"big"}, .to = Here()}; }
  BreakingShell breaking_{&hosts_};
};

TEST_F(BrokenCopy, ToAHostGoesOnFromWhatArrived) {
  GoesOn(Up(), Here("big"), There("big"));
}
TEST_F(BrokenCopy, FromAHostGoesOnFromWhatArrived) {
  GoesOn(Down(), There("big"), Here("big"));
}
TEST_F(BrokenCopy, ToAHostBeginsAnewWhenTheFileChanged) {
  BeginsAnewForAnotherVersion(Up(), Here("big"), There("big"));
}
TEST_F(BrokenCopy, FromAHostBeginsAnewWhenTheFileChanged) {
  BeginsAnewForAnotherVersion(Down(), There("big"), Here("big"));
}

/// As after the host lost power: the length is there, the content is not.
TEST_F(BrokenCopy, WhatArrivedIsComparedAndNotTrusted) {
  Write(Here("big"), Text(1));
  EXPECT_TRUE(Copy(Up()).error);
  for (const auto& one : fs::directory_iterator(hosts_.HomeOf("h0"))) {
    const auto size = fs::file_size(one.path() / "archive");
    ASSERT_EQ(size, 1'000'000U);
    Write(one.path() / "archive", std::string(size, '\0'));
  }
  const Copied::Host done = Copy(Up());
  ASSERT_FALSE(done.error) << done.error->ToString();
  EXPECT_EQ(done.resumed, 0);
  EXPECT_TRUE(Read(There("big")) == Text(1));
}

TEST_F(BrokenCopy, WithPatienceTheSameCallGoesOn) {
  Write(Here("big"), Text(1));
  CopyPlan plan = Up();
  plan.patience = std::chrono::minutes{1};
  const Copied::Host done = Copy(plan);
  ASSERT_FALSE(done.error) << done.error->ToString();
  EXPECT_EQ(done.resumed, 1'000'000);
  EXPECT_TRUE(Read(There("big")) == Text(1));
}

TEST_F(BrokenCopy, WhatNobodyTookUpAgainIsRemovedADayLater) {
  Write(Here("big"), Text(1));
  Write(Here("other"), "other");
  EXPECT_TRUE(Copy(Up()).error);
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours{25};
  for (const auto& one : fs::directory_iterator(hosts_.HomeOf("h0"))) {
    for (const auto& part : fs::directory_iterator(one.path()))
      fs::last_write_time(part.path(), old);
    fs::last_write_time(one.path(), old);
  }
  EXPECT_FALSE(Copy({.to_hosts = true, .sources = {Here("other")}, .to = ""}).error);
  EXPECT_THAT(NamesIn(hosts_.HomeOf("h0")), ElementsAre("other"));

  breaking_.breaks = 1;
  Write(There("big"), Text(1));
  fs::create_directories(Here("in"));
  EXPECT_TRUE(Copy({.sources = {"big"}, .to = Here("in")}).error);
  for (const auto& one : fs::directory_iterator(Here("in")))
    fs::last_write_time(one.path() / "archive", old);
  EXPECT_FALSE(Copy({.sources = {"other"}, .to = Here("in")}).error);
  EXPECT_THAT(NamesIn(Here("in")), ElementsAre("other"));
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
  fs::create_symlink(Here("elsewhere"), hosts_.HomeOf("h0") / CopyFolder(context, up));
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

TEST_F(CopyTest, AnInterruptKeepsWhatArrivedAndTheNextCallUsesIt) {
  shell_ = &hosts_;
  Write(Here("a"), "A");
  const base::Path there = hosts_.HomeOf("h0");
  const auto context = Context();
  const CopyPlan plan{.to_hosts = true, .sources = {Here("a")}, .to = ""};
  int told = 0;
  const auto copied = CopyToHosts(context, Hosts(2), plan, [&](const CopyState&) {
    if (++told == 1) ::raise(SIGINT);
  });
  ASSERT_FALSE(copied.ok());
  EXPECT_EQ(copied.error().code, base::Code::kCancelled);
  EXPECT_THAT(copied.error().message,
              testing::AllOf(HasSubstr("interrupted; 0 of 2 hosts have the copy"),
                             HasSubstr("is kept in " + CopyFolder(context, plan))));
  EXPECT_FALSE(fs::exists(there / "a"));
  const auto again = CopyToHosts(context, Hosts(2), plan, {});
  ASSERT_TRUE(again.ok()) << again.error().ToString();
  ASSERT_FALSE(again->hosts[0].error) << again->hosts[0].error->ToString();
  EXPECT_EQ(Read(there / "a"), "A");
  EXPECT_THAT(NamesIn(there), ElementsAre("a"));
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

class LyingHost : public CopyTest {
 protected:
  LyingHost() { shell_ = &liar_; }
  /// What a tar with these arguments writes, run in the folder lie.
  void Sends(const std::string& script) {
    const std::string folder = (home_.path() / "lie").string();
    fs::create_directories(folder);
    auto ran = Await(base::RunProcess({"sh", "-c", "cd \"$0\" && " + script, folder}));
    ASSERT_TRUE(ran.ok());
    ASSERT_EQ(ran->exit_code, 0) << ran->err;
    liar_.sends = ran->out;
    fs::create_directories(Here("in"));
  }
  std::string ErrorOf(const std::string& source) {
    const auto context = Context();
    const CopyPlan plan{.sources = {source}, .to = Here("in")};
    const auto copied = CopyFromHosts(context, Hosts(1), plan, false, {});
    if (!copied.ok()) return "failed: " + copied.error().ToString();
    const auto& error = copied->hosts[0].error;
    return error ? error->ToString() : "";
  }
  LyingShell liar_;
};

TEST_F(LyingHost, WritesThroughNoLinkOfItsOwn) {
  Write(Here("outside/kept"), "mine");
  Sends("mkdir -p one two/data/way && ln -s " + Here("outside") +
        " one/way && mkdir one/data && mv one/way one/data/ && echo evil > two/data/way/kept && "
        "tar -cf x.tar -C one data && tar -rf x.tar -C two data/way/kept && cat x.tar");
  ErrorOf("data");
  EXPECT_EQ(Read(Here("outside/kept")), "mine");
  EXPECT_THAT(NamesIn(Here("outside")), ElementsAre("kept"));
}

TEST_F(LyingHost, WritesOnlyWhatWasAskedFor) {
  Sends("echo evil > .bashrc && echo good > a && tar -cf - a .bashrc");
  EXPECT_THAT(ErrorOf("a"), HasSubstr(".bashrc was sent, though nobody asked for it"));
  EXPECT_THAT(NamesIn(Here("in")), IsEmpty());
  Sends("mkdir -p d && echo evil > up && tar -cPf - -C d ../up");
  EXPECT_NE(ErrorOf("a"), "");
  EXPECT_THAT(NamesIn(Here("in")), IsEmpty());
  EXPECT_THAT(NamesIn(Here()), ElementsAre("in"));
}

TEST_F(LyingHost, MakesNoPipesAndNoFileThatRunsAsAnother) {
  Sends("mkdir -p a && mkfifo a/pipe && tar -cf - a");
  EXPECT_THAT(ErrorOf("a"), HasSubstr("is neither a file nor a folder nor a link"));
  EXPECT_THAT(NamesIn(Here("in")), IsEmpty());
  Sends("echo x > b && chmod 6755 b && tar -cf - b");
  EXPECT_EQ(ErrorOf("b"), "");
  struct stat facts = {};
  ASSERT_EQ(::lstat(Here("in/b").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777, 0755U);
}

TEST_F(LyingHost, ChoosesNoModeOfTheFolderItUnpacksIn) {
  Sends("mkdir top && echo A > top/a && chmod 500 top && tar -cf - -C top .; chmod 700 top");
  EXPECT_EQ(ErrorOf("a"), "");
  EXPECT_EQ(Read(Here("in/a")), "A\n");
  EXPECT_THAT(NamesIn(Here("in")), ElementsAre("a"));
}

TEST_F(LyingHost, AnArchiveThatBreaksOffIsNothing) {
  Sends("head -c 100000 /dev/zero > a && tar -cf - a | head -c 50000");
  EXPECT_THAT(ErrorOf("a"), HasSubstr("Unexpected EOF"));
  EXPECT_THAT(NamesIn(Here("in")), IsEmpty());
  Sends("printf 'no archive at all'");
  EXPECT_NE(ErrorOf("a"), "");
  EXPECT_THAT(NamesIn(Here("in")), IsEmpty());
}

}  // namespace
}  // namespace jobman::client
