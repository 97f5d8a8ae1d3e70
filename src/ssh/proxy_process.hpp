#pragma once

#include <sys/types.h>

#include <asio/any_io_executor.hpp>
#include <memory>
#include <string>

#include "jobman/base/handle.hpp"
#include "jobman/base/task.hpp"

namespace jobman::ssh {

/// A proxy command that runs: its standard input and output are a connection to a host. It leads a
/// session and a process group of its own, without a terminal; the group ends with the object. Its
/// standard error is read all the time, and the end of it kept. On the loop's thread.
class ProxyProcess {
 public:
  /// Runs `command` in a shell, as OpenSSH does: "exec COMMAND".
  static base::Result<std::shared_ptr<ProxyProcess>> Start(asio::any_io_executor executor,
                                                           const std::string& command);
  ~ProxyProcess();
  ProxyProcess(const ProxyProcess&) = delete;
  ProxyProcess& operator=(const ProxyProcess&) = delete;

  /// The connection: a non-blocking socket. Not after TakeSocket().
  int socket() const { return socket_.get(); }
  base::UniqueFd TakeSocket() { return std::move(socket_); }

  /// "exit code 255: ssh: connect to host b port 22: Connection refused": how it ended, and the
  /// last that it said; waits for its end for a moment. "it still runs" if that does not come. The
  /// object must outlive the coroutine.
  base::Task<std::string> LastWords();

  /// Coroutines that serve the connection end with the process.
  const base::CancelScope& scope() const { return scope_; }

 private:
  struct Tail;
  ProxyProcess(pid_t pid, base::UniqueFd socket, std::shared_ptr<Tail> tail);
  static base::Task<void> Collect(std::shared_ptr<Tail> tail);
  std::string EndText() const;

  pid_t pid_;
  base::UniqueFd socket_;
  std::shared_ptr<Tail> tail_;
  base::CancelScope scope_ = {};
};

}  // namespace jobman::ssh
