#pragma once

#include <libssh/callbacks.h>
#include <libssh/libssh.h>

#include <asio/any_io_executor.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "jobman/base/handle.hpp"
#include "jobman/base/waiters.hpp"
#include "jobman/ports/host_shell.hpp"
#include "ssh/error_map.hpp"

namespace jobman::ssh {

using base::Deadline;
using base::kNever;
using base::Task;
using base::Waiters;

/// Counts a connection from its first packet until its descriptors are closed.
class Counted {
 public:
  explicit Counted(std::shared_ptr<int> count) : count_(std::move(count)) { ++*count_; }
  Counted(Counted&&) = default;
  Counted& operator=(Counted&&) = delete;
  ~Counted() {
    if (count_) --*count_;
  }

 private:
  std::shared_ptr<int> count_;
};

/// A libssh session on the loop. libssh never blocks here: a call that cannot go on returns
/// SSH_AGAIN, and the caller waits with Changed().
///
/// Any libssh call may read packets for any channel of the session. So every coroutine calls
/// After() after its libssh calls: it wakes the others if packets arrived, and keeps the socket
/// watched. Between commands the session watches the socket itself, to answer the server's
/// keepalives and to notice a hangup.
///
/// The caller of a method must hold a shared_ptr: the pool may release the session meanwhile.
class Session : public std::enable_shared_from_this<Session> {
 public:
  /// Takes the connected, non-blocking socket.
  Session(asio::any_io_executor executor, std::string endpoint, base::UniqueFd socket,
          Counted counted);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  ssh_session raw() const { return session_.get(); }
  const std::string& endpoint() const { return endpoint_; }

  /// Keeps what carries the connection, such as a child process, until its last descriptor is
  /// closed.
  void Carry(std::shared_ptr<void> carrier) { carrier_ = std::move(carrier); }
  /// Gives the socket to libssh. Before the first ssh_connect().
  void LendSocket();
  /// Call after the login: from now on the session handles packets by itself.
  void StartServing();
  /// Call after every group of libssh calls.
  void After();
  /// How many packets have arrived. Unchanged means that nothing new can be read.
  std::uint64_t packets() const { return counter_.in_packets; }
  /// Whether bytes are left that the socket does not take now; Changed() waits until it takes more.
  bool sending();
  /// Waits until packets arrive, the socket is writable, the session breaks, Nudge(), or the
  /// deadline.
  Task<void> Changed(Deadline deadline = kNever);
  /// Wakes those who wait, for something that is not the session's.
  void Nudge() { waiters_.WakeAll(); }

  bool alive() const;
  /// Breaks the session: everything on it fails with kHostTimeout ("the connection broke").
  void Break(const std::string& why);
  Error BrokenError() const;

  /// No new commands; running ones go on.
  void Retire();
  /// Neither broken nor retired.
  bool usable() const { return alive() && !retired_; }
  /// Called once, when the session becomes unusable.
  void OnUnusable(std::function<void()> hook) { on_unusable_ = std::move(hook); }
  // Kept by the pool.
  int users = 0;                                           ///< commands that use it
  Deadline idle_since = std::chrono::steady_clock::now();  ///< if there are none

  /// Called when the server opens a channel to our ssh-agent: returns a new channel, or nullptr to
  /// refuse. Runs inside of a libssh call, so it must make no other on an existing channel.
  void OnAgentChannel(std::function<ssh_channel()> open);
  bool forwards_agent() const { return static_cast<bool>(open_agent_channel_); }
  int agent_channels = 0;  ///< open ones, kept by ForwardAgent()

 private:
  void Arm(bool to_write);
  void OnReady(const std::error_code& failed);
  void TellUnusable();

  Counted counted_;
  std::shared_ptr<void> carrier_ = {};
  std::string endpoint_;
  base::UniqueFd socket_;
  ssh_counter_struct counter_ = {};
  base::UniqueHandle<ssh_session_struct, ssh_free> session_;
  base::UniqueHandle<ssh_event_struct, ssh_event_free> event_;
  int lent_ = -1;  ///< libssh's socket, unless it has closed it
  /// A duplicate of it, for the loop.
  asio::posix::stream_descriptor descriptor_;
  Waiters waiters_;
  std::uint64_t noted_ = 0;
  std::string broken_;
  int unwatched_ = 0;  ///< errno: why the loop cannot watch the socket
  bool reading_ = false;
  bool writing_ = false;
  bool retired_ = false;
  std::function<void()> on_unusable_ = {};
  std::function<ssh_channel()> open_agent_channel_ = {};
  ssh_callbacks_struct callbacks_ = {};
};

}  // namespace jobman::ssh
