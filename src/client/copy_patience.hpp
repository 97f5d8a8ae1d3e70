#pragma once

#include <algorithm>
#include <chrono>

#include "jobman/base/backoff.hpp"
#include "jobman/base/task.hpp"

namespace jobman::client {

/// How long a copy still waits for hosts that are not there.
class Patience {
 public:
  explicit Patience(base::Duration limit) : limit_(limit), end_(Clock::now() + limit) {}
  bool MayWait() const { return Clock::now() < end_; }
  /// Before the next try: the first comes at once, then longer each time, not beyond the end.
  base::Task<bool> Wait() {
    const auto left = std::chrono::duration_cast<base::Duration>(end_ - Clock::now());
    const base::Backoff backoff{.cap = std::chrono::seconds{15}};
    const base::Duration wait = std::clamp(tries_ == 0 ? base::Duration{} : backoff.Bound(tries_),
                                           base::Duration{}, std::max(left, base::Duration{}));
    ++tries_;
    co_await base::Sleep(wait);
    co_return true;
  }
  /// Something got on.
  void Renew() {
    tries_ = 0;
    end_ = Clock::now() + limit_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  base::Duration limit_;
  Clock::time_point end_;
  int tries_ = 0;
};

}  // namespace jobman::client
