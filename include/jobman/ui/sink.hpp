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

/// Keeps what was written; all writes fail with `fail_with` unless it is 0.
class StringSink final : public Sink {
 public:
  int Write(std::string_view bytes) override;
  /// What was written since the last call.
  std::string Take();

  std::string text = {};
  int fail_with = 0;
};

}  // namespace jobman::ui
