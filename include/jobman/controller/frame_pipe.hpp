#pragma once

#include <asio/any_io_executor.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "jobman/base/handle.hpp"
#include "jobman/base/task.hpp"
#include "jobman/controller/shell_frames.hpp"

namespace jobman::controller {

/// Frames over a connected stream socket, which is closed with the object. On the loop's thread; it
/// must outlive its coroutines. One coroutine may read, one may send and one may wait for the end
/// at the same time.
class FramePipe {
 public:
  FramePipe(const asio::any_io_executor& executor, base::UniqueFd socket);

  /// The next frame; nothing once the other side has closed. Others on the loop get their turn
  /// between pieces. Errors of FrameReader, and of reading.
  base::Task<base::Result<std::optional<Frame>>> Next();
  /// Sends frames, as long as that takes; none may be sent after a call that was cancelled.
  /// kUnavailable once the other side has closed.
  base::Task<base::Status> Send(std::string frames);
  /// Sends what the socket takes now, and says how many bytes that was; may be called when nobody
  /// sends. kUnavailable once the other side has closed.
  base::Result<std::size_t> SendNow(std::string_view frames);
  /// Until the other side has closed, also while frames wait that nobody reads.
  base::Task<void> HungUp();
  /// Ends both directions: for both sides the other one has closed.
  void Break();

 private:
  base::Task<base::Result<bool>> Receive();

  asio::posix::stream_descriptor descriptor_;
  FrameReader reader_ = {};
};

}  // namespace jobman::controller
