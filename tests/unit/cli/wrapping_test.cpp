#include "cli/wrapping.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/views/waited.hpp"
#include "tests/support/cli_world.hpp"

namespace jobman::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(WrapText, KeepsCommandsInOneLine) {
  const std::string text = "it is over; to run it again: jobman resume 000042, or delete it";
  EXPECT_EQ(WrapText(text, 0, 2, 40),
            "it is over; to run it again:\n"
            "  jobman resume 000042, or delete it");
  EXPECT_EQ(WrapText(text, 0, 2, 14),
            "it is over; to\n  run it\n  again:\n  jobman\n  resume\n  000042, or\n  delete it")
      << "a command that is longer than a line";
  EXPECT_EQ(WrapText(text, 0, 2, 0), text);
}

TEST(WrapText, ASentenceAboutJobmanIsNoCommand) {
  EXPECT_EQ(WrapText("One that jobman does not know is asked of the API.", 0, 0, 49),
            "One that jobman does not know is asked of the\nAPI.");
  EXPECT_EQ(WrapText("whoever types it sees \"jobman list\" here", 0, 0, 34),
            "whoever types it sees\n\"jobman list\" here");
}

TEST(WrapText, KeepsANumberWithItsWord) {
  EXPECT_EQ(WrapText("3 not found, 4 refused by the cloud", 0, 0, 14),
            "3 not found,\n4 refused by\nthe cloud");
  EXPECT_EQ(WrapText("jobman delete 11 12 13 14", 0, 0, 16), "jobman delete 11\n12 13 14")
      << "numbers of a list, where no line has room for the command";
}

TEST(WrapMessage, GoesOnBelowTheText) {
  EXPECT_EQ(WrapMessage("jobman: there is no job 000099\n  jobman list --all shows every job", 26),
            "jobman: there is no job\n        000099\n"
            "  jobman list --all shows\n  every job");
  EXPECT_EQ(WrapMessage("note: a controller runs", 20), "note: a controller\n      runs");
  EXPECT_EQ(WrapMessage("delete jobs 000001 (train), 000002 (eval)?", 30),
            "delete jobs 000001 (train),\n    000002 (eval)?");
}

TEST(WrapMessage, LongWordsStayWhole) {
  const std::string path(30, 'x');
  EXPECT_EQ(WrapMessage("written to " + path + " now", 20),
            "written to\n    " + path + "\n    now");
  const std::string quote =
      "  12 |   accelerator: v4-16 # a comment\n     |                ^ here and there\n";
  EXPECT_EQ(WrapMessage(quote, 20), quote) << "nothing would be left of it";
}

TEST(WrapMessage, QuotedLinesAreCutAroundTheCaret) {
  const std::string digits = "0123456789abcdefghijklmnopqrstuvwxyz";
  const auto quote = [](const std::string& line, std::size_t caret) {
    return "  1 | " + line + "\n    | " + std::string(caret, ' ') + "^\n";
  };
  EXPECT_EQ(WrapMessage(quote(digits, 10), 0), quote(digits, 10));
  EXPECT_EQ(WrapMessage(quote(digits, 10), 42), quote(digits, 10)) << "it fits";
  EXPECT_EQ(WrapMessage(quote(digits, 4), 30), quote("0123456789abcdefghijk...", 4));
  EXPECT_EQ(WrapMessage(quote(digits, 14), 30), quote("...56789abcdefghijklm...", 12)) << "e";
  EXPECT_EQ(WrapMessage(quote(digits, 35), 30), quote("...fghijklmnopqrstuvwxyz", 23)) << "z";
  EXPECT_EQ(WrapMessage(quote("\u00e9" + digits, 36), 30), quote("...fghijklmnopqrstuvwxyz", 23))
      << "characters, not bytes";
}

TEST(WrapKeys, TextsStandBesideTheirKeysOrBelow) {
  const std::string lines =
      "tpu: The slice.\n\nKeys:\n  zone     Zone, such as us-central2-b, or two\n";
  EXPECT_EQ(WrapKeys(lines, 42),
            "tpu: The slice.\n\nKeys:\n  zone     Zone, such as us-central2-b, or\n"
            "           two\n");
  EXPECT_EQ(WrapKeys(lines, 40),
            "tpu: The slice.\n\nKeys:\n  zone\n      Zone, such as us-central2-b, or\n      two\n");
  EXPECT_EQ(WrapKeys(lines, 0), lines);
}

TEST(WaitedView, ALongReasonGoesOnBelow) {
  const views::Waited view{
      .rows = {
          {.id = {1}, .name = "train", .status = "FAILED", .why = "no host is left to run on"}}};
  EXPECT_EQ(RenderText(view, {.width = 44}),
            "job 000001 (train) is FAILED: no host is\n    left to run on\n");
  EXPECT_EQ(RenderText(view, {}), "job 000001 (train) is FAILED: no host is left to run on\n");
}

TEST(Messages, FitTheirTerminalAndAreWholeInAPipe) {
  test::CliWorld world;
  world.around.ioctl_width = 36;
  world.around.err_tty = true;
  EXPECT_EQ(world.Run({"show", "99"}).err,
            "jobman: there is no job 000099\n"
            "  there are no jobs yet\n");
  EXPECT_THAT(world.Run({"show"}).err, HasSubstr("\n  name one, or choose by --status or\n"
                                                 "  --label; jobman list\n"));
  world.around.err_tty = false;
  world.around.columns = "36";
  EXPECT_THAT(world.Run({"show"}).err,
              HasSubstr("\n  name one, or choose by --status or --label; jobman list\n"));
}

TEST(Messages, TheHelpHasNoLineThatIsCutShort) {
  test::CliWorld world;
  world.around.out_tty = true;
  world.around.ioctl_width = 80;
  EXPECT_THAT(world.Run({"--help"}).out,
              HasSubstr("\nExit codes: 0 success, 1 the job failed, 2 usage or bad job file, 3 not "
                        "found,\n4 refused by the cloud, 5 credentials, 70 internal error, "));
  EXPECT_THAT(world.Run({"config", "explain"}).out, StartsWith("job\n    The job as a whole.\n"));
}

}  // namespace
}  // namespace jobman::cli
