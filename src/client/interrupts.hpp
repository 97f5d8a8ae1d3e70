#pragma once

#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "jobman/base/task.hpp"

namespace jobman::client {

/// While it exists, SIGINT, SIGTERM and SIGHUP do not end the process. Ignored ones stay ignored:
/// whoever started this process wants it so. After an interrupt, those that come within
/// kSameInterrupt of it do not end the process either, so that it can say what became of its work.
class Interrupts {
 public:
  explicit Interrupts(asio::io_context& loop);
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;
  ~Interrupts();
  /// Until one of them comes; not at all if one came since the last wait.
  base::Task<void> Wait();

 private:
  asio::signal_set signals_;
  std::vector<int> caught_ = {};
  bool interrupted_ = false;
};

/// Turns the loop a last time: commands that were cancelled send TERM to their hosts as they end.
void SendFarewell(asio::io_context& loop);

template <class T>
base::Task<T> AfterOthers(base::Task<T> task) {
  co_await base::Yield();
  co_return co_await std::move(task);
}

/// The result of `task`; nothing if an interrupt comes before its end, or has come already: then it
/// is cancelled.
template <class T>
base::Task<std::optional<T>> UnlessInterrupted(Interrupts* interrupts, base::Task<T> task) {
  using namespace asio::experimental::awaitable_operators;
  auto first = co_await (interrupts->Wait() || AfterOthers(std::move(task)));
  if (first.index() == 0) co_return std::nullopt;
  co_return std::move(std::get<1>(first));
}

}  // namespace jobman::client
