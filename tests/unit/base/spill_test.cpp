#include "jobman/base/spill.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/temp_dir.hpp"

namespace jobman::base {
namespace {

class SpillTest : public ::testing::Test {
 protected:
  std::string Of(int writer) {
    std::string all;
    EXPECT_TRUE(spill_
                    .Read(writer,
                          [&](std::string_view bytes) {
                            all.append(bytes);
                            return Ok();
                          })
                    .ok());
    return all;
  }
  test::TempDir dir_;
  Spill spill_ = *Spill::Open(dir_.path());
};

TEST_F(SpillTest, KeepsEachWritersBytesInOrder) {
  std::string first;
  std::string second;
  for (int i = 0; i < 5000; ++i) {
    const std::string line = "line " + std::to_string(i) + "\n";
    ASSERT_TRUE(spill_.Append(0, line).ok());
    ASSERT_TRUE(spill_.Append(1, line + line).ok());
    first += line;
    second += line + line;
  }
  EXPECT_EQ(Of(0), first);
  EXPECT_EQ(Of(1), second);
  EXPECT_EQ(Of(2), "");
}

TEST_F(SpillTest, LeavesNoName) {
  ASSERT_TRUE(spill_.Append(0, std::string(1'000'000, 'x')).ok());
  EXPECT_TRUE(std::filesystem::is_empty(dir_.path()));
}

TEST_F(SpillTest, AnErrorEndsTheReading) {
  ASSERT_TRUE(spill_.Append(0, std::string(1'000'000, 'x')).ok());
  int pieces = 0;
  const Status ended = spill_.Read(0, [&](std::string_view) -> Status {
    ++pieces;
    return Internal("enough");
  });
  EXPECT_FALSE(ended.ok());
  EXPECT_EQ(pieces, 1);
}

}  // namespace
}  // namespace jobman::base
