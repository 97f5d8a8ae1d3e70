#include "jobman/client/out_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/support/temp_dir.hpp"

namespace jobman::client {
namespace {

using Stream = OutFiles::Stream;
using testing::HasSubstr;

mode_t ModeOf(const base::Path& path) {
  struct stat facts = {};
  EXPECT_EQ(::stat(path.c_str(), &facts), 0) << path;
  return facts.st_mode & 0777U;
}

class OutFilesTest : public testing::Test {
 protected:
  base::Result<OutFiles> Create(bool replace = false) {
    return OutFiles::Create(folder_, {0, 1023}, replace);
  }
  std::string Read(const std::string& name) {
    return base::ReadFile(folder_ / name).value_or("no such file");
  }
  test::TempDir dir_;
  base::Path folder_ = dir_.path() / "some where/out";
};

TEST_F(OutFilesTest, EachHostHasItsFiles) {
  auto files = Create();
  ASSERT_TRUE(files.ok()) << files.error().ToString();
  ASSERT_TRUE(files->Append(0, Stream::kOut, std::string_view("a\0", 2)).ok());
  ASSERT_TRUE(files->Append(0, Stream::kErr, "e").ok());
  ASSERT_TRUE(files->Append(0, Stream::kOut, "b").ok());
  ASSERT_TRUE(files->Append(0, Stream::kErr, "f").ok());
  EXPECT_EQ(Read("host-0000.out"), std::string("a\0b", 3));
  EXPECT_EQ(Read("host-0000.err"), "ef");
  EXPECT_EQ(Read("host-1023.out"), "");
  EXPECT_EQ(Read("host-1023.err"), "no such file");
  EXPECT_TRUE(files->HasErr(0));
  EXPECT_FALSE(files->HasErr(1023));
  EXPECT_EQ(files->PathOf(1023, Stream::kErr), folder_ / "host-1023.err");
  EXPECT_EQ(ModeOf(folder_), 0700U);
  EXPECT_EQ(ModeOf(folder_ / "host-0000.out"), 0600U);
}

TEST_F(OutFilesTest, EarlierOutputIsReplacedOnlyOnDemand) {
  std::filesystem::create_directories(folder_);
  for (const char* name : {"host-0007.err", "notes.txt", "host-x.out"})
    ASSERT_TRUE(base::WriteFileAtomic(folder_ / name, "mine").ok());
  const auto refused = Create();
  EXPECT_EQ(refused.error().code, base::Code::kAlreadyExists);
  EXPECT_THAT(refused.error().message, HasSubstr("host-0007.err"));
  EXPECT_THAT(refused.error().hint, HasSubstr("--force"));
  EXPECT_EQ(Read("host-0000.out"), "no such file");
  EXPECT_TRUE(Create(true).ok());
  EXPECT_EQ(Read("host-0007.err"), "no such file") << "it would be taken for this command's";
  EXPECT_EQ(Read("notes.txt"), "mine");
  EXPECT_EQ(Read("host-x.out"), "mine");
}

TEST_F(OutFilesTest, WhatCannotBeWrittenIsNamed) {
  auto files = Create();
  ASSERT_TRUE(files.ok());
  std::filesystem::remove(folder_ / "host-0000.out");
  std::filesystem::create_symlink("/dev/full", folder_ / "host-0000.out");
  EXPECT_THAT(files->Append(0, Stream::kOut, "x").error().message, HasSubstr("host-0000.out"))
      << "a link is not followed";
  EXPECT_TRUE(files->Append(1023, Stream::kOut, "x").ok());
}

TEST_F(OutFilesTest, AFileIsNoFolder) {
  ASSERT_TRUE(base::WriteFileAtomic(dir_.path() / "file", "").ok());
  folder_ = dir_.path() / "file";
  EXPECT_FALSE(Create().ok());
  EXPECT_THAT(Create().error().message, HasSubstr("file"));
}

}  // namespace
}  // namespace jobman::client
