#include "jobman/base/capped_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/support/temp_dir.hpp"

namespace jobman::base {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 20;
/// Blocks at the edges of the gap, and what the file system needs to describe it.
constexpr std::int64_t kEdges = 16'384;

class CappedFileTest : public ::testing::Test {
 protected:
  std::int64_t OnDisk() const {
    struct stat info = {};
    EXPECT_EQ(::stat(path_.c_str(), &info), 0);
    return std::int64_t{info.st_blocks} * 512;
  }
  /// Appends numbered lines of ten bytes.
  void Fill(CappedFile& file, int lines) {
    for (int i = 0; i < lines; ++i) {
      ASSERT_TRUE(file.Append(std::to_string(1'000'000'00 + next_++) + "\n").ok());
    }
  }
  test::TempDir dir_;
  Path path_ = dir_ / "log";
  int next_ = 0;
};

TEST_F(CappedFileTest, AShortFileIsWhole) {
  CappedFile file = *CappedFile::Open(path_, kMost);
  Fill(file, 100'000);
  EXPECT_EQ(file.size(), 1'000'000);
  EXPECT_FALSE(ReadGap(path_));
}

TEST_F(CappedFileTest, ALongFileLosesItsMiddleOnly) {
  CappedFile file = *CappedFile::Open(path_, kMost);
  Fill(file, 1'000'000);
  EXPECT_EQ(file.size(), 10'000'000);
  EXPECT_LE(OnDisk(), kMost + kEdges);
  const auto gap = ReadGap(path_);
  ASSERT_TRUE(gap);
  EXPECT_EQ(gap->begin, kMost / 2);
  EXPECT_GE(gap->end, file.size() - kMost / 2);
  EXPECT_LE(gap->end, file.size() - kMost * 3 / 8);
  const std::string text = *ReadFile(path_);
  ASSERT_EQ(text.size(), 10'000'000U);
  for (std::size_t line = 0; line < 1'000'000; ++line) {
    const auto at = static_cast<std::int64_t>(line * 10);
    if (at + 10 > gap->begin && at < gap->end) continue;
    ASSERT_EQ(text.substr(line * 10, 10), std::to_string(100'000'000 + line) + "\n");
  }
}

TEST_F(CappedFileTest, TheLimitHoldsAtAnyMoment) {
  CappedFile file = *CappedFile::Open(path_, kMost);
  for (std::size_t size = 1000; size < 3'000'000; size += 50'000) {
    ASSERT_TRUE(file.Append(std::string(size, 'x')).ok());
    ASSERT_LE(OnDisk(), kMost + kEdges) << "after " << size << " bytes at once";
  }
}

TEST_F(CappedFileTest, GoesOnWhereItWasClosed) {
  for (int i = 0; i < 10; ++i) {
    CappedFile file = *CappedFile::Open(path_, kMost);
    EXPECT_EQ(file.size(), i * 1'000'000);
    Fill(file, 100'000);
  }
  EXPECT_LE(OnDisk(), kMost + kEdges);
  EXPECT_EQ(ReadGap(path_)->begin, kMost / 2);
}

TEST_F(CappedFileTest, GoesOnAfterAPartThatItsSourceHasLost) {
  CappedFile file = *CappedFile::Open(path_, kMost);
  Fill(file, 10'000);
  ASSERT_TRUE(file.Skip({.begin = kMost / 2, .end = 50 * kMost}).ok());
  EXPECT_EQ(file.size(), 50 * kMost);
  EXPECT_EQ(*ReadGap(path_), (FileGap{.begin = kMost / 2, .end = 50 * kMost}));
  ASSERT_TRUE(file.Append("next\n").ok());
  EXPECT_LE(OnDisk(), 100'000 + kEdges);
  Fill(file, 200'000);
  EXPECT_LE(OnDisk(), kMost + kEdges);
  EXPECT_EQ(ReadGap(path_)->begin, kMost / 2);
}

TEST_F(CappedFileTest, ASmallPartThatIsLostIsNoLarger) {
  CappedFile file = *CappedFile::Open(path_, kMost);
  ASSERT_TRUE(file.Append("one\n").ok());
  ASSERT_TRUE(file.Skip({.begin = 4, .end = 7000}).ok());
  EXPECT_EQ(file.size(), 7000);
  EXPECT_EQ(*ReadGap(path_), (FileGap{.begin = 4, .end = 7000}));
}

TEST_F(CappedFileTest, APartThatIsHereAlreadyIsHidden) {
  CappedFile file = *CappedFile::Open(path_, kMost);
  Fill(file, 90'000);
  ASSERT_TRUE(file.Skip({.begin = 700'000, .end = 800'000}).ok());
  EXPECT_EQ(file.size(), 900'000);
  EXPECT_EQ(*ReadGap(path_), (FileGap{.begin = kMost / 2, .end = 800'000})) << "one gap";
}

TEST_F(CappedFileTest, NothingIsDroppedThatCannotBeRecorded) {
  CappedFile file = *CappedFile::Open(path_, kMost);
  ASSERT_TRUE(file.Append(std::string(kMost, 'x')).ok());
  ASSERT_TRUE(EnsureDir(dir_ / "log.gap").ok());
  EXPECT_FALSE(file.Append(std::string(kMost, 'x')).ok());
  EXPECT_EQ(ReadFile(path_)->find('\0'), std::string::npos);
}

TEST_F(CappedFileTest, ADamagedRecordIsNoGap) {
  for (const char* text : {"", "7", "9 3", "a b", "1 2 3"}) {
    ASSERT_TRUE(WriteFileAtomic(dir_ / "log.gap", text).ok());
    EXPECT_FALSE(ReadGap(path_)) << text;
  }
}

}  // namespace
}  // namespace jobman::base
