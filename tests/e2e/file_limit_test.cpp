// Where fewer files may be opened than all hosts at once need, they are served in turns.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "jobman/base/files.hpp"
#include "tests/e2e/place.hpp"

namespace jobman::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// A job of 32 light hosts for all tests; 10 of them are served at once if 64 files may be open.
class FileLimit : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    place_ = std::make_unique<Place>();
    place_->StartSim({"--light", "--delays", "0"});
    const std::string file = place_->JobFile("pod", 1, "true");
    created_ = place_->Jobman({"run", file, "--set", "tpu.zone=us-central1-a", "--set",
                               "tpu.accelerator=v5p-" + std::to_string(8 * kHosts)});
  }
  static void TearDownTestSuite() { place_.reset(); }
  void SetUp() override { ASSERT_EQ(created_.code, 0) << created_.All(); }

  /// `jobman ARGS` with the hard limit of open files, as a line of sh says its input.
  static Ran Limited(int files, std::vector<std::string> args,
                     const std::string& input = "</dev/null") {
    const std::string line = "ulimit -n " + std::to_string(files) + "; exec \"$@\" " + input;
    args.insert(args.begin(), {"sh", "-c", line, "sh", JOBMAN_BIN_DIR "/jobman", "--home",
                               place_->home().string()});
    return RunProgram(args);
  }

  static constexpr int kHosts = 32;
  static constexpr const char* kWarning =
      "the limit of open files is 64, too low for 32 hosts at once";
  static inline std::unique_ptr<Place> place_ = {};
  static inline Ran created_ = {};
};

TEST_F(FileLimit, ExecReachesAllHostsInTurns) {
  const Ran low = Limited(64, {"exec", "1", "--", "echo here"});
  EXPECT_EQ(low.code, 0) << low.All();
  EXPECT_EQ(std::count(low.out.begin(), low.out.end(), '\n'), kHosts);
  EXPECT_THAT(low.err,
              AllOf(HasSubstr(kWarning), HasSubstr("10 at a time"), HasSubstr("ulimit -Hn")));
  const Ran high = Limited(512, {"exec", "1", "--", "echo here"});
  EXPECT_EQ(high.code, 0) << high.All();
  EXPECT_THAT(high.err, Not(HasSubstr("limit of open files")));
}

TEST_F(FileLimit, AnInputForAllHostsIsRefusedBeforeAnyIsReached) {
  const Ran all = Limited(64, {"exec", "1", "--", "touch reached"}, "<<'END'\nsome\nEND\n");
  EXPECT_EQ(all.code, 2) << all.All();
  EXPECT_THAT(all.err, AllOf(HasSubstr(kWarning), HasSubstr("</dev/null")));
  const Ran some = Limited(64, {"exec", "1", "-w", "0-9", "--", "cat; [ ! -e reached ]"},
                           "<<'END'\nsome\nEND\n");
  EXPECT_EQ(some.code, 0) << some.All();
  EXPECT_EQ(std::count(some.out.begin(), some.out.end(), '\n'), 10);
}

TEST_F(FileLimit, CopiesGoToAllHostsInTurnsAndComeBack) {
  const base::Path here = place_->path() / "here";
  std::filesystem::create_directories(here / "back");
  ASSERT_TRUE(base::WriteFileAtomic(here / "text", "some text\n").ok());
  const Ran sent = Limited(64, {"cp", (here / "text").string(), "1:"});
  EXPECT_EQ(sent.code, 0) << sent.All();
  EXPECT_THAT(sent.err, HasSubstr(kWarning));
  const Ran back = Limited(64, {"cp", "-w", "all", "1:text", (here / "back").string()});
  EXPECT_EQ(back.code, 0) << back.All();
  for (int host = 0; host < kHosts; ++host) {
    const base::Path copy = here / "back" / ("host-" + std::to_string(host)) / "text";
    EXPECT_EQ(base::ReadFile(copy).value_or(""), "some text\n") << host;
  }
}

TEST_F(FileLimit, SyncReachesAllHostsInTurns) {
  const base::Path here = place_->path() / "code";
  std::filesystem::create_directories(here);
  ASSERT_TRUE(base::WriteFileAtomic(here / "main.py", "print(1)\n").ok());
  const Ran synced = Limited(64, {"sync", here.string(), "1:code"});
  EXPECT_EQ(synced.code, 0) << synced.All();
  EXPECT_THAT(synced.err, HasSubstr(kWarning));
  const Ran seen = place_->Jobman({"exec", "1", "-q", "--fold", "--", "cat code/main.py"});
  EXPECT_THAT(seen.out, HasSubstr("print(1)"));
  EXPECT_EQ(seen.code, 0) << seen.All();
}

TEST_F(FileLimit, AWatchNeedsAllHostsAtOnce) {
  const Ran watch = Limited(64, {"top", "1", "--watch"});
  EXPECT_EQ(watch.code, 2) << watch.All();
  EXPECT_THAT(watch.err, AllOf(HasSubstr(kWarning), HasSubstr("--watch")));
}

}  // namespace
}  // namespace jobman::test
