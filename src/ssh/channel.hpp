#pragma once

#include <optional>

#include "ssh/session.hpp"

namespace jobman::ssh {

/// A channel of a session, closed on destruction. A command that still runs then gets TERM:
/// otherwise sshd would let it run, and a waiting command would stay on the host for ever.
class Channel {
 public:
  explicit Channel(std::shared_ptr<Session> session);
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// SSH_OK, SSH_AGAIN or SSH_ERROR, as in libssh.
  int Open();
  /// Before Execute(): the command may use our ssh-agent. The server does not answer this.
  void RequestAgent();
  int Execute(const std::string& command);
  /// Passes available output to the sink, up to a limit and while the pace, which may be null, lets
  /// it; returns whether there was any.
  base::Result<bool> Drain(bool is_stderr, const ports::ByteSink& sink, ports::Pace* pace);
  /// Sends part of the command's input, and EOF after its end; returns whether anything was sent.
  /// What is sent of a piece may be replaced by the next piece. Errors are those of next_input.
  base::Result<bool> Feed(ports::RemoteCommand& command);

  /// The exit code, or 128 + signal; nothing until it has arrived.
  std::optional<int> exit_code() const { return exit_code_; }
  /// Everything has been read and no more will come.
  bool AtEnd() const;
  /// To the command's process group; only once Execute() was SSH_OK. The server does not answer.
  void Signal(const std::string& name);
  bool closed() const { return ssh_channel_is_closed(channel_) != 0; }

 private:
  void EndCommand();

  std::shared_ptr<Session> session_;
  ssh_channel channel_;
  ssh_channel_callbacks_struct callbacks_ = {};
  std::optional<int> exit_code_;
  std::size_t fed_ = 0;         ///< bytes of the piece
  std::size_t fed_before_ = 0;  ///< of those before it
  bool fed_all_ = false;
  bool refused_ = false;  ///< the command does not take input any more
  bool opened_ = false;
  bool executing_ = false;  ///< asked for, and not refused
  bool accepted_ = false;
};

}  // namespace jobman::ssh
