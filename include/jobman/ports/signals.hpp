#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace jobman::ports {

/// Signals for commands that run on hosts, which several calls may share. On the loop's thread.
class Signals {
 public:
  Signals() = default;
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  /// To the process group of every command that listens, and of those that will. "TERM", "KILL":
  /// the names of RFC 4254, section 6.10.
  void Send(std::string name) {
    sent_.push_back(std::move(name));
    const auto listeners = listeners_;
    for (const auto& [key, wake] : listeners) wake();
  }
  /// In the order in which they were sent.
  const std::vector<std::string>& sent() const { return sent_; }

  /// For the shell: what Send() calls, until Forget().
  std::uint64_t Listen(std::function<void()> wake) {
    listeners_.emplace(++last_, std::move(wake));
    return last_;
  }
  void Forget(std::uint64_t key) { listeners_.erase(key); }

 private:
  std::vector<std::string> sent_ = {};
  std::map<std::uint64_t, std::function<void()>> listeners_ = {};
  std::uint64_t last_ = 0;
};

}  // namespace jobman::ports
