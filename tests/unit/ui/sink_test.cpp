#include "jobman/ui/sink.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "jobman/base/handle.hpp"

namespace jobman::ui {
namespace {

TEST(FdSink, AClosedPipeIsAnErrnoNotASignal) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  int ends[2] = {};
  ASSERT_EQ(::pipe(ends), 0);
  base::UniqueFd write_end(ends[1]);
  ::close(ends[0]);
  EXPECT_EQ(FdSink(write_end.get()).Write("x"), EPIPE);
  std::signal(SIGPIPE, before);
}

TEST(FdSink, AFullDiskIsAnErrno) {
  base::UniqueFd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  if (!full) GTEST_SKIP() << "no /dev/full here";
  EXPECT_EQ(FdSink(full.get()).Write("x"), ENOSPC);
}

TEST(FdSink, EverythingIsWritten) {
  int ends[2] = {};
  ASSERT_EQ(::pipe(ends), 0);
  base::UniqueFd read_end(ends[0]);
  base::UniqueFd write_end(ends[1]);
  EXPECT_EQ(FdSink(write_end.get()).Write("hello"), 0);
  char buffer[16] = {};
  EXPECT_EQ(::read(read_end.get(), buffer, sizeof buffer), 5);
  EXPECT_STREQ(buffer, "hello");
}

}  // namespace
}  // namespace jobman::ui
