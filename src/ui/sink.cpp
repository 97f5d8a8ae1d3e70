#include "jobman/ui/sink.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

namespace jobman::ui {

int FdSink::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      // Another process that shares the terminal made it non-blocking.
      pollfd ready{.fd = fd_, .events = POLLOUT, .revents = 0};
      if (::poll(&ready, 1, -1) < 0 && errno != EINTR) return errno;
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace jobman::ui
