#include "client/interrupts.hpp"

#include <signal.h>

#include <asio/use_awaitable.hpp>

#include "jobman/client/times.hpp"

namespace jobman::client {

Interrupts::Interrupts(asio::io_context& loop) : signals_(loop) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before = {};
    if (::sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) continue;
    signals_.add(signal);
  }
}

base::Task<void> Interrupts::Wait() {
  co_await signals_.async_wait(asio::use_awaitable);
}

void SendFarewell(asio::io_context& loop) {
  loop.restart();
  loop.run_for(kFarewell);
}

}  // namespace jobman::client
