// import: the state of Python jobman, a slice that is READY, and a controller that is alive.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "jobman/base/strings.hpp"
#include "tests/e2e/place.hpp"

namespace jobman::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class ImportE2e : public testing::Test {
 protected:
  void SetUp() override { place_.StartSim({"--delays", "0"}); }
  base::Path Old() const { return place_.path() / "old"; }
  void Write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories((Old() / name).parent_path());
    ASSERT_TRUE(base::WriteFileAtomic(Old() / name, text).ok());
  }
  /// Job 24, whose file names `node` as its slice.
  void WriteOld(const std::string& node) {
    const std::string file = place_.JobFile("llama", 2, "echo goes on as $JOBMAN_JOB_ID");
    std::string text = base::ReadFile(file).value_or("");
    text = base::ReplaceAll(text, "  pricing: spot\n",
                            "  pricing: spot\n  project: local-project\n  name: " + node + "\n");
    Write("jobs/.jobman/meta.json",
          R"({"000024": {"user": "ann", "name": "llama", "job_dir": "/gone", "config_path": "/gone",
              "session_name": ")" +
              session_ + R"("}})");
    Write("jobs/ann/000024/config.yaml", text);
    Write("jobs/ann/000024/logs/command_worker_0.log", "step 1\n");
  }
  const std::string session_ = "jobman-import-test-" + std::to_string(::getpid());
  Place place_;
};

TEST_F(ImportE2e, AJobGoesOnWithItsNumberLogsAndReadySlice) {
  // A node that somebody else made: here, another store's job that keeps its slice.
  const Ran made = place_.Jobman({"run", place_.JobFile("maker", 2, "true")});
  ASSERT_EQ(made.code, 0) << made.All();
  const std::string node = base::GetString(base::GetMember(place_.Show("1"), "slice"), "name");
  ASSERT_FALSE(node.empty()) << place_.Show("1").dump();
  WriteOld(node);

  const Ran dry = place_.Jobman({"import", Old().string(), "--dry-run"});
  EXPECT_EQ(dry.code, 0) << dry.All();
  EXPECT_THAT(dry.out, AllOf(HasSubstr("Python jobman, version 3"), HasSubstr("to be taken over"),
                             HasSubstr(node), HasSubstr("nothing was stored")));
  const Ran imported = place_.Jobman({"import", Old().string()});
  EXPECT_EQ(imported.code, 0) << imported.All();
  EXPECT_THAT(imported.out, HasSubstr("to go on with a job: jobman resume 24"));
  EXPECT_THAT(place_.Jobman({"list"}).out, AllOf(HasSubstr("000024"), HasSubstr("CANCELLED")));
  EXPECT_THAT(place_.Jobman({"logs", "24"}).out, HasSubstr("step 1"));
  EXPECT_THAT(place_.Jobman({"history", "24"}).out, HasSubstr("imported from"));

  EXPECT_EQ(place_.Jobman({"resume", "24"}).code, 0);
  EXPECT_EQ(place_.Jobman({"wait", "24"}).code, 0);
  EXPECT_THAT(place_.Jobman({"logs", "24"}).out, HasSubstr("goes on as 000024"));
  EXPECT_EQ(base::GetString(base::GetMember(place_.Show("24"), "slice"), "name"), node);
  const Ran next = place_.Jobman({"create", place_.JobFile("next", 1, "true")});
  EXPECT_THAT(next.out, HasSubstr("000025"));
}

TEST_F(ImportE2e, IsRefusedWhileTmuxHasTheSessionOfAJob) {
  WriteOld("none");
  const Ran started = RunProgram({"tmux", "new-session", "-d", "-s", session_, "sleep 600"});
  if (started.code != 0) GTEST_SKIP() << "tmux is not installed, or cannot start";
  const Ran refused = place_.Jobman({"import", Old().string()});
  const Ran dry = place_.Jobman({"import", Old().string(), "--dry-run"});
  RunProgram({"tmux", "kill-session", "-t", "=" + session_});
  EXPECT_NE(refused.code, 0);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("the old jobman still runs: job 000024"),
                                 HasSubstr("tmux kill-session -t")));
  EXPECT_THAT(dry.out, HasSubstr("import is refused until that is stopped"));
  EXPECT_EQ(place_.Jobman({"import", Old().string()}).code, 0) << "after that, it is done";
}

}  // namespace
}  // namespace jobman::test
