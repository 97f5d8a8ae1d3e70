#pragma once

#include <string>
#include <string_view>

namespace jobman::ui {

/// Where bytes go: a file descriptor, or a string in tests.
class Sink {
 public:
  virtual ~Sink() = default;
  /// Writes everything. Gives back 0, or the errno that stopped it.
  virtual int Write(std::string_view bytes) = 0;
};

/// Writes to a file descriptor that it does not own; waits where the descriptor does not block.
/// SIGPIPE must be ignored by the process.
class FdSink final : public Sink {
 public:
  explicit FdSink(int fd) : fd_(fd) {}
  int Write(std::string_view bytes) override;

 private:
  int fd_;
};

/// Keeps what was written; fails with `fail_with` from then on when that is not 0.
class StringSink final : public Sink {
 public:
  int Write(std::string_view bytes) override;
  /// What was written since the last call.
  std::string Take();

  std::string text = {};
  int fail_with = 0;
};

}  // namespace jobman::ui
