#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "jobman/base/waiters.hpp"
#include "jobman/controller/frame_pipe.hpp"
#include "jobman/controller/shell_messages.hpp"
#include "jobman/ports/host_shell.hpp"

namespace jobman::controller {

/// One connection of a command of this user: reads what to run where, runs it on the controller's
/// shell, and passes input and output on. At most kShellWindow bytes and two pieces wait in each
/// direction; whoever does not read holds up its own command and nothing else, and what a command
/// that has ended wrote waits until it is read. When the other side closes, the command is
/// cancelled.
class ShellStream final : public ports::Pace, public std::enable_shared_from_this<ShellStream> {
 public:
  ShellStream(asio::any_io_executor executor, base::UniqueFd socket, ports::HostShell* shell);

  /// Calls `on_end` when it is over, unless the loop ends first.
  void Start(std::function<void()> on_end);
  /// Cancels everything: the shell is not used any more.
  void End() { scope_.Cancel(); }
  /// Shows the other side that the controller lives, if it runs a command and has nothing to say.
  void SayAlive();

  base::Result<std::optional<std::string>> NextInput() override;
  base::Result<bool> MayRead() override;

 private:
  using Self = std::shared_ptr<ShellStream>;
  static base::Task<void> Serve(Self self);
  static base::Task<base::Result<ShellRequest>> Read(Self self);
  static base::Task<base::Result<int>> Run(Self self, ShellRequest request);
  static base::Task<base::Status> AskToBegin(Self self);
  static base::Task<void> ReadInput(Self self);
  void SendOutput();
  static base::Task<void> WriteOutput(Self self);
  static base::Task<void> AwaitRoom(Self self);
  static base::Task<void> AwaitEnd(Self self);
  base::Status Take(Frame frame);
  void Queue(FrameType type, std::string_view body = {});
  ports::ByteSink SinkTo(FrameType type);
  std::size_t unsent() const { return output_.size() + sending_; }

  asio::any_io_executor executor_;
  FramePipe pipe_;
  ports::HostShell* shell_;
  base::CancelScope scope_ = {};
  base::Waiters changed_ = {};
  std::deque<std::string> input_ = {};
  std::size_t input_size_ = 0;  ///< bytes that it takes in memory
  std::string output_ = {};     ///< frames to be sent
  std::size_t sending_ = 0;     ///< bytes that are being sent
  bool writes_ = false;         ///< SendOutput() will run, or WriteOutput() does
  bool reads_ = false;          ///< ReadInput() runs
  bool runs_ = false;           ///< the request is accepted, and its command has not ended
  bool may_go_ = false;
};

}  // namespace jobman::controller
