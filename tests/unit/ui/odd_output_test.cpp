#include "jobman/ui/odd_output.hpp"

#include <gtest/gtest.h>

namespace jobman::ui {
namespace {

/// Of a text that arrives in pieces of this size.
OddOutput Of(const std::string& text, std::size_t piece = 1000) {
  OddOutput output;
  for (std::size_t at = 0; at < text.size(); at += piece) output.Add(text.substr(at, piece));
  return output;
}
std::string WordsOf(const std::string& text, std::size_t piece = 1000) {
  return Of(text, piece).Words();
}

const std::string kMegabyte(std::size_t{1} << 20, 'x');

TEST(OddOutput, TextIsNotOdd) {
  EXPECT_EQ(WordsOf(""), "");
  EXPECT_EQ(WordsOf("meow\n\x1b[1mGröße\x1b[0m\t1\r\n"), "");
  EXPECT_EQ(WordsOf("\xff\xfe latin-1 or what it is\n"), "");
}

TEST(OddOutput, AZeroByteIsBinaryData) {
  EXPECT_EQ(WordsOf(std::string("text\n\0", 6), 1), "binary data");
  EXPECT_EQ(WordsOf(std::string("\0", 1) + kMegabyte + kMegabyte), "binary data");
}

TEST(OddOutput, ALongLineIsMeasuredAcrossPieces) {
  for (const std::size_t piece : {std::size_t{1000}, std::size_t{65536}}) {
    EXPECT_EQ(WordsOf("a\n" + kMegabyte + "x", piece), "a line of over 1 MB");
    EXPECT_EQ(WordsOf("a\n" + kMegabyte + "\nb", piece), "");
  }
  EXPECT_EQ(WordsOf(kMegabyte + "\nb\n" + kMegabyte + kMegabyte + "\nc"), "a line of over 1 MB");
}

TEST(OddOutput, ManyLinesAreNoLongOne) {
  std::string lines;
  std::string bar;
  for (int i = 0; i < 20000; ++i) {
    lines += std::string(100, 'x') + "\n";
    bar += std::string(100, 'x') + "\r";
  }
  EXPECT_EQ(WordsOf(lines), "");
  EXPECT_EQ(WordsOf(lines, 65536), "");
  EXPECT_EQ(WordsOf(bar), "") << "a progress bar";
}

TEST(OddOutput, AFullDiskIsNamedAtTheEnd) {
  const std::string text =
      "writing\nhead: error writing 'standard output': No space left on device\n";
  EXPECT_EQ(Of(text).FullDisk(), "No space left on device");
  EXPECT_EQ(Of(text, 1).FullDisk(), "No space left on device") << "cut anywhere";
  EXPECT_EQ(Of("cp: a: Disk quota exceeded\n").FullDisk(), "Disk quota exceeded");
  EXPECT_EQ(Of("fine\n").FullDisk(), "");
  EXPECT_EQ(Of(text + std::string(600, '.')).FullDisk(), "") << "not how it ended";
}

}  // namespace
}  // namespace jobman::ui
