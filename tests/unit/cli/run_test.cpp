#include "cli/run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

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
  EXPECT_EQ(Run({"list"}), kReaderGone);
  EXPECT_EQ(Run({"version", "--json"}), kReaderGone);
  EXPECT_THAT(err_.text, testing::Not(HasSubstr("pipe")));
}

TEST_F(RunTest, AFullDiskUnderStdoutIsReported) {
  out_.fail_with = ENOSPC;
  EXPECT_EQ(Run({"version", "--json"}), kTryLater);
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
