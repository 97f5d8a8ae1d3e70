#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "jobman/controller/nudge.hpp"

namespace jobman::test {

/// Listens for nudges at a socket while the loop runs, as a controller does.
class NudgeListener {
 public:
  NudgeListener(asio::io_context& loop, base::Path socket) : loop_(loop) {
    base::Spawn(loop_.get_executor(), scope_, Listen(std::move(socket), this));
    loop_.poll();  // binds the socket
  }
  ~NudgeListener() {
    scope_.Cancel();
    loop_.restart();
    loop_.run();
  }
  NudgeListener(const NudgeListener&) = delete;
  NudgeListener& operator=(const NudgeListener&) = delete;

  /// What has arrived until now.
  std::vector<controller::Nudge> Take() {
    loop_.restart();
    loop_.poll();
    return std::exchange(nudges_, {});
  }
  std::function<void()> on_nudge = {};

 private:
  static base::Task<void> Listen(base::Path socket, NudgeListener* self) {
    auto take = [self](controller::Nudge nudge) {
      self->nudges_.push_back(std::move(nudge));
      if (self->on_nudge) self->on_nudge();
    };
    const auto ended = co_await controller::ListenForNudges(socket, take);
    EXPECT_TRUE(ended.ok()) << ended.error().ToString();
  }

  asio::io_context& loop_;
  base::CancelScope scope_ = {};
  std::vector<controller::Nudge> nudges_ = {};
};

}  // namespace jobman::test
