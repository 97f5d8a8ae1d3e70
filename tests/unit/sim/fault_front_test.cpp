// The relay before the sshd of a host with a fault.
#include "sim/hosts/fault_front.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <future>
#include <string>

#include "jobman/base/handle.hpp"

namespace jobman::sim {
namespace {

constexpr int kAgesMs = 60'000;
constexpr const char* kLogin = "Accepted publickey for ann from UNKNOWN port 1 ssh2: ED25519 x\n";
constexpr const char* kCommand = "Starting session: command for ann from UNKNOWN port 1 id 0\n";

/// A front between a client and an sshd that the test plays.
class FaultFrontTest : public testing::Test {
 protected:
  void Start(const HostFault& fault) {
    Connect(client_, front_client_);
    Connect(sshd_, front_sshd_);
    std::array<int, 2> ends = {-1, -1};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    front_log_ = base::UniqueFd(ends[0]);
    log_ = base::UniqueFd(ends[1]);
    end_ = std::async(std::launch::async, [this, fault] {
      FaultFront front(fault, front_client_.get(), front_sshd_.get(), front_log_.get(), -1);
      return front.Run();
    });
  }
  void TearDown() override {
    sshd_.Reset();
    client_.Reset();
    if (end_.valid()) end_.wait();
  }
  static void Connect(base::UniqueFd& ours, base::UniqueFd& theirs) {
    std::array<int, 2> ends = {-1, -1};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    ours = base::UniqueFd(ends[0]);
    theirs = base::UniqueFd(ends[1]);
  }
  static void Say(const base::UniqueFd& from, const std::string& text) {
    ASSERT_EQ(::write(from.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  /// What arrives; "" at the end of the connection.
  static std::string Hear(const base::UniqueFd& at) {
    pollfd ready{.fd = at.get(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(::poll(&ready, 1, kAgesMs), 1);
    std::string text(100, '\0');
    text.resize(static_cast<std::size_t>(
        std::max<ssize_t>(0, ::recv(at.get(), text.data(), text.size(), MSG_DONTWAIT))));
    return text;
  }
  static bool Hears(const base::UniqueFd& at) {
    pollfd ready{.fd = at.get(), .events = POLLIN, .revents = 0};
    return ::poll(&ready, 1, 0) == 1;
  }

  base::UniqueFd client_ = {};
  base::UniqueFd sshd_ = {};
  base::UniqueFd log_ = {};
  base::UniqueFd front_client_ = {};
  base::UniqueFd front_sshd_ = {};
  base::UniqueFd front_log_ = {};
  std::future<FaultFront::End> end_ = {};
};

TEST_F(FaultFrontTest, PassesOnWhatIsSaidAndEndsWithSshd) {
  Start({.kind = HostFaultKind::kSlow, .late = Duration{1}});
  Say(client_, "hello");
  EXPECT_EQ(Hear(sshd_), "hello");
  Say(log_, kLogin);
  Say(log_, kCommand);
  Say(sshd_, "welcome");
  EXPECT_EQ(Hear(client_), "welcome");
  ::shutdown(client_.get(), SHUT_WR);
  EXPECT_EQ(Hear(sshd_), "") << "the end is passed on too";
  Say(sshd_, "bye");
  sshd_.Reset();
  EXPECT_EQ(Hear(client_), "bye");
  EXPECT_EQ(end_.get(), FaultFront::End::kClosed);
}

TEST_F(FaultFrontTest, IsLateWhenSlow) {
  Start({.kind = HostFaultKind::kSlow, .late = Duration{300}});
  const auto begin = std::chrono::steady_clock::now();
  Say(client_, "hello");
  EXPECT_EQ(Hear(sshd_), "hello");
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(300));
}

TEST_F(FaultFrontTest, HoldsNoMoreThanItMay) {
  Start({.kind = HostFaultKind::kSlow, .late = Duration{3'600'000}});
  // What does not fit into the front and the buffers of two sockets cannot be written.
  const std::string block(std::size_t{64} << 10, 'x');
  std::size_t written = 0;
  for (pollfd room{.fd = client_.get(), .events = POLLOUT, .revents = 0};
       written < 64 * FaultFront::kMostHeld && ::poll(&room, 1, 1000) == 1;) {
    const ssize_t n = ::send(client_.get(), block.data(), block.size(), MSG_DONTWAIT);
    if (n > 0) written += static_cast<std::size_t>(n);
  }
  EXPECT_LT(written, 8 * FaultFront::kMostHeld);
}

TEST_F(FaultFrontTest, IsDeafOnceTheLoginIsAccepted) {
  Start({.kind = HostFaultKind::kHangAfterAuth});
  Say(client_, "key");
  EXPECT_EQ(Hear(sshd_), "key");
  Say(log_, "Accepted key ED25519 x found at keys:1\n");
  Say(client_, "signature");
  EXPECT_EQ(Hear(sshd_), "signature") << "that was not the login yet";
  Say(log_, kLogin);
  Say(sshd_, "success");
  EXPECT_EQ(Hear(client_), "success");
  Say(client_, "open a channel");
  ::shutdown(client_.get(), SHUT_WR);
  EXPECT_EQ(Hear(sshd_), "") << "only the end";
}

TEST_F(FaultFrontTest, ResetsWhenACommandBegins) {
  Start({.kind = HostFaultKind::kResetMiddle});
  Say(client_, "run it");
  EXPECT_EQ(Hear(sshd_), "run it");
  Say(log_, kLogin);
  Say(sshd_, "success");
  EXPECT_EQ(Hear(client_), "success");
  Say(log_, std::string(kCommand).substr(0, 10));
  Say(log_, std::string(kCommand).substr(10));
  EXPECT_EQ(end_.get(), FaultFront::End::kReset);
  EXPECT_FALSE(Hears(client_)) << "the caller closes it";
}

TEST_F(FaultFrontTest, EndsWhenTheClientIsGone) {
  Start({.kind = HostFaultKind::kSlow, .late = Duration{1}});
  client_.Reset();
  EXPECT_EQ(Hear(sshd_), "");
  sshd_.Reset();
  EXPECT_EQ(end_.get(), FaultFront::End::kClosed);
}

}  // namespace
}  // namespace jobman::sim
