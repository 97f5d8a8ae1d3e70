#include "jobman/base/clean.hpp"

#include <gtest/gtest.h>

#include <string>

namespace jobman::base {
namespace {

/// Texts are looked at eight bytes at a time: each byte in each place of a word, and of what
/// follows the last word.
TEST(Clean, FindsEachByteThatIsNotPlainWhereverItIs) {
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    const bool printable = byte >= 0x20 && byte < 0x7F;
    const bool plain = printable || c == '\n' || c == '\t';
    for (std::size_t size = 1; size < 20; ++size) {
      for (std::size_t at = 0; at < size; ++at) {
        std::string text(size, '~');
        text[at] = c;
        ASSERT_EQ(IsPrintableAscii(text), printable) << byte << " at " << at << " of " << size;
        ASSERT_EQ(PlainLength(text), plain ? size : at) << byte << " at " << at << " of " << size;
      }
    }
  }
}

TEST(Clean, TheFirstOfSeveralOddBytesCounts) {
  EXPECT_EQ(PlainLength(std::string("1234567\n12345\t\x7F"
                                    "890123456\x01")),
            14U);
  EXPECT_EQ(PlainLength("12345678\x80\x01"), 8U);
  EXPECT_EQ(PlainLength("\x01\xFF\xFF\xFF\xFF\xFF\xFF\xFF"), 0U);
  EXPECT_EQ(PlainLength("       \xFF"), 7U);
  EXPECT_EQ(PlainLength(""), 0U);
  EXPECT_TRUE(IsPrintableAscii(""));
}

}  // namespace
}  // namespace jobman::base
