#include "jobman/base/readiness.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "jobman/base/handle.hpp"

namespace jobman::base {
namespace {

using Descriptor = asio::posix::stream_descriptor;

/// Our end of a socket is watched, the other one is written to or closed.
class Watched {
 public:
  explicit Watched(asio::io_context& loop) : ours(loop) {
    std::array<int, 2> ends = {-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0);
    fd_ = ends[0];
    theirs = UniqueFd(ends[1]);
  }
  ~Watched() { Watch(); }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

  /// From now on the loop knows our end.
  void Watch() {
    if (fd_ >= 0) ours.assign(std::exchange(fd_, -1));
  }
  void Write() const { EXPECT_EQ(::write(theirs.get(), "x", 1), 1); }

  Descriptor ours;
  UniqueFd theirs = {};

 private:
  int fd_ = -1;
};

Task<void> Note(Descriptor* descriptor, Descriptor::wait_type what, bool* ready) {
  co_await AwaitReady(descriptor, what);
  *ready = true;
}

class ReadinessTest : public testing::Test {
 protected:
  void Await(Watched& watched, Descriptor::wait_type what) {
    watched.Watch();
    Spawn(loop_.get_executor(), Note(&watched.ours, what, &ready_));
  }
  /// Closes a descriptor while an event of it waits to be handled, and then watches another.
  void AwaitAfterAStaleEvent(Watched& next, Descriptor::wait_type what, bool hung_up) {
    Watched first(loop_), second(loop_);
    first.Watch();
    second.Watch();
    first.ours.async_wait(Descriptor::wait_read, [&](const std::error_code&) {
      second.ours.close();
      Await(next, what);  // takes its place in the loop
    });
    second.ours.async_wait(Descriptor::wait_read, [](const std::error_code&) {});
    first.Write();
    if (hung_up)
      second.theirs.Reset();
    else
      second.Write();
    loop_.restart();
    loop_.poll();
  }

  asio::io_context loop_;
  bool ready_ = false;
};

TEST_F(ReadinessTest, EndsWhenThereIsSomethingToRead) {
  Watched watched(loop_);
  Await(watched, Descriptor::wait_read);
  loop_.poll();
  EXPECT_FALSE(ready_);
  watched.Write();
  loop_.restart();
  loop_.run();
  EXPECT_TRUE(ready_);
}

TEST_F(ReadinessTest, EndsWhenTheOtherSideHasHungUpAlsoWhileBytesWait) {
  Watched watched(loop_);
  watched.Write();
  Await(watched, Descriptor::wait_error);
  loop_.poll();
  EXPECT_FALSE(ready_);
  watched.theirs.Reset();
  loop_.restart();
  loop_.run();
  EXPECT_TRUE(ready_);
}

TEST_F(ReadinessTest, AnEventOfAClosedDescriptorIsNoneOfTheNext) {
  Watched next(loop_);
  AwaitAfterAStaleEvent(next, Descriptor::wait_read, false);
  EXPECT_FALSE(ready_);
  next.Write();
  loop_.restart();
  loop_.run();
  EXPECT_TRUE(ready_);
}

TEST_F(ReadinessTest, TheHangupOfAClosedDescriptorIsNoneOfTheNext) {
  Watched next(loop_);
  AwaitAfterAStaleEvent(next, Descriptor::wait_error, true);
  EXPECT_FALSE(ready_);
  next.theirs.Reset();
  loop_.restart();
  loop_.run();
  EXPECT_TRUE(ready_);
}

}  // namespace
}  // namespace jobman::base
