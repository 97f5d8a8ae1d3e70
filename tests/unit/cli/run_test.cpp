#include "cli/run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "cli/commands.hpp"
#include "cli/help.hpp"
#include "cli/whole_words.hpp"
#include "jobman/base/strings.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/memory_store.hpp"
#include "tests/support/string_sink.hpp"

namespace jobman::cli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class RunTest : public testing::Test {
 protected:
  int Run(const std::vector<std::string>& args) { return cli::Run(args, environment_); }

  test::StringSink out_;
  test::StringSink err_;
  test::FakeClock clock_;
  base::Status opened_ = base::Ok();
  test::StoreInMemory store_;
  Environment environment_{.out = out_,
                           .err = err_,
                           .clock = clock_,
                           .open_store = [this](const base::StatePaths&,
                                                client::StoreUse) -> base::Result<ports::Stores> {
                             if (!opened_.ok()) return opened_.error();
                             return store_.stores();
                           },
                           .pause = [](base::Duration) { return false; }};
};

TEST_F(RunTest, AReaderThatWentAwayEndsQuietly) {
  out_.fail_with = EPIPE;
  EXPECT_EQ(Run({"version"}), kReaderGone);
  EXPECT_EQ(Run({"version", "--json"}), kReaderGone);
  EXPECT_THAT(err_.text, testing::Not(HasSubstr("pipe")));
}

TEST_F(RunTest, AWordOfAnotherToolIsUnderstood) {
  EXPECT_EQ(Run({"kill", "1"}), kUsage);
  EXPECT_THAT(err_.text, HasSubstr("did you mean \"cancel\"?"));
}

/// CLI11 would take each for two words.
TEST_F(RunTest, WordsInBracketsStayWhole) {
  for (const char* const word : {"[a,b]", "[]", "[ -d x ]"}) {
    err_.text.clear();
    EXPECT_EQ(Run({"show", word}), kNotFound);
    EXPECT_THAT(err_.text, HasSubstr("\"" + std::string(word) + "\""));
    EXPECT_EQ(Run({"version", word}), kUsage);
    EXPECT_THAT(err_.text, HasSubstr("the argument \"" + std::string(word) + "\" is one too many"));
  }
}

TEST(WholeWords, AWordThatBeginsWithTheMarkKeepsIt) {
  const std::vector<std::string> words = {"\x01", "\x01[a]", "[a]", "a", ""};
  std::vector<std::string> back = Marked(words);
  for (std::string& word : back) word = Unmarked(word);
  EXPECT_EQ(back, words);
}

TEST_F(RunTest, WhatIsMissingOrTooMuchIsNamed) {
  EXPECT_EQ(Run({"controller", "statsu"}), kUsage);
  EXPECT_THAT(err_.text, HasSubstr("there is no command \"controller statsu\""));
  EXPECT_THAT(err_.text, HasSubstr("did you mean status?"));
  EXPECT_EQ(Run({"--bogus"}), kUsage);
  EXPECT_THAT(err_.text, HasSubstr("there is no option --bogus"));
  EXPECT_EQ(Run({"exec", "train", "ls", "-la"}), kUsage);
  EXPECT_THAT(err_.text, HasSubstr("write -- before the command of the hosts"));
  for (const char* option : {"-i", "-c", "-w", "-q"}) {
    err_.text.clear();
    EXPECT_EQ(Run({"exec", "train", "sed", option, "0", "f"}), kUsage);
    EXPECT_THAT(err_.text, HasSubstr(std::string(option) + " may be an option of jobman or of"));
    EXPECT_THAT(err_.text, HasSubstr("write -- before the command of the hosts"));
  }
  err_.text.clear();
  EXPECT_EQ(Run({"exec", "train", "--patience", "1x", "--", "ls"}), kUsage);
  EXPECT_THAT(err_.text, HasSubstr("\"1x\" is not a duration"));
  EXPECT_THAT(err_.text, testing::Not(HasSubstr("write -- before")));
  EXPECT_EQ(Run({"ssh"}), kUsage);
  EXPECT_THAT(err_.text, HasSubstr("jobman ssh --help"));
}

TEST_F(RunTest, AFullDiskUnderStdoutIsReported) {
  out_.fail_with = ENOSPC;
  EXPECT_EQ(Run({"version", "--json"}), kOutputLost) << "to repeat it may do it twice";
  EXPECT_THAT(err_.text, HasSubstr("jobman: writing to stdout: No space left on device"));
}

