#include "sim/command/run_faults.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <map>

#include "jobman/base/clean.hpp"
#include "jobman/base/strings.hpp"
#include "sim/command/client.hpp"
#include "sim/command/report.hpp"
#include "sim/command/verb_words.hpp"
#include "sim/faults/storm.hpp"

namespace jobman::sim {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kFollow = std::chrono::milliseconds(50);
constexpr int kInterrupted = 130;
constexpr int kCalmTries = 300;  ///< the API may be unplugged

/// Makes SIGINT and SIGTERM waitable.
class Interrupt {
 public:
  Interrupt() {
    sigemptyset(&signals_);
    for (const int one : {SIGINT, SIGTERM}) sigaddset(&signals_, one);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  }
  bool CameBefore(Clock::time_point until) const {
    const auto left = std::max(until - Clock::now(), Clock::duration::zero());
    const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
    const timespec wait{.tv_sec = seconds.count(),
                        .tv_nsec = std::chrono::nanoseconds(left - seconds).count()};
    return sigtimedwait(&signals_, nullptr, &wait) > 0;
  }

 private:
  sigset_t signals_ = {};
};

/// Waits until an unplugged API answers again.
base::Status MakeCalm(const SimFile& file, const Interrupt& interrupt) {
  base::Result<Json> calm = base::Internal("not tried");
  for (int i = 0; i < kCalmTries; ++i) {
    calm = Ask(file, "POST", "calm");
    if (calm.ok() || calm.error().code != base::Code::kUnavailable) break;
    interrupt.CameBefore(Clock::now() + kFollow);
  }
  return calm.ok() ? base::Ok() : base::Status(calm.error());
}

base::Status Send(const SimFile& file, const std::vector<Order>& orders) {
  for (const Order& order : orders) JM_TRY(Ask(file, "POST", order.verb, order.body));
  return base::Ok();
}

/// Which hosts a share of them was: "projects/../nodes/t1: hosts 3,17".
void TellHosts(const Order& order, const Json& done) {
  if (!Text(order.body, "index").ends_with('%')) return;
  const Json& hosts = Member(done, "hosts");
  for (const auto& [node, numbers] : hosts.items())
    std::cout << base::CleanLine(node) << ": hosts " << base::CleanLine(Text(hosts, node)) << "\n";
}

base::Status SendLine(const SimFile& file, const std::string& line) {
  JM_ASSIGN_OR_RETURN(const auto orders, ParseOrders(line));
  return Send(file, orders);
}

/// The number of faults of each kind.
using Tally = std::map<std::string, int>;

std::string ToText(const Tally& tally) {
  std::vector<std::string> counts;
  for (const auto& [kind, count] : tally) counts.push_back(fmt::format("{} {}", kind, count));
  return base::Join(counts, ", ");
}

/// Causes the next fault, prints and counts it. It may be refused: its target may be gone.
void NextFault(const SimFile& file, Storm& storm, Duration at, Tally& tally) {
  const auto status = Ask(file, "GET", "status");
  const StormFault fault = storm.Next(status.ok() ? *status : Json());
  if (fault.line.empty()) {
    std::cout << fmt::format("# {}ms {}: no target for it\n", at.count(), fault.kind) << std::flush;
    return;
  }
  const base::Status done = SendLine(file, fault.line);
  const std::string refusal = done.ok() ? "" : "  # " + done.error().ToString();
  std::cout << fmt::format("{}ms {}{}\n", at.count(), fault.line, refusal) << std::flush;
  if (done.ok()) ++tally[fault.kind];
}

/// Prints an executed line of a script. True if it was refused.
bool Tell(const Json& event) {
  if (Text(event, "line").empty()) return false;
  const std::string error = base::CleanLine(Text(event, "error"));
  std::cout << base::CleanLine(Text(event, "line")) << (error.empty() ? "" : "  # " + error)
            << std::endl;
  return !error.empty();
}

/// Prints the lines of a script as they are executed. True if one of them was refused.
base::Result<bool> Follow(const base::Path& dir, const SimFile& file, const Json& begun,
                          const Interrupt& interrupt) {
  bool refused = false;
  std::int64_t seen = Number(begun, "since");
  for (std::int64_t to_come = Number(begun, "to_come"); to_come > 0;) {
    if (interrupt.CameBefore(Clock::now() + kFollow)) {
      return base::Error{.code = base::Code::kCancelled, .message = "interrupted"};
    }
    const auto events = Ask(file, "GET", "events?since=" + std::to_string(seen));
    if (!events.ok() && IsHeld(dir)) continue;  // a line of the script has unplugged it
    if (!events.ok()) return events.error();
    for (const Json& event : Member(*events, "events")) {
      seen = Number(event, "number");
      refused = Tell(event) || refused;
    }
    to_come = Number(*events, "to_come");
  }
  return refused;
}

}  // namespace

