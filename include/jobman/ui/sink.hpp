#pragma once

#include <string>
#include <string_view>

namespace jobman::ui {

/// A destination for bytes: a file descriptor, or a string in tests.
class Sink {
 public:
  virtual ~Sink() = default;
  /// Writes everything. Returns 0, or the errno that stopped it.
  virtual int Write(std::string_view bytes) = 0;
};

/// Writes to a file descriptor that it does not own; waits if the descriptor is non-blocking and
/// full. The process must ignore SIGPIPE.
class FdSink final : public Sink {
 public:
  explicit FdSink(int fd) : fd_(fd) {}
  int Write(std::string_view bytes) override;

 private:
  int fd_;
};

}  // namespace jobman::ui
