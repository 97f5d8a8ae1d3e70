#pragma once

#include <libssh/callbacks.h>
#include <libssh/libssh.h>

#include <asio/any_io_executor.hpp>
#include <asio/posix/stream_descriptor.hpp>
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

/// A connection, in a count of them, from its first packet until its descriptors are closed.
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

/// A libssh session on the loop. libssh never blocks here: a call that cannot go on says SSH_AGAIN,
/// and the caller waits with Changed().
///
/// Any libssh call may take in packets for any channel of the session. So every coroutine calls
/// After() behind its libssh calls: it wakes the others when packets came in, and keeps the socket
/// watched. Between commands the session watches the socket by itself, to answer the server's
/// keepalives and to see it hang up.
///
/// Whoever calls a method holds a shared_ptr: it may be the last one when the pool lets go.
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

  /// Lets libssh have the socket. Before the first ssh_connect().
  void LendSocket();
  /// Call it when the login is done: from now on the session looks after itself.
  void StartServing();
  /// Behind every group of libssh calls.
  void After();
  /// How many packets came in so far. Unchanged means that nothing new can be read.
  std::uint64_t packets() const { return counter_.in_packets; }
  /// Until packets come in, the socket takes more, or the session breaks; or the deadline.
  Task<void> Changed(Deadline deadline = kNever);

  bool alive() const;
  /// Ends it: everything on it fails with kHostTimeout ("the connection broke").
  void Break(const std::string& why);
  Error BrokenError() const;

  /// Not for new commands any more; those that run on it go on.
  void Retire();
  /// Neither broken nor retired.
  bool usable() const { return alive() && !retired_; }
  /// Called once, when it is usable no more.
  void OnUnusable(std::function<void()> hook) { on_unusable_ = std::move(hook); }
  int users = 0;  ///< commands that use it, kept by the pool

 private:
  void Arm();
  void OnReady(const std::error_code& failed);
  void TellUnusable();

  Counted counted_;
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
  bool reading_ = false;
  bool writing_ = false;
  bool retired_ = false;
  std::function<void()> on_unusable_ = {};
};

}  // namespace jobman::ssh
