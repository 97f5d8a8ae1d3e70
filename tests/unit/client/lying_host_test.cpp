// What a host sends that cannot be trusted.
#include <gmock/gmock.h>

#include <sys/stat.h>

#include "jobman/base/process.hpp"
#include "tests/unit/client/copy_fixture.hpp"

namespace jobman::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
namespace fs = std::filesystem;

/// A host that sends what it likes, and says that all is well.
class LyingShell final : public ports::HostShell {
 public:
  base::Task<base::Result<int>> Run(ports::SharedTarget, ports::RemoteCommand command,
                                    ports::ByteSink out, ports::ByteSink) override {
    JM_CO_TRY(command.pace->MayRead());
    JM_CO_TRY(out(sends));
    co_await base::Yield();
    co_return 0;
  }
  void Drop(const ports::HostTarget&) override {}
  std::string sends = {};
};

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
