#pragma once

#include <libssh/callbacks.h>
#include <libssh/libssh.h>

#include <asio/any_io_executor.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <memory>
#include <string>

#include "jobman/base/handle.hpp"
#include "jobman/ports/host_shell.hpp"
#include "ssh/error_map.hpp"
#include "ssh/waiters.hpp"

namespace jobman::ssh {

/// A libssh session on the loop. libssh never blocks here: a call that cannot go on says SSH_AGAIN,
/// and the caller waits with Changed().
///
/// Any libssh call may take in packets for any channel of the session. So every coroutine calls
/// After() behind its libssh calls: it wakes the others when packets came in, and keeps the socket
/// watched. Between commands the session watches the socket by itself, to answer the server's
/// keepalives and to see it hang up.
class Session : public std::enable_shared_from_this<Session> {
 public:
  /// Takes the connected, non-blocking socket.
  Session(asio::any_io_executor executor, std::string endpoint, base::UniqueFd socket);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  ssh_session raw() const { return session_.get(); }
  const std::string& endpoint() const { return endpoint_; }

  /// Lets libssh have the socket, which it closes from then on. Before the first ssh_connect().
  void HandOverSocket();
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

  /// Not for new commands any more.
  void Retire() { retired_ = true; }
  bool retired() const { return retired_; }
  int users = 0;  ///< commands that use it, kept by the pool

 private:
  void Arm();
  void OnReady(const std::error_code& failed);

  std::string endpoint_;
  base::UniqueFd socket_;
  ssh_counter_struct counter_ = {};
  base::UniqueHandle<ssh_session_struct, ssh_free> session_;
  base::UniqueHandle<ssh_event_struct, ssh_event_free> event_;
  /// A duplicate of libssh's socket: libssh closes its own when it likes.
  asio::posix::stream_descriptor descriptor_;
  Waiters waiters_;
  std::uint64_t noted_ = 0;
  std::string broken_;
  bool reading_ = false;
  bool writing_ = false;
  bool retired_ = false;
};

}  // namespace jobman::ssh
