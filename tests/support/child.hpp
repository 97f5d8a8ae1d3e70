#pragma once

#include <grp.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace jobman::test {

/// A forked process that runs `body` and exits with what it returns.
class Child {
 public:
  explicit Child(const std::function<int()>& body) : pid_(fork()) {
    if (pid_ == 0) _exit(body());
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ > 0) Kill();
  }

  /// SIGKILL, and waits until it is gone.
  void Kill() {
    kill(pid_, SIGKILL);
    Wait();
  }
  /// Its exit code; -1 when a signal ended it.
  int Wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t pid_ = -1;
};

/// Gives up root's rights: no folder is closed to root. For children only.
inline bool BecomeNobody() {
  if (geteuid() != 0) return true;
  constexpr unsigned kNobody = 65534;
  return setgroups(0, nullptr) == 0 && setgid(kNobody) == 0 && setuid(kNobody) == 0;
}

}  // namespace jobman::test
