#include "cli/exec_end.hpp"

#include <algorithm>

#include "cli/exit_code.hpp"

namespace jobman::cli {
namespace {

/// Whether there is no exit code, nor will there be one.
bool Failed(const ssh::HostOutcome& host) {
  return !host.result.ok() && !host.timed_out;
}

int CodeOf(const ssh::HostOutcome& host) {
  if (host.timed_out) return kTimedOut;
  return host.result.ok() ? *host.result : static_cast<int>(ExitCodeOf(host.result.error()));
}

/// Whether `a` counts for less than `b`.
bool Less(const ssh::HostOutcome& a, const ssh::HostOutcome& b) {
  const auto rank = [](const ssh::HostOutcome& host) {
    return Failed(host) ? (CodeOf(host) == kCredentials ? 2 : 1) : 0;
  };
  return rank(a) != rank(b) ? rank(a) < rank(b) : CodeOf(a) < CodeOf(b);
}

}  // namespace

ExecEnd EndOf(const ssh::FanOutResult& result) {
  const auto worst = std::max_element(result.hosts.begin(), result.hosts.end(), Less);
  if (worst == result.hosts.end()) return {};
  ExecEnd end{.code = CodeOf(*worst)};
  // Of several hosts the table has each error; a key wants to be told how.
  if (Failed(*worst) && (result.hosts.size() == 1 || end.code == kCredentials))
    end.hint = worst->result.error().hint;
  return end;
}

}  // namespace jobman::cli
