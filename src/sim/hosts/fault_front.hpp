#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "jobman/base/files.hpp"
#include "jobman/base/result.hpp"
#include "sim/hosts/host_fault.hpp"

namespace jobman::sim {

/// Relays one SSH connection between a client and its sshd, with a fault: late, deaf once the login
/// is accepted, or reset when a command begins. What sshd logs tells when that is, since the
/// connection itself is encrypted. One thread; holds at most kMostHeld bytes for each direction and
/// reads no more until they are gone.
class FaultFront {
 public:
  static constexpr std::size_t kMostHeld = std::size_t{1} << 20;
  enum class End { kClosed, kReset };

  /// Descriptors of the client's connection, of sshd's, and of what sshd logs (its end of a pipe),
  /// which is copied to `copy` (-1: nowhere). All belong to the caller.
  FaultFront(HostFault fault, int client, int server, int log, int copy);
  /// Relays until sshd closes, or until the connection is to be reset. As long as a client stays
  /// connected, this does: whoever switches off the host ends the process.
  End Run();

 private:
  using Clock = std::chrono::steady_clock;
  struct Piece {
    Clock::time_point due = {};
    std::string bytes = {};
  };
  /// One direction.
  struct Way {
    int from = -1;
    int to = -1;
    std::deque<Piece> held = {};
    std::size_t size = 0;
    bool ended = false;  ///< nothing more is read
    bool over = false;   ///< and all is sent
  };
  void ReadLog();
  void Read(Way& way);
  void Send(Way& way);
  void Finish(Way& way);
  /// Waits until something can be read or sent.
  void Await();

  HostFault fault_;
  int log_;
  int copy_;
  Way up_;    ///< from the client to sshd
  Way down_;  ///< from sshd to the client
  std::string unread_log_ = {};
  bool accepted_ = false;
  bool began_ = false;
};

/// From now on, closing this TCP connection resets it.
void ResetOnClose(int socket);

/// The process before one connection, which it has as standard input: starts `sshd`, whose log goes
/// to the end of the file `log`, and relays. Returns the exit code.
int RunFaultFront(const HostFault& fault, const base::Path& log, std::vector<std::string> sshd);

}  // namespace jobman::sim
