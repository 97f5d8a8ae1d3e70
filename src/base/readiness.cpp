#include "jobman/base/readiness.hpp"

#include <poll.h>

#include <asio/use_awaitable.hpp>

namespace jobman::base {
namespace {

using Descriptor = asio::posix::stream_descriptor;

short EventOf(Descriptor::wait_type what) {
  switch (what) {
    case Descriptor::wait_read:
      return POLLIN;
    case Descriptor::wait_write:
      return POLLOUT;
    case Descriptor::wait_error:
      break;
  }
  return POLLPRI;  // POLLERR and POLLHUP are always told
}

bool IsReady(int fd, Descriptor::wait_type what) {
  pollfd one = {.fd = fd, .events = EventOf(what), .revents = 0};
  return ::poll(&one, 1, 0) > 0;  // a signal is no readiness
}

}  // namespace

Task<void> AwaitReady(Descriptor* descriptor, Descriptor::wait_type what) {
  do {
    co_await descriptor->async_wait(what, asio::use_awaitable);
    co_await EndIfCancelled();
  } while (!IsReady(descriptor->native_handle(), what));
}

}  // namespace jobman::base
