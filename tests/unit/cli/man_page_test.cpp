#include "cli/man_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "cli/commands.hpp"
#include "jobman/base/process.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/base/task.hpp"
#include "tests/support/cli_world.hpp"

namespace jobman::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(ManPage, HasEveryCommandAndItsOptions) {
  CliWorld world;
  const std::string page = world.Run({"__man"}).out;
  for (const cli::Command& command : cli::Commands())
    EXPECT_THAT(page, HasSubstr("\n.SS \\fBjobman " +
                                base::ReplaceAll(std::string(command.name), "-", "\\-")));
  EXPECT_THAT(page, AllOf(HasSubstr("\n.SS \\fBjobman logs\\fR [OPTIONS] [\\fIJOB...\\fR]\n"),
                          HasSubstr(".TP\n\\fB\\-f\\fR, \\fB\\-\\-follow\\fR\n"),
                          HasSubstr("\\fBjobman controller install\\fR"),
                          HasSubstr("\n.SS \\fBjobman forward\\fR [OPTIONS] [\\fIJOB\\fR]"),
                          HasSubstr("\n.SS \\fBjobman forward stop\\fR"),
                          HasSubstr("Exit codes: 0 success"), Not(HasSubstr("record\\fR")),
                          Not(HasSubstr("__"))));
}

/// With every warning that groff has.
TEST(ManPage, IsReadByTheFormatterWithoutAWarning) {
  if (access("/usr/bin/groff", X_OK) != 0) GTEST_SKIP() << "no groff";
  CliWorld world;
  const std::string page = world.Run({"__man"}).out;
  asio::io_context loop;
  std::vector<std::string> argv = {"groff", "-man", "-ww", "-Tutf8", "-P-c"};
  const auto shown = base::RunTask(loop, base::RunProcess(std::move(argv), page));
  ASSERT_TRUE(shown.ok());
  EXPECT_EQ(shown->exit_code, 0);
  EXPECT_EQ(shown->err, "");
  EXPECT_THAT(shown->out, HasSubstr("follow"));  // in whatever dashes it has
}

}  // namespace
}  // namespace jobman::test
