#include "jobman/ui/sink.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

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

int StringSink::Write(std::string_view bytes) {
  if (fail_with != 0) return fail_with;
  text.append(bytes);
  return 0;
}

std::string StringSink::Take() {
  return std::exchange(text, {});
}

}  // namespace jobman::ui
