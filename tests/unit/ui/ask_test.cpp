#include "jobman/ui/ask.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "jobman/base/handle.hpp"
#include "tests/support/string_sink.hpp"

namespace jobman::ui {
namespace {

class Ask : public testing::Test {
 protected:
  bool Answer(const std::string& line) {
    int ends[2] = {};
    EXPECT_EQ(::pipe(ends), 0);
    base::UniqueFd read_end(ends[0]);
    base::UniqueFd write_end(ends[1]);
    EXPECT_EQ(::write(write_end.get(), line.data(), line.size()),
              static_cast<ssize_t>(line.size()));
    write_end.Reset();
    return ReadYesNo(terminal_, read_end.get(), "Delete 3 jobs?");
  }

  test::StringSink out_;
  test::StringSink err_;
  Terminal terminal_{{}, out_, err_};
};

TEST_F(Ask, OnlyAClearYesIsYes) {
  for (const char* yes : {"y\n", "YES\n", " yes \n", "y"}) EXPECT_TRUE(Answer(yes)) << yes;
  for (const char* no : {"", "\n", "n\n", "yep\n", "no\ny\n"}) EXPECT_FALSE(Answer(no)) << no;
  EXPECT_EQ(err_.text.substr(0, 21), "Delete 3 jobs? [y/N]\n");
}

TEST_F(Ask, WithoutATerminalTheAnswerIsAnErrorThatNamesTheOption) {
  int ends[2] = {};
  ASSERT_EQ(::pipe(ends), 0);
  base::UniqueFd read_end(ends[0]);
  base::UniqueFd write_end(ends[1]);
  const auto answer = AskYesNo(terminal_, read_end.get(), "Sure?");
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, base::Code::kInvalidArgument);
  EXPECT_NE(answer.error().hint.find("--yes"), std::string::npos);
}

}  // namespace
}  // namespace jobman::ui
