#pragma once

#include <asio/io_context.hpp>
#include <chrono>
#include <functional>

namespace jobman::test {

/// Runs the loop until the condition holds; false after a minute.
inline bool TurnUntil(asio::io_context& loop, const std::function<bool()>& is_so) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes{1};
  bool is = is_so();
  while (!is && std::chrono::steady_clock::now() < end) {
    loop.restart();
    loop.run_one_for(std::chrono::milliseconds{10});
    is = is_so();
  }
  return is;
}

}  // namespace jobman::test
