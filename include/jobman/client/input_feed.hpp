#pragma once

#include <asio/any_io_executor.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "jobman/base/handle.hpp"
#include "jobman/base/task.hpp"
#include "jobman/ports/host_shell.hpp"

namespace jobman::client {

/// How long a command may leave its input untouched while another one waits for more.
inline constexpr base::Duration kInputPatience = std::chrono::minutes{1};

/// What an input is called in errors, and what to do if a command leaves it untouched.
struct InputWords {
  std::string name = "standard input";
  std::string hint =
      "let it read its input to the end (cat >/dev/null), or run it without: </dev/null";
};

/// What became of a command that had the beginning of its input already.
struct InputResume {
  std::int64_t offset = 0;  ///< how much of the input it had
  std::int64_t given = 0;   ///< bytes that it was given
  bool differs = false;     ///< what it had is no beginning of this input; it ended with an error
};

/// The input of a command that may have the beginning of it. On the loop's thread.
class ResumingInput : public ports::Pace {
 public:
  /// The command has the first `offset` bytes. To be called before input is asked for; until then
  /// it holds the others back, as a command does that takes no input.
  virtual void SkipTo(std::int64_t offset) = 0;
  /// The hash of what it has, for an offset above 0; before input is asked for.
  virtual void Verify(std::string sha256) = 0;
};

/// Reads a descriptor once and gives the same bytes to many commands, as the input of each. Reads
/// no faster than the slowest takes them: a mebibyte at most is in memory. The descriptor's flags
/// are left alone, since other processes may share it, and it is not closed.
///
/// A command that leaves its input untouched for `patience` while another one has had everything
/// fails with kDeadlineExceeded, and the others go on. Alone, a command may take as long as it
/// likes. A descriptor that cannot be read ends all of them with the cause; one that is not open
/// reads as empty.
///
/// On the loop's thread. Reading ends with the object; readers may outlive it.
class InputFeed {
 public:
  InputFeed(asio::any_io_executor executor, int fd, base::Duration patience = kInputPatience,
            InputWords words = {});
  ~InputFeed();
  InputFeed(const InputFeed&) = delete;
  InputFeed& operator=(const InputFeed&) = delete;

  /// The whole input, for one command. All join before Start(). One that is dropped holds nobody
  /// back any more.
  std::shared_ptr<ports::Pace> Join();
  /// The input without the beginning that the command has, if that is the same: its hash decides.
  /// If it is not, the command ends with kFailedPrecondition. `facts` outlive it.
  std::shared_ptr<ResumingInput> JoinResuming(std::shared_ptr<InputResume> facts);
  /// Begins to read. `on_read`, which may be empty, is told how much has been read so far.
  void Start(std::function<void(std::int64_t)> on_read = {});
  /// Whether all was read, to its end.
  bool ended() const;

  struct State;

 private:
  asio::any_io_executor executor_;
  std::shared_ptr<State> state_;
  base::CancelScope scope_ = {};
};

}  // namespace jobman::client
