#include "jobman/client/copy.hpp"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>

#include <filesystem>

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
  for (const auto& row : (*copied)->hosts) EXPECT_FALSE(row.error) << row.error->ToString();
  EXPECT_EQ(told, (*copied)->bytes);
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
  EXPECT_FALSE((*copied)->hosts[0].error);
  EXPECT_EQ((*copied)->hosts[1].error->reason, base::Reason::kHostRefused);
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
  EXPECT_TRUE((*copied)->hosts[0].error);
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
  ASSERT_FALSE((*copied)->hosts[0].error) << (*copied)->hosts[0].error->ToString();
  EXPECT_EQ(Read(Here("out/run/old")), "old");
  EXPECT_EQ(Read(Here("out/run/new")), "new");
  EXPECT_THAT(NamesIn(Here()), ElementsAre("out")) << "no scratch folder is left";
  EXPECT_EQ(::chmod((hosts_.HomeOf("h0") / "out/run").c_str(), 0755), 0);  // to be removed
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
    const auto& error = (*copied)->hosts[0].error;
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
