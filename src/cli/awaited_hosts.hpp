#pragma once

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace jobman::cli {

/// What to say of hosts while a command runs on them. A host without a word gets a line, a lone one
/// too: a command may be silent for hours by right, but one on a host that hangs is silent too.
class AwaitedHosts {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// Of `count` hosts.
  explicit AwaitedHosts(std::size_t count) : count_(count) {}

  /// The host has accepted the login.
  void LoggedIn(int host, Time now) { logins_.try_emplace(host, now); }
  /// The host has printed something. True if no host is silent any more.
  bool Heard(int host);
  /// "waiting for 1 host: 2", once 10 s have passed also "...; host 2 accepts the login, but
  /// printed nothing for 25s". `busy`: the hosts that have not ended. Empty while all have
  /// printed something and none has ended.
  std::string Line(const std::vector<int>& busy, Time now) const;

 private:
  std::string Silence(const std::vector<int>& awaited, Time now) const;

  std::size_t count_;
  std::map<int, Time> logins_ = {};  ///< the first of each host
  std::set<int> heard_ = {};
};

}  // namespace jobman::cli
