#include "jobman/base/shell.hpp"

#include <gtest/gtest.h>

#include "jobman/base/process.hpp"

namespace jobman::base {
namespace {

TEST(ShellQuote, LeavesPlainWordsReadable) {
  EXPECT_EQ(ShellQuote("gs://bucket/a_b-c.txt"), "gs://bucket/a_b-c.txt");
  EXPECT_EQ(ShellQuote("user@10.0.0.1:/tmp"), "user@10.0.0.1:/tmp");
}

TEST(ShellQuote, QuotesSpecialCharacters) {
  EXPECT_EQ(ShellQuote(""), "''");
  EXPECT_EQ(ShellQuote("it's"), R"('it'\''s')");
  EXPECT_EQ(ShellQuote("''a"), R"(''\'''\''a')");
  EXPECT_EQ(ShellQuote("a=b"), "'a=b'");
  EXPECT_EQ(ShellQuote("~"), "'~'");
}

// A real shell returns every word unchanged.
TEST(ShellQuote, ARealShellReadsTheSameWords) {
  std::vector<std::string> words = {
      "",    " ",    "it's", "\"q\"", "$HOME", "`id`",     "$(id)",     "a\nb",
      "\\",  "*",    "~",    "#no",   "a;b",   "!h",       "-n",        "{a,b}",
      "x=y", "'",    "''",   "\t",    "%s",    "&&",       "a\\nb",     "[a-z]*",
      "<in", ">out", "|",    "\x01",  "=",     "\xc3\x84", "trailing\n"};
  for (int byte = 1; byte < 256; ++byte) words.emplace_back(1, static_cast<char>(byte));
  asio::io_context loop;
  const std::string script = "printf '%s\\0' " + ShellJoin(words);
  const auto result = RunTask(loop, RunProcess({"/bin/sh", "-c", script}));
  ASSERT_TRUE(result.ok());
  std::string expected;
  for (const std::string& word : words) expected += word + '\0';
  EXPECT_EQ(result->out, expected);
  EXPECT_EQ(result->err, "");
}

TEST(IsEnvName, AcceptsOnlyNames) {
  for (const char* name : {"PATH", "_", "a1", "JOBMAN_JOB_ID"})
    EXPECT_TRUE(IsEnvName(name)) << name;
  for (const char* name : {"", "1A", "A-B", "A B", "A=B", "\xc3\x84", "A\n"}) {
    EXPECT_FALSE(IsEnvName(name)) << name;
  }
}

}  // namespace
}  // namespace jobman::base
