// The real script of a full disk, around a login that looks and writes.
#include "sim/hosts/full_disk.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "jobman/base/files.hpp"
#include "jobman/base/process.hpp"
#include "jobman/base/task.hpp"
#include "tests/support/temp_dir.hpp"

namespace jobman::sim {
namespace {

using testing::HasSubstr;
using testing::Not;

class FullDiskTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const base::Status may = TryFullDisk(); !may.ok()) GTEST_SKIP() << may.error().message;
    for (const base::Path& folder : {home(), tmp()}) std::filesystem::create_directories(folder);
    WriteProgram("full", FullDiskScript());
    WriteProgram("login", "#!/bin/sh\nls \"$HOME\"\necho x >\"$HOME/new\" && echo written\n");
  }
  void WriteProgram(const std::string& name, const std::string& text) {
    const base::Path file = dir_.path() / name;
    ASSERT_TRUE(base::WriteFileAtomic(file, text).ok());
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  }
  base::ProcessResult LogIn() {
    std::vector<std::string> argv = {"env", "HOME=" + home().string(), "TMPDIR=" + tmp().string(),
                                     (dir_.path() / "full").string(),
                                     (dir_.path() / "login").string()};
    asio::io_context loop;
    const auto ended = base::RunTask(loop, base::RunProcess(std::move(argv)));
    EXPECT_TRUE(ended.ok());
    return ended.ok() ? *ended : base::ProcessResult{};
  }
  base::Path home() const { return dir_.path() / "home"; }
  base::Path tmp() const { return dir_.path() / "tmp"; }

  test::TempDir dir_;
};

TEST_F(FullDiskTest, ALoginSeesItsFilesAndCannotWrite) {
  ASSERT_TRUE(base::WriteFileAtomic(home() / "notes", "mine\n").ok());
  const base::ProcessResult ended = LogIn();
  EXPECT_EQ(ended.out, "notes\n") << ended.err;
  EXPECT_FALSE(std::filesystem::exists(home() / "new"));
  EXPECT_TRUE(std::filesystem::is_empty(tmp()));
}

TEST_F(FullDiskTest, AHomeThatNobodyUsedYetIsFullToo) {
  const base::ProcessResult ended = LogIn();
  EXPECT_THAT(ended.err, Not(HasSubstr("no full disk")));
  EXPECT_THAT(ended.out, Not(HasSubstr("written")));
  EXPECT_TRUE(std::filesystem::is_empty(tmp()));
}

}  // namespace
}  // namespace jobman::sim
