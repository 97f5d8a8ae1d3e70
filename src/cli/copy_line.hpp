#pragma once

#include <chrono>

#include "cli/app.hpp"
#include "cli/views/copying.hpp"

namespace jobman::cli {

/// A line on the terminal for a copy that takes long, rewritten some times a second. One that does
/// not get on is told too: its host may hang.
class CopyLine {
 public:
  explicit CopyLine(App& app) : app_(app) {}
  void operator()(const client::CopyState& state) {
    const auto now = Clock::now();
    if (app_.mode() == OutputMode::kQuiet || now < next_) return;
    next_ = now + std::chrono::milliseconds{250};
    rate_.Add(now, state.bytes);
    if (now < began_ + std::chrono::seconds{1}) return;  // most copies are over by then
    const auto past = std::chrono::floor<std::chrono::seconds>(now - began_);
    app_.terminal().SetStatus(views::CopyingText(state, rate_.PerSecond(), past));
  }

 private:
  using Clock = std::chrono::steady_clock;
  App& app_;
  Clock::time_point began_ = Clock::now();
  Clock::time_point next_ = began_;
  views::RecentRate rate_ = {};
};

}  // namespace jobman::cli
