#include "cli/queue_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>

#include "jobman/base/files.hpp"
#include "tests/support/temp_dir.hpp"

namespace jobman::cli {
namespace {

class QueueFilesOnDisk : public testing::Test {
 protected:
  void Write(const std::string& text) const {
    ASSERT_TRUE(base::WriteFileAtomic(file_, text).ok());
  }
  std::optional<ports::QueueFileStamp> Look() { return base::RunTask(loop_, files_.Look(file_)); }
  ports::QueueFileContent Read() { return base::RunTask(loop_, files_.Read(file_)); }

  asio::io_context loop_;
  test::TempDir dir_;
  std::string file_ = (dir_.path() / "tasks.yaml").string();
  LocalQueueFiles files_;
};

TEST_F(QueueFilesOnDisk, TheEnvironmentOfThisProcessIsFilledIn) {
  ::setenv("JOBMAN_TEST_ZONE", "us-central2-b", 1);
  Write("accelerators: {v4-8: {tasks: [{id: a, run: x, zone: '${oc.env:JOBMAN_TEST_ZONE}'}]}}\n");
  const auto content = Read();
  ::unsetenv("JOBMAN_TEST_ZONE");
  ASSERT_TRUE(content.list) << content.error;
  ASSERT_EQ(content.list->tasks.size(), 1u) << content.list->refused.at(0).why;
  EXPECT_EQ(content.list->tasks[0].zone, "us-central2-b");
  EXPECT_FALSE(content.fingerprint.empty());
}

TEST_F(QueueFilesOnDisk, AFileThatIsBrokenOrGoneIsSaidInALine) {
  EXPECT_FALSE(Look());
  EXPECT_EQ(Read().error, "tasks.yaml: the file is not there");
  Write("accelerators: [\n");
  const auto content = Read();
  EXPECT_FALSE(content.list);
  EXPECT_THAT(content.error, testing::StartsWith("tasks.yaml:"));
  EXPECT_THAT(content.error, testing::Not(testing::HasSubstr("\n")));
}

TEST_F(QueueFilesOnDisk, AFileThatIsReplacedHasAnotherStamp) {
  Write("accelerators: {}\n");
  const auto before = Look();
  EXPECT_EQ(Look(), before);
  Write("accelerators: []\n");
  EXPECT_NE(Look(), before);
}

TEST_F(QueueFilesOnDisk, WhatIsToldOfALongKeyIsShort) {
  Write(std::string(100'000, 'k') + ": 1\n");
  EXPECT_LT(Read().error.size(), 1'000u);
}

}  // namespace
}  // namespace jobman::cli