TEST_F(RunTest, AStoreThatCannotBeOpenedIsOneMessageWithItsExitCode) {
  opened_ = base::Error{.code = base::Code::kFailedPrecondition,
                        .message = "the store was written by jobman 9.0",
                        .reason = base::Reason::kNewerStore,
                        .hint = "use that version",
                        .context = {"opening the store"}};
  EXPECT_EQ(Run({"list"}), kUsage);
  EXPECT_EQ(err_.Take(),
            "jobman: opening the store: the store was written by jobman 9.0\n  use that version\n");
  EXPECT_EQ(Run({"list", "--json"}), kUsage);
  EXPECT_THAT(err_.text, IsEmpty());
  EXPECT_THAT(out_.text, HasSubstr("\"exit_code\": 2"));
}

TEST_F(RunTest, CompletionIsSilentIfTheStoreCannotBeOpened) {
  opened_ = base::Internal("damaged");
  EXPECT_EQ(Run({"__complete", "logs", ""}), kSuccess);
  EXPECT_THAT(out_.text + err_.text, IsEmpty());
  EXPECT_EQ(Run({"__complete", "--home", "/tmp/x", "wh"}), kSuccess);
  EXPECT_THAT(out_.text, HasSubstr("why\t"));
}

TEST_F(RunTest, HelpGoesToStdoutAndNoArgumentsAreAUsageError) {
  EXPECT_EQ(Run({"--help"}), kSuccess);
  EXPECT_THAT(out_.Take(), HasSubstr("Usage: jobman"));
  EXPECT_EQ(Run({}), kUsage);
  EXPECT_THAT(err_.text, HasSubstr("Usage: jobman"));
  EXPECT_THAT(out_.text, IsEmpty());
}

TEST_F(RunTest, HelpOfACommandIsItsHelpOption) {
  EXPECT_EQ(Run({"exec", "--help"}), kSuccess);
  const std::string help = out_.Take();
  EXPECT_THAT(help, HasSubstr("Examples:\n    jobman exec 42 "));
  EXPECT_EQ(Run({"help", "exec"}), kSuccess);
  EXPECT_EQ(out_.Take(), help);
  EXPECT_EQ(Run({"help"}), kSuccess);
  EXPECT_THAT(out_.Take(), HasSubstr("Usage: jobman"));
  EXPECT_EQ(Run({"help", "exce"}), kUsage);
  EXPECT_THAT(err_.text, HasSubstr("did you mean \"exec\"?"));
}

TEST_F(RunTest, EveryCommandHasExamples) {
  for (const Command& command : Commands()) {
    EXPECT_THAT(ExamplesOf(command.name), testing::Not(IsEmpty())) << command.name;
  }
}

TEST_F(RunTest, HelpFitsIntoTheTerminal) {
  environment_.around = {.out_tty = true, .ioctl_width = 60};
  for (const Command& command : Commands()) {
    ASSERT_EQ(Run({std::string(command.name), "--help"}), kSuccess);
    for (const std::string& line : base::Split(out_.Take(), '\n')) {
      const bool one_word = line.substr(line.find_last_of(' ') + 1).size() > 30;
      const bool example = line.starts_with("    jobman") || line.starts_with("    *");
      EXPECT_TRUE(line.size() <= 60 || one_word || example) << line;
    }
  }
}

TEST(WrapHelp, BreaksBetweenWordsBelowTheDescription) {
  const std::string head = "  -s,--status STATUS,...      ";
  EXPECT_EQ(WrapHelp(head + "Only these: a state\nshort\n", 42),
            head + "Only these:\n" + std::string(30, ' ') + "a state\nshort\n");
  EXPECT_EQ(WrapHelp(head + "Only these: a state", 0), head + "Only these: a state");
  EXPECT_EQ(WrapHelp("    jobman list -s running", 10), "    jobman list -s running");
}

TEST_F(RunTest, GlobalOptionsPrecedeOrFollowTheCommand) {
  EXPECT_EQ(Run({"--quiet", "version"}), kSuccess);
  const std::string before = out_.Take();
  EXPECT_EQ(Run({"version", "--quiet"}), kSuccess);
  EXPECT_EQ(out_.Take(), before);
  EXPECT_EQ(Run({"--home", "list", "version", "-q"}), kSuccess) << "a value is no command";
  EXPECT_EQ(out_.Take(), before);
}

TEST_F(RunTest, ControlCharactersInAnErrorAreReplaced) {
  opened_ = base::Error{.code = base::Code::kFailedPrecondition,
                        .message = "red \x1b[31m\rtext\nline " + std::string(5000, 'x'),
                        .hint = "bell\a"};
  EXPECT_EQ(Run({"list"}), kUsage);
  EXPECT_EQ(err_.text, "jobman: red ?[31m text\nline " + std::string(1995, 'x') + "...\n  bell?\n");
}

}  // namespace
}  // namespace jobman::cli