int RunOrders(const base::Path& dir, const std::vector<Order>& orders) {
  const auto file = FindRunning(dir);
  if (!file.ok()) return ExitWith(file.error());
  for (const Order& order : orders) {
    const auto done = Ask(*file, "POST", order.verb, order.body);
    if (!done.ok()) return ExitWith(done.error());
    TellHosts(order, *done);
  }
  return 0;
}

int RunStorm(const base::Path& dir, const StormOptions& options) {
  auto storm = Storm::Of(options.seed, options.only);
  if (!storm.ok()) return ExitWith(storm.error());
  auto time = base::ParseDuration(options.time.empty() ? "36500d" : options.time);
  if (!time.ok()) return ExitWith(std::move(time).error().With("--for"));
  if (options.rate <= 0) return ExitWith(base::InvalidArgument("--rate is a number above 0"));
  const auto file = FindRunning(dir);
  if (!file.ok()) return ExitWith(file.error());

  const Interrupt interrupt;
  std::cout << fmt::format("# storm of seed {}, {} faults a minute\n", options.seed, options.rate)
            << std::flush;
  const auto begin = Clock::now();
  Tally tally;
  for (const std::string& kind : storm->kinds()) tally[kind] = 0;
  Duration at = storm->Pause(options.rate);
  for (; at < *time && !interrupt.CameBefore(begin + at); at += storm->Pause(options.rate)) {
    NextFault(*file, *storm, at, tally);
  }
  if (at >= *time) interrupt.CameBefore(begin + *time);
  const auto calm = MakeCalm(*file, interrupt);
  if (!calm.ok()) return ExitWith(calm.error());
  const auto took = std::chrono::duration_cast<Duration>(Clock::now() - begin);
  int count = 0;
  for (const auto& [kind, times] : tally) count += times;
  std::cout << fmt::format("# {} in {}; all is calm again\n# {}\n", base::Plural(count, "fault"),
                           base::FormatDuration(took), ToText(tally));
  return 0;
}

int RunScript(const base::Path& dir, const std::string& path, bool detach) {
  const auto text = base::ReadFile(path);
  if (!text.ok()) return ExitWith(text.error());
  const auto body = ParseScript(path, *text);
  if (!body.ok()) return ExitWith(body.error());
  const auto file = FindRunning(dir);
  if (!file.ok()) return ExitWith(file.error());
  const Interrupt interrupt;
  const auto begun = Ask(*file, "POST", "script", *body);
  if (!begun.ok()) return ExitWith(begun.error());
  if (detach) return 0;
  const auto refused = Follow(dir, *file, *begun, interrupt);
  if (refused.ok()) return *refused ? 1 : 0;
  if (refused.error().code != base::Code::kCancelled) return ExitWith(refused.error());
  const auto calm = MakeCalm(*file, interrupt);
  return calm.ok() ? kInterrupted : ExitWith(calm.error());
}

}  // namespace jobman::sim
