#pragma once

#include <memory>

namespace jobman::base {

template <auto Free>
struct Releaser {
  template <class T>
  void operator()(T* pointer) const noexcept {
    Free(pointer);
  }
};

/// Owns a C library's object: UniqueHandle<ssh_session_struct, ssh_free>.
template <class T, auto Free>
using UniqueHandle = std::unique_ptr<T, Releaser<Free>>;

/// Owns a file descriptor.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.Release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept;
  ~UniqueFd() { Reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int Release();
  void Reset();

 private:
  int fd_ = -1;
};

/// The same open file, not as a standard descriptor, which it has if this program was started with
/// one of them closed: what is printed would go there. None, and errno, if it cannot be moved.
UniqueFd MoveUp(UniqueFd fd);

}  // namespace jobman::base
