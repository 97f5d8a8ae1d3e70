#include "cli/exec_end.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "cli/exit_code.hpp"
#include "jobman/base/strings.hpp"

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

/// "on host 3", "on hosts 0-2,5".
std::string OnHosts(std::vector<int> hosts) {
  std::sort(hosts.begin(), hosts.end());
  return (hosts.size() == 1 ? "on host " : "on hosts ") + base::FormatRanges(hosts);
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

base::Error InterruptedEnd(core::JobId job, const client::StoppableRun& run) {
  std::vector<int> ended;
  std::vector<int> idle;
  std::vector<int> open;
  for (const ssh::HostOutcome& host : run.result.hosts) {
    if (std::ranges::count(run.not_ours, host.host) > 0) continue;
    (host.result.ok() ? ended : host.begun ? open : idle).push_back(host.host);
  }
  std::vector<std::string> parts;
  if (!ended.empty()) parts.push_back("the command has ended " + OnHosts(ended));
  if (!idle.empty()) parts.push_back("it did not begin " + OnHosts(idle));
  if (!open.empty()) parts.push_back("it may go on " + OnHosts(open));
  if (!run.not_ours.empty())
    parts.push_back("it goes on as another user (sudo), whom the login may not signal, " +
                    OnHosts(run.not_ours));
  base::Error error{.code = base::Code::kCancelled,
                    .message = "interrupted: " + base::Join(parts, "; ")};
  open.insert(open.end(), run.not_ours.begin(), run.not_ours.end());
  if (open.empty()) return error;
  std::sort(open.begin(), open.end());
  error.hint = "see what runs there: jobman exec " + core::FormatJobId(job) + " -w " +
               base::FormatRanges(open) + " --patience 30s --fold -- ps " +
               (run.not_ours.empty() ? "x" : "ax");
  return error;
}

}  // namespace jobman::cli
