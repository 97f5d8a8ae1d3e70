#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <string>

#include "jobman/base/handle.hpp"

namespace jobman::test {

/// A forked process that says something and then does nothing. The destructor kills it.
class PausedChild {
 public:
  /// Writes the text for said(), and pauses for ever.
  using Say = std::function<void(const std::string& text)>;

  /// In the child, `body` calls `say` last: what it holds then is held until the end.
  explicit PausedChild(const std::function<void(const Say& say)>& body, bool ignores_term = false) {
    int raw[2] = {};
    EXPECT_EQ(pipe(raw), 0);
    const base::UniqueFd in(raw[0]);
    base::UniqueFd out(raw[1]);
    pid_ = fork();
    EXPECT_GE(pid_, 0);
    if (pid_ == 0) {
      signal(SIGTERM, ignores_term ? SIG_IGN : SIG_DFL);
      body([&out](const std::string& text) {
        if (write(out.get(), text.data(), text.size()) < 0) _exit(1);
        for (;;) pause();
      });
      _exit(1);
    }
    out = {};
    std::array<char, 512> text = {};
    EXPECT_GT(read(in.get(), text.data(), text.size() - 1), 0);
    said_ = text.data();
  }
  ~PausedChild() { Kill(); }
  PausedChild(const PausedChild&) = delete;
  PausedChild& operator=(const PausedChild&) = delete;

  const std::string& said() const { return said_; }
  pid_t pid() const { return pid_; }
  void Kill() {
    if (Ended()) return;
    kill(pid_, SIGKILL);
    ended_ = waitpid(pid_, nullptr, 0) == pid_;
  }
  bool Ended() {
    ended_ = ended_ || waitpid(pid_, nullptr, WNOHANG) == pid_;
    return ended_;
  }

 private:
  pid_t pid_ = 0;
  bool ended_ = false;
  std::string said_ = {};
};

}  // namespace jobman::test
