#include "jobman/base/handle.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

namespace jobman::base {

UniqueFd& UniqueFd::operator=(UniqueFd&& other) noexcept {
  if (this != &other) {
    Reset();
    fd_ = other.Release();
  }
  return *this;
}

int UniqueFd::Release() {
  return std::exchange(fd_, -1);
}

void UniqueFd::Reset() {
  // Not repeated on EINTR: Linux has closed the descriptor by then, and another may own its number.
  if (fd_ >= 0) ::close(Release());
}

UniqueFd MoveUp(UniqueFd fd) {
  if (!fd || fd.get() > STDERR_FILENO) return fd;
  return UniqueFd(::fcntl(fd.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

}  // namespace jobman::base
