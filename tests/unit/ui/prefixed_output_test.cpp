#include "jobman/ui/prefixed_output.hpp"

#include <gtest/gtest.h>

namespace jobman::ui {
namespace {

class Recorder {
 public:
  explicit Recorder(PrefixedOutput::Options options)
      : output(options, [this](std::string_view text) {
          EXPECT_EQ(text.back(), '\n');
          text_.append(text);
        }) {}
  std::string Take() { return std::exchange(text_, {}); }

 private:
  std::string text_ = {};

 public:
  PrefixedOutput output;
};

TEST(HostPrefix, IsAsWideAsTheHostCountNeeds) {
  EXPECT_EQ(HostPrefix(3, 4), "host 3 | ");
  EXPECT_EQ(HostPrefix(3, 10), "host 3 | ");
  EXPECT_EQ(HostPrefix(3, 11), "host 03 | ");
  EXPECT_EQ(HostPrefix(1023, 1024), "host 1023 | ");
  EXPECT_EQ(HostPrefix(7, 1024), "host 0007 | ");
  EXPECT_EQ(HostPrefix(7, 1024, true), "host 0007 + ");
}

TEST(PrefixedOutput, LinesOfHostsInterleaveWhole) {
  Recorder recorder({.host_count = 16});
  recorder.output.Feed(3, "hel");
  recorder.output.Feed(12, "other\nnext");
  recorder.output.Feed(3, "lo\n");
  EXPECT_EQ(recorder.Take(), "host 12 | other\nhost 03 | hello\n");
  recorder.output.Finish();
  EXPECT_EQ(recorder.Take(), "host 12 | next\n");
}

TEST(PrefixedOutput, BytesOfALineAreKept) {
  Recorder recorder({.host_count = 2});
  // Two lines, the second of them empty.
  const std::string odd = std::string("\x1b[1mbold\x1b[0m \xFF\t10%\r20%") + '\0' + "\r\n\n";
  recorder.output.Feed(0, odd);
  EXPECT_EQ(recorder.Take(), "host 0 | " + odd.substr(0, odd.size() - 1) + "host 0 | \n");
}

TEST(PrefixedOutput, OnATerminalAProgressBarBecomesLines) {
  Recorder recorder({.host_count = 2, .split_carriage_returns = true});
  recorder.output.Feed(0, "10%\r");
  EXPECT_EQ(recorder.Take(), "") << "it may be the first half of \\r\\n";
  recorder.output.Feed(0, "20%\rdone\r\nnext\n");
  EXPECT_EQ(recorder.Take(), "host 0 | 10%\nhost 0 | 20%\nhost 0 | done\r\nhost 0 | next\n");
  recorder.output.Feed(1, "50%\r");
  recorder.output.Finish(1);
  EXPECT_EQ(recorder.Take(), "host 1 | 50%\n");
}

TEST(PrefixedOutput, ALineWithoutEndIsCutAndMarked) {
  Recorder recorder({.host_count = 1, .max_line = 4});
  recorder.output.Feed(0, "abcd");
  EXPECT_EQ(recorder.Take(), "");
  recorder.output.Feed(0, "efghijk\nx\n");
  EXPECT_EQ(recorder.Take(), "host 0 | abcde\nhost 0 + fghij\nhost 0 + k\nhost 0 | x\n");
}

TEST(PrefixedOutput, ALineThatJustFitsIsNotCut) {
  Recorder recorder({.host_count = 1, .max_line = 4});
  recorder.output.Feed(0, "abcd\nef\n");
  EXPECT_EQ(recorder.Take(), "host 0 | abcd\nhost 0 | ef\n");
}

TEST(PrefixedOutput, AnyCutOfTheInputGivesTheSameLines) {
  const std::string input = "one\r\ntwo\rthree\n\nfour";
  Recorder whole({.host_count = 2, .split_carriage_returns = true});
  whole.output.Feed(1, input);
  whole.output.Finish();
  const std::string expected = whole.Take();
  for (std::size_t cut = 0; cut <= input.size(); ++cut) {
    Recorder parts({.host_count = 2, .split_carriage_returns = true});
    parts.output.Feed(1, std::string_view(input).substr(0, cut));
    parts.output.Feed(1, std::string_view(input).substr(cut));
    parts.output.Finish();
    EXPECT_EQ(parts.Take(), expected) << "cut at " << cut;
  }
}

}  // namespace
}  // namespace jobman::ui
