#include "jobman/ui/terminal.hpp"

#include <gtest/gtest.h>

#include <cerrno>

#include "tests/support/string_sink.hpp"

namespace jobman::ui {
namespace {

Surroundings Tty() {
  return {.out_tty = true,
          .err_tty = true,
          .ioctl_width = 120,
          .term = "xterm-256color",
          .locale = "en_US.UTF-8"};
}

TEST(Decide, ATerminalHasWidthColourAndUtf8) {
  const Facts facts = Decide(Tty());
  EXPECT_EQ(facts.width, 120);
  EXPECT_TRUE(facts.utf8);
  EXPECT_TRUE(facts.out_colour);
  EXPECT_TRUE(facts.err_colour);
}

TEST(Decide, APipeHasNoLimitAndNoColour) {
  Surroundings around = Tty();
  around.out_tty = false;
  const Facts facts = Decide(around);
  EXPECT_EQ(facts.width, 0);
  EXPECT_FALSE(facts.out_colour);
  EXPECT_TRUE(facts.err_colour);
}

TEST(Decide, MessagesHaveTheWidthOfTheirOwnTerminal) {
  Surroundings around = Tty();
  around.out_tty = false;
  EXPECT_EQ(Decide(around).err_width, 120);
  around.columns = "60";
  EXPECT_EQ(Decide(around).err_width, 60);
  around.err_tty = false;
  EXPECT_EQ(Decide(around).err_width, 0) << "in a pipe they are whole";
  around.err_tty = true;
  around.term = "dumb";
  EXPECT_EQ(Decide(around).err_width, 60);
}

TEST(Decide, ColumnsOverridesTheTerminal) {
  Surroundings around = Tty();
  around.columns = "60";
  EXPECT_EQ(Decide(around).width, 60);
  around.out_tty = false;
  EXPECT_EQ(Decide(around).width, 60);
  for (const char* nonsense : {"0", "-5", "wide", "99999999999999999999", "10001"}) {
    around.columns = nonsense;
    EXPECT_EQ(Decide(around).width, 0) << nonsense;
  }
}

TEST(Decide, ATerminalOfUnknownWidthHasEightyColumns) {
  Surroundings around = Tty();
  around.ioctl_width = 0;
  EXPECT_EQ(Decide(around).width, 80);
}

TEST(Decide, NoColorDumbTerminalsAndTheOptionTurnColourOff) {
  Surroundings refused = Tty();
  refused.colour_refused = true;
  Surroundings no_color = Tty();
  no_color.no_color = "1";
  Surroundings dumb = Tty();
  dumb.term = "dumb";
  Surroundings no_term = Tty();
  no_term.term = {};
  for (const Surroundings& around : {refused, no_color, dumb, no_term})
    EXPECT_FALSE(Decide(around).out_colour);
  EXPECT_FALSE(Decide(dumb).err_tty) << "a dumb terminal cannot rewrite a line";
}

TEST(Decide, TheLocaleDecidesOnUtf8) {
  for (const auto& [locale, utf8] : {std::pair{"C", false},
                                     {"POSIX", false},
                                     {"C.UTF-8", true},
                                     {"de_DE.utf8", true},
                                     {"en_US.ISO-8859-1", false}}) {
    Surroundings around = Tty();
    around.locale = locale;
    EXPECT_EQ(Decide(around).utf8, utf8) << locale;
  }
  Surroundings none = Tty();
  none.locale = {};
  EXPECT_FALSE(Decide(none).utf8);
}

class TerminalTest : public testing::Test {
 protected:
  test::StringSink out_;
  test::StringSink err_;
};

TEST_F(TerminalTest, DataIsBufferedAndMessagesComeAfterIt) {
  Terminal terminal({}, out_, err_);
  terminal.Out("a");
  EXPECT_EQ(out_.text, "");
  terminal.Err("talk");
  EXPECT_EQ(out_.text, "a");
  EXPECT_EQ(err_.text, "talk\n");
  terminal.Out(std::string(std::size_t{64} * 1024, 'x'));
  EXPECT_EQ(out_.text.size(), 1 + std::size_t{64} * 1024) << "large output is written at once";
}

TEST_F(TerminalTest, LargeOutputComesAfterWhatWasBuffered) {
  const std::string large(std::size_t{64} * 1024, 'x');
  Terminal terminal({}, out_, err_);
  terminal.Out("a");
  terminal.Out(large);
  terminal.Out("b");
  terminal.Flush();
  EXPECT_EQ(out_.text, "a" + large + "b");
}

TEST_F(TerminalTest, LargeOutputIsNotWrittenAfterTheReaderIsGone) {
  Terminal terminal({}, out_, err_);
  terminal.Out("a");
  out_.fail_with = EPIPE;
  terminal.Out(std::string(std::size_t{64} * 1024, 'x'));
  EXPECT_EQ(out_.writes, 1);
  EXPECT_EQ(terminal.out_error(), EPIPE);
}

TEST_F(TerminalTest, TheDestructorFlushes) {
  { Terminal({}, out_, err_).Out("last words"); }
  EXPECT_EQ(out_.text, "last words");
}

TEST_F(TerminalTest, NothingMoreIsWrittenAfterTheReaderIsGone) {
  Terminal terminal({}, out_, err_);
  out_.fail_with = EPIPE;
  terminal.Out("a");
  terminal.Flush();
  EXPECT_EQ(terminal.out_error(), EPIPE);
  out_.fail_with = 0;
  terminal.Out("b");
  terminal.Flush();
  EXPECT_EQ(out_.text, "");
  EXPECT_EQ(terminal.out_error(), EPIPE);
}

TEST_F(TerminalTest, TheStatusLineIsRewrittenAndClearedForOutput) {
  Terminal terminal({.out_tty = true, .err_tty = true, .err_width = 20}, out_, err_);
  terminal.SetStatus("waiting");
  EXPECT_EQ(err_.Take(), "waiting");
  terminal.SetStatus("still waiting for a slice");
  EXPECT_EQ(err_.Take(), "\r\x1b[2Kstill waiting ...");
  terminal.Err("news");
  EXPECT_EQ(err_.Take(), "\r\x1b[2Knews\nstill waiting ...");
  terminal.Out("data\n");
  terminal.Flush();
  EXPECT_EQ(out_.Take(), "data\n");
  EXPECT_EQ(err_.Take(), "\r\x1b[2Kstill waiting ...");
  terminal.SetStatus({});
  EXPECT_EQ(err_.Take(), "\r\x1b[2K");
}

TEST_F(TerminalTest, BesideTheStatusIsRoomForWhatTheTerminalShowsOfCtrlC) {
  Terminal terminal({.err_tty = true, .err_width = 20}, out_, err_);
  EXPECT_EQ(terminal.status_width(), 17) << "and ^C, and one column that stays free";
  terminal.SetStatus("12345678901234567");
  EXPECT_EQ(err_.Take(), "12345678901234567");
}

TEST_F(TerminalTest, DataForAPipeTakesTheStatusAwayUntilTheNextOne) {
  Terminal terminal({.out_pipe = true, .err_tty = true, .err_width = 40}, out_, err_);
  terminal.SetStatus("waiting for 1 host: 1");
  EXPECT_EQ(err_.Take(), "waiting for 1 host: 1");
  terminal.OutBytes("host 1 | 1\n");
  terminal.Flush();
  EXPECT_EQ(err_.Take(), "\r\x1b[2K") << "the pipe's reader may write on the same screen";
  terminal.SetStatus("waiting for 1 host: 1");
  EXPECT_EQ(err_.Take(), "waiting for 1 host: 1");
}

TEST_F(TerminalTest, DataForAFileLeavesTheStatusAlone) {
  Terminal terminal({.err_tty = true, .err_width = 40}, out_, err_);
  terminal.SetStatus("waiting");
  EXPECT_EQ(err_.Take(), "waiting");
  terminal.Out("data\n");
  terminal.Flush();
  EXPECT_EQ(err_.Take(), "");
}

TEST_F(TerminalTest, TextControlsNothingButItsColours) {
  Terminal terminal({.out_tty = true, .err_screen = true, .out_colour = true}, out_, err_);
  terminal.Out("a\x1b[32mb\x1b[0m\x1b[2J\t\xc2\x9b\r\n");
  terminal.Err("a\x1b[32m\xff");
  EXPECT_EQ(out_.Take(), "a\x1b[32mb\x1b[0m?[2J\t??\n");
  EXPECT_EQ(err_.Take(), "a?[32m?\n");
}

TEST_F(TerminalTest, BytesOfHostsAreExactUnlessATerminalShowsThem) {
  const std::string bytes = "\x1b[1mloss\x1b[0m\r\x9b\n";
  {
    Terminal terminal({}, out_, err_);
    terminal.OutBytes(bytes);
    terminal.ErrBytes(bytes);
  }
  EXPECT_EQ(out_.Take(), bytes);
  EXPECT_EQ(err_.Take(), bytes);
  {
    Terminal terminal({.out_tty = true, .err_screen = true, .out_colour = true}, out_, err_);
    terminal.OutBytes(bytes);
    terminal.ErrBytes(bytes);
  }
  EXPECT_EQ(out_.Take(), "loss\n?\n");
  EXPECT_EQ(err_.Take(), "loss\n?\n");
}

TEST_F(TerminalTest, BothStreamsFollowTheWindow) {
  Terminal terminal(Decide({.out_tty = true, .err_tty = true, .ioctl_width = 80}), out_, err_);
  terminal.Resize({.out_tty = true, .err_tty = true, .ioctl_width = 60, .ioctl_height = 20});
  EXPECT_EQ(terminal.out_style().width, 60);
  EXPECT_EQ(terminal.err_style().width, 60);
  EXPECT_EQ(terminal.facts().height, 20);
}

TEST_F(TerminalTest, WithoutATerminalThereIsNoStatus) {
  Terminal terminal({.out_tty = true}, out_, err_);
  terminal.SetStatus("waiting");
  terminal.Err("news");
  EXPECT_EQ(err_.Take(), "news\n");
}

}  // namespace
}  // namespace jobman::ui
