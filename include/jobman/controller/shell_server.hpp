#pragma once

#include <asio/any_io_executor.hpp>
#include <cstdint>
#include <map>
#include <memory>

#include "jobman/base/files.hpp"
#include "jobman/base/task.hpp"
#include "jobman/ports/host_shell.hpp"

namespace jobman::controller {

/// Runs commands on hosts for other processes of this user, on a shell whose connections outlive
/// them (ADR 34). Each command has a connection of its own to the socket. On the loop's thread. The
/// shell must outlive the server; when the server dies, all of them are cancelled.
class ShellServer {
 public:
  ShellServer(asio::any_io_executor executor, ports::HostShell* shell, base::Path socket);
  ~ShellServer();
  ShellServer(const ShellServer&) = delete;
  ShellServer& operator=(const ShellServer&) = delete;

  /// How many commands are run at once by a process that may open so many files, each of which is
  /// one: an eighth of them, 4,096 at most. Others are turned away, and connect by themselves.
  static std::int64_t MostStreams(std::int64_t file_limit);

  /// Binds the socket and takes connections until cancelled; what runs then goes on. Errors: the
  /// socket cannot be bound.
  base::Task<base::Status> Listen();
  /// Whether any command is under way.
  bool Busy() const;
  /// Cancels all that is under way: each command is sent TERM on its host.
  void Close();

 private:
  struct Streams;
  void Admit(base::UniqueFd socket);
  static base::Task<void> SayAlive(std::weak_ptr<Streams> streams);

  asio::any_io_executor executor_;
  ports::HostShell* shell_;
  base::Path socket_;
  std::shared_ptr<Streams> streams_;
  base::CancelScope alive_ = {};
};

}  // namespace jobman::controller
