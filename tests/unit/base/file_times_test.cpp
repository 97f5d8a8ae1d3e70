#include "jobman/base/file_times.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "tests/support/modified.hpp"
#include "tests/support/temp_dir.hpp"

namespace jobman::base {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;

class FileTimesTest : public ::testing::Test {
 protected:
  static TimePoint Second(std::int64_t second) { return TimePoint{seconds{second}}; }
  static FileTimes::Entry At(std::int64_t offset, std::int64_t second) {
    return {.offset = offset, .at = Second(second)};
  }
  /// The file has this many bytes.
  void Grow(std::int64_t size) { ASSERT_TRUE(AppendFile::Open(path_)->Extend(size).ok()); }
  void WriteTimes(const std::string& text) { ASSERT_TRUE(WriteFileAtomic(times_path_, text).ok()); }
  std::vector<FileTimes::Entry> Entries() const { return FileTimes::Read(path_).entries(); }

  test::TempDir dir_;
  Path path_ = dir_ / "log";
  Path times_path_ = dir_ / "log.times";
};

TEST_F(FileTimesTest, AnEntryASecondSaysWhereItsBytesBegin) {
  FileTimesWriter writer(path_);
  writer.Record(0, Second(100), 1);
  writer.Record(7, Second(100) + milliseconds{999}, 1);
  writer.Record(9, Second(101), 1);
  writer.Record(20, Second(3700), 1);
  EXPECT_EQ(*ReadFile(times_path_), "0 100\n9 101\n20 3700\n");
  const FileTimes times = FileTimes::Read(path_);
  EXPECT_EQ(times.At(0), Second(100));
  EXPECT_EQ(times.At(8), Second(100)) << "it came in that second, however long nothing followed";
  EXPECT_EQ(times.At(9), Second(101));
  EXPECT_EQ(times.At(1000), Second(3700));
  EXPECT_EQ(times.EndOf(0), 9);
  EXPECT_EQ(times.EndOf(9), 20);
  EXPECT_GT(times.EndOf(20), std::int64_t{1} << 60);
}

TEST_F(FileTimesTest, FindsWhatCameSinceATime) {
  WriteTimes("0 100\n9 101\n20 3700\n");
  const FileTimes times = FileTimes::Read(path_);
  EXPECT_EQ(times.FirstSince(Second(0)), 0);
  EXPECT_EQ(times.FirstSince(Second(100) + milliseconds{500}), 0) << "maybe after half of it";
  EXPECT_EQ(times.FirstSince(Second(101)), 9);
  EXPECT_EQ(times.FirstSince(Second(102)), 20);
  EXPECT_EQ(times.FirstSince(Second(3701)), std::nullopt);
}

TEST_F(FileTimesTest, NothingIsKnownOfWhatCameBeforeTheRecord) {
  WriteTimes("500 100\n600 200\n");
  const FileTimes times = FileTimes::Read(path_);
  EXPECT_EQ(times.At(499), std::nullopt);
  EXPECT_EQ(times.EndOf(0), 500);
  EXPECT_EQ(times.FirstSince(Second(50)), 0) << "it may have come since";
  EXPECT_EQ(times.FirstSince(Second(150)), 600);
  EXPECT_TRUE(FileTimes::Read(dir_ / "another").empty());
}

TEST_F(FileTimesTest, GoesOnWhereAnotherWriterStopped) {
  FileTimesWriter(path_).Record(0, Second(100), 1);
  Grow(50);
  test::SetModified(path_, Second(100));
  FileTimesWriter again(path_);
  again.Record(50, Second(100) + milliseconds{1}, 1);
  EXPECT_FALSE(FileSize(times_path_)) << "neither of them needed one";
  again.Record(60, Second(200), 1);
  FileTimesWriter(path_).Record(70, Second(200), 1);
  FileTimesWriter(path_).Record(80, Second(201), 1);
  EXPECT_THAT(Entries(), ElementsAre(At(0, 100), At(60, 200), At(80, 201)));
}

TEST_F(FileTimesTest, WhatCameInOneSecondNeedsNoRecord) {
  FileTimesWriter writer(path_);
  writer.Record(0, Second(100), 1);
  EXPECT_TRUE(Entries().empty()) << "nothing has come yet";
  Grow(10);
  writer.Record(10, Second(100) + milliseconds{900}, 90);
  Grow(100);
  test::SetModified(path_, Second(100) + milliseconds{900});
  EXPECT_FALSE(FileSize(times_path_));
  EXPECT_THAT(Entries(), ElementsAre(At(0, 100)));
  EXPECT_EQ(FileTimes::Read(path_).FirstSince(Second(101)), std::nullopt);
}

TEST_F(FileTimesTest, WhatIsMoreThanAWordIsRecordedAtOnce) {
  FileTimesWriter much(path_);
  much.Record(0, Second(100), FileTimes::kMostUnrecorded + 1);
  EXPECT_EQ(*ReadFile(times_path_), "0 100\n");
  ASSERT_TRUE(RemoveAll(times_path_).ok());
  FileTimesWriter slowly(path_);
  slowly.Record(0, Second(100), FileTimes::kMostUnrecorded);
  EXPECT_FALSE(FileSize(times_path_));
  slowly.Record(FileTimes::kMostUnrecorded, Second(100), 1);
  slowly.Record(FileTimes::kMostUnrecorded + 1, Second(100), 1);
  EXPECT_EQ(*ReadFile(times_path_), "0 100\n");
  ASSERT_TRUE(RemoveAll(times_path_).ok());
  Grow(FileTimes::kMostUnrecorded + 1);
  EXPECT_TRUE(Entries().empty()) << "of an older jobman: it may have come at any time";
  FileTimesWriter(path_).Record(FileTimes::kMostUnrecorded + 1, Second(300), 1);
  EXPECT_THAT(Entries(), ElementsAre(At(FileTimes::kMostUnrecorded + 1, 300)));
}

TEST_F(FileTimesTest, ForgetsWhatItSaysOfBytesThatAreLost) {
  WriteTimes("0 100\n9000 101\n9100 102\n");
  Grow(10);
  FileTimesWriter(path_).Record(10, Second(200), 1);
  EXPECT_EQ(*ReadFile(times_path_), "0 100\n10 200\n");
  FileTimesWriter(path_).Record(0, Second(300), 1);
  EXPECT_EQ(*ReadFile(times_path_), "0 100\n0 300\n") << "the file began anew";
}

TEST_F(FileTimesTest, ReadsNothingUntilSomethingComes) {
  FileTimesWriter writer(path_);
  WriteTimes("0 100\n");
  writer.Record(10, Second(200), 1);
  EXPECT_EQ(*ReadFile(times_path_), "0 100\n10 200\n");
}

TEST_F(FileTimesTest, WhatCouldNotBeRecordedBelongsToTheNextTime) {
  FileTimesWriter writer(path_);
  writer.Record(0, Second(100), FileTimes::kMostUnrecorded + 1);
  const Path aside = dir_ / "aside";
  std::filesystem::rename(times_path_, aside);
  ASSERT_TRUE(EnsureDir(times_path_).ok());
  writer.Record(50, Second(200), 1);
  writer.Record(70, Second(201), 1);
  std::filesystem::remove(times_path_);
  std::filesystem::rename(aside, times_path_);
  writer.Record(90, Second(202), 1);
  EXPECT_EQ(*ReadFile(times_path_), "0 100\n50 202\n") << "rather too late than too early";
}

TEST_F(FileTimesTest, AfterTheClockWasSetBackNothingIsLeftOut) {
  FileTimesWriter writer(path_);
  writer.Record(0, Second(9000), 1);
  writer.Record(5, Second(1000), 1);
  writer.Record(9, Second(1001), 1);
  EXPECT_THAT(Entries(), ElementsAre(At(0, 9000), At(5, 1000), At(9, 1001)));
  EXPECT_EQ(FileTimes::Read(path_).FirstSince(Second(1001)), 0) << "rather too much";
}

TEST_F(FileTimesTest, LinesThatMakeNoSenseArePassedOver) {
  WriteTimes("0 100\nx\n5\n\n6 y\n7 1 2\n-3 8\n3 999999999999999\n8 200\n9 250\n4 300\n9 30");
  EXPECT_THAT(Entries(), ElementsAre(At(0, 100), At(8, 200), At(9, 250)))
      << "nor one that is not complete";
  Grow(100);
  FileTimesWriter(path_).Record(100, Second(400), 1);
  EXPECT_THAT(Entries(), ElementsAre(At(0, 100), At(8, 200), At(9, 250), At(100, 400)));
}

TEST_F(FileTimesTest, WithoutAPlaceForTheRecordThereIsNone) {
  ASSERT_TRUE(EnsureDir(times_path_).ok());
  Grow(5);
  FileTimesWriter writer(path_);
  writer.Record(5, Second(100), 1);
  writer.Record(6, Second(101), 1);
  EXPECT_TRUE(Entries().empty()) << "nor does the file itself say it";
}

TEST_F(FileTimesTest, ALongRecordLosesEachSecondEntryOfItsOlderHalf) {
  FileTimesWriter writer(path_);
  for (int i = 0; i < static_cast<int>(FileTimesWriter::kMost); ++i)
    writer.Record(std::int64_t{i} * 10, Second(i), 1);
  ASSERT_EQ(Entries().size(), FileTimesWriter::kMost);
  writer.Record(81'920, Second(8192), 1);
  const auto entries = Entries();
  ASSERT_EQ(entries.size(), FileTimesWriter::kMost / 4 * 3 + 1);
  EXPECT_EQ(entries[0], At(0, 1)) << "the place of the first, the time of the second";
  EXPECT_EQ(entries[1], At(20, 3));
  EXPECT_EQ(entries[2047], At(40'940, 4095));
  EXPECT_EQ(entries[2048], At(40'960, 4096)) << "the latest half is as it was";
  EXPECT_EQ(entries.back(), At(81'920, 8192));
  EXPECT_EQ(FileTimes::Read(path_).FirstSince(Second(1)), 0);
}

TEST_F(FileTimesTest, ItsSizeIsBoundedAndWhatIsRecentIsExact) {
  FileTimesWriter writer(path_);
  constexpr int kSeconds = 20'000;
  std::int64_t longest = 0;
  for (int i = 0; i < kSeconds; ++i) {
    writer.Record(std::int64_t{i} * 1'000'000, Second(1'800'000'000 + i), 1);
    if (i % 1000 == 0) longest = std::max(longest, FileSize(times_path_).value_or(0));
  }
  EXPECT_LT(longest, 250'000);
  const FileTimes times = FileTimes::Read(path_);
  EXPECT_LE(times.entries().size(), FileTimesWriter::kMost);
  for (int i = kSeconds - 4000; i < kSeconds; ++i)
    ASSERT_EQ(times.At(std::int64_t{i} * 1'000'000), Second(1'800'000'000 + i));
  // Read from its end, it says the same.
  const std::int64_t late = std::int64_t{kSeconds - 10} * 1'000'000;
  const FileTimes end = FileTimes::Read(path_, late);
  EXPECT_LT(end.entries().size(), 1000U);
  EXPECT_EQ(end.At(late), times.At(late));
  EXPECT_EQ(FileTimes::Read(path_, 0).entries().size(), times.entries().size());
}

/// A crash while it is thinned: the beginning is written anew, the rest is the old one. Where they
/// meet, parts of two lines may be one that makes sense.
TEST_F(FileTimesTest, AHalfThinnedRecordStillSaysWhatIsLate) {
  std::string old_text;
  std::string new_text;
  for (int i = 1; i < 200; ++i) {
    const std::string line = std::to_string(i * i) + " " + std::to_string(1'800'000'000 + i) + "\n";
    old_text += line;
    if (i % 2 == 0) new_text += line;
  }
  for (std::size_t cut = 0; cut < new_text.size(); cut += 7) {
    WriteTimes(new_text.substr(0, cut) + old_text.substr(cut));
    const auto entries = Entries();
    ASSERT_TRUE(std::is_sorted(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
      return a.offset < b.offset;
    })) << cut;
    ASSERT_EQ(entries.back(), At(std::int64_t{199} * 199, 1'800'000'199)) << cut;
    ASSERT_GT(entries.size(), 90U) << cut;
  }
}

}  // namespace
}  // namespace jobman::base
