#include "jobman/client/last_exec.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "jobman/base/files.hpp"
#include "tests/support/temp_dir.hpp"

namespace jobman::client {
namespace {

constexpr core::JobId kJob{42};

class LastExecTest : public testing::Test {
 protected:
  LastExecTest() { EXPECT_TRUE(base::EnsureDir(paths_.JobDir(kJob.value)).ok()); }
  base::Path File() const { return paths_.JobDir(kJob.value) / "exec.json"; }

  test::TempDir home_;
  base::StatePaths paths_ = {.home = home_.path()};
};

TEST_F(LastExecTest, IsKeptUntilOneSucceedsEverywhere) {
  EXPECT_FALSE(ReadLastExec(paths_, kJob).value()) << "none yet";
  const LastExec last{.order = {.words = {"echo", "a \xff'b", ""},
                                .workdir = "~/x",
                                .clean_libtpu = true,
                                .job_env = true,
                                .limit = std::chrono::seconds{5}},
                      .had_input = true,
                      .failed = {3, 4, 417}};
  ASSERT_TRUE(KeepLastExec(paths_, kJob, last).ok());
  EXPECT_EQ(ReadLastExec(paths_, kJob).value(), last);
  struct stat facts = {};
  ASSERT_EQ(::stat(File().c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0600U);
  const LastExec plain{.order = {.words = {"ls"}}, .failed = {0}};
  ASSERT_TRUE(KeepLastExec(paths_, kJob, plain).ok());
  EXPECT_EQ(ReadLastExec(paths_, kJob).value(), plain);
  ASSERT_TRUE(KeepLastExec(paths_, kJob, {.order = plain.order}).ok());
  EXPECT_FALSE(ReadLastExec(paths_, kJob).value());
  EXPECT_FALSE(base::FileSize(File()));
  EXPECT_TRUE(KeepLastExec(paths_, kJob, {.order = plain.order}).ok()) << "nothing to forget";
}

TEST_F(LastExecTest, ALongCommandIsNotKept) {
  const LastExec last{.order = {.words = {std::string(kLongestKept, 'x')}}, .failed = {1}};
  ASSERT_TRUE(KeepLastExec(paths_, kJob, last).ok());
  EXPECT_EQ(ReadLastExec(paths_, kJob).value(), (LastExec{.failed = {1}}));
  LastExec most = last;
  most.order.words = {std::string(kLongestKept - 1, '\xff')};
  ASSERT_TRUE(KeepLastExec(paths_, kJob, most).ok());
  EXPECT_EQ(ReadLastExec(paths_, kJob).value(), most);
}

TEST_F(LastExecTest, AJobThatIsCleanedMeanwhileStaysClean) {
  ASSERT_TRUE(base::RemoveAll(paths_.JobDir(kJob.value)).ok());
  EXPECT_TRUE(KeepLastExec(paths_, kJob, {.order = {.words = {"ls"}}, .failed = {0}}).ok());
  EXPECT_FALSE(base::FileSize(File()));
}

TEST(AfterExec, HostsThatWereLeftOutHaveFailedStill) {
  const base::Error no{.code = base::Code::kUnavailable, .message = "no"};
  const ssh::FanOutResult result{
      .hosts = {{.host = 1, .result = 0}, {.host = 2, .result = 3}, {.host = 3, .result = no}}};
  EXPECT_EQ(AfterExec({}, false, result, {}).failed, (std::vector<int>{2, 3}));
  EXPECT_TRUE(AfterExec({}, true, result, {}).had_input);
  EXPECT_EQ(AfterExec({}, false, result, LastExec{.failed = {1, 2, 7}}).failed,
            (std::vector<int>{2, 3, 7}));
}

TEST(Again, WithoutACommandItIsTheLastOne) {
  const LastExec last{.order = {.words = {"ls"}, .workdir = "~/x"}, .failed = {1, 3}};
  EXPECT_EQ(Again({}, false, last).value(), last.order);
  const ExecOrder other{.words = {"df"}};
  EXPECT_EQ(Again(other, false, last).value(), other);
  const ExecOrder more = Again({.workdir = "/", .job_env = true}, false, last).value();
  EXPECT_EQ(more, (ExecOrder{.words = {"ls"}, .workdir = "/", .job_env = true}));
  EXPECT_EQ(Again({}, false, {.failed = {1}}).error().code, base::Code::kFailedPrecondition);
  const LastExec fed{.order = last.order, .had_input = true, .failed = {1}};
  EXPECT_EQ(Again({}, false, fed).error().code, base::Code::kFailedPrecondition);
  EXPECT_EQ(Again({}, true, fed).value(), fed.order);
  EXPECT_EQ(Again(other, false, fed).value(), other);
  std::vector<ssh::FanOutHost> hosts(4);
  for (int host = 0; host < 4; ++host) hosts[static_cast<std::size_t>(host)].host = host;
  KeepFailed(last, hosts);
  ASSERT_EQ(hosts.size(), 2U);
  EXPECT_EQ(hosts[1].host, 3);
}

TEST_F(LastExecTest, AFileThatIsNoRecordIsNamed) {
  ASSERT_TRUE(base::WriteFileAtomic(File(), "{\"words\": 7, \"failed\": \"x\"}").ok());
  const auto read = ReadLastExec(paths_, kJob);
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().ToString().find("exec.json"), std::string::npos);
  ASSERT_TRUE(base::WriteFileAtomic(File(), "[]").ok());
  EXPECT_FALSE(ReadLastExec(paths_, kJob).ok());
}

}  // namespace
}  // namespace jobman::client
