#include "jobman/client/copy.hpp"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>

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
  const auto copied = CopyToHosts(
      context, Hosts(2), plan, [&](std::int64_t bytes, const std::vector<int>&) { told = bytes; });
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
  hosts_.LoseAnswers(1);
  Write(Here("a"), "A");
  const auto context = Context();
  const CopyPlan plan{.to_hosts = true, .sources = {Here("a")}, .to = "new"};
  const auto copied = CopyToHosts(context, Hosts(1), plan, {});
  ASSERT_TRUE(copied.ok()) << copied.error().ToString();
  EXPECT_TRUE(copied->hosts[0].error);
  EXPECT_FALSE(fs::exists(hosts_.HomeOf("h0") / "new"));
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

TEST_F(CopyTest, AnInterruptRemovesWhatTheHostsHaveAndNamesThoseThatDoNotAnswer) {
  shell_ = &hosts_;
  hosts_.Unplug("h1");
  Write(Here("a"), "A");
  const base::Path left = hosts_.HomeOf("h0");
  const auto context = Context();
  const CopyPlan plan{.to_hosts = true, .sources = {Here("a")}, .to = ""};
  int told = 0;
  const auto copied =
      CopyToHosts(context, Hosts(2), plan, [&](std::int64_t, const std::vector<int>&) {
        if (++told == 1) ::raise(SIGINT);
      });
  ASSERT_FALSE(copied.ok());
  EXPECT_EQ(copied.error().code, base::Code::kCancelled);
  EXPECT_THAT(copied.error().message, HasSubstr("interrupted; host 1 did not confirm"));
  EXPECT_THAT(NamesIn(left), IsEmpty());
}

TEST(CopyTalk, TheCauseIsFoundAmongWarnings) {
  std::string said;
  for (int i = 0; i < 1000; ++i) KeepEnds(said, "tar: a: some warning\n");
  KeepEnds(said, "tar: b: Cannot write: No space left on device\n");
  EXPECT_LT(said.size(), 10'000U);
  const base::Error error = CopyError(said, 2);
  EXPECT_EQ(error.reason, base::Reason::kDiskFull);
  EXPECT_EQ(error.message, "b: Cannot write: No space left on device");
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
