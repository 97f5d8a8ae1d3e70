#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>

#include "jobman/base/files.hpp"

namespace jobman::test {

/// An ssh-agent without keys; SSH_AUTH_SOCK names it.
class SshAgent {
 public:
  explicit SshAgent(const base::Path& folder) : socket_(folder / "agent") {
    pid_ = fork();
    if (pid_ == 0) {
      dup2(open("/dev/null", O_WRONLY), 1);  // hides its greeting
      execlp("ssh-agent", "ssh-agent", "-D", "-a", socket_.c_str(), static_cast<char*>(nullptr));
      _exit(127);
    }
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{60};
    while (!Listens() && std::chrono::steady_clock::now() < deadline) poll(nullptr, 0, 5);
    setenv("SSH_AUTH_SOCK", socket_.c_str(), 1);
  }
  ~SshAgent() {
    unsetenv("SSH_AUTH_SOCK");
    Kill();
  }
  SshAgent(const SshAgent&) = delete;
  SshAgent& operator=(const SshAgent&) = delete;

  /// Its socket stays, and SSH_AUTH_SOCK.
  void Kill() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  /// Its file is there a moment earlier.
  bool Listens() const {
    sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = {}};
    socket_.native().copy(address.sun_path, sizeof(address.sun_path) - 1);
    const int client = ::socket(AF_UNIX, SOCK_STREAM, 0);
    const int failed =
        ::connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
    ::close(client);
    return failed == 0;
  }

  base::Path socket_;
  pid_t pid_ = -1;
};

}  // namespace jobman::test
