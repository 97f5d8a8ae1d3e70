#include "cli/background.hpp"

#include <unistd.h>

#include "jobman/base/log.hpp"
#include "jobman/base/process.hpp"
#include "jobman/controller/controller.hpp"

namespace jobman::cli {
namespace {

constexpr base::Duration kStartLimit = std::chrono::seconds{30};
constexpr base::Duration kNudgeLimit = std::chrono::milliseconds{200};
constexpr base::Duration kLook = std::chrono::milliseconds{5};

void SleepShortly() {
  usleep(static_cast<useconds_t>(kLook.count()) * 1000);
}

}  // namespace

base::Result<std::optional<ports::Lease>> LiveController(App& app, ports::LeaseStore& leases) {
  JM_ASSIGN_OR_RETURN(auto lease, app.Await(leases.CurrentLease()));
  if (!lease || lease->expires < app.Now()) return std::optional<ports::Lease>{};
  if (controller::HolderIsDead(lease->holder)) return std::optional<ports::Lease>{};
  return lease;
}

namespace {

/// A `tick` holds the lease for a moment: it is asked to make room, and waited for.
base::Result<bool> ControllerStays(App& app, ports::LeaseStore& leases,
                                   const base::StatePaths& paths) {
  for (base::Duration waited{0}; waited < kStartLimit; waited += kLook) {
    JM_ASSIGN_OR_RETURN(const auto live, LiveController(app, leases));
    if (!live) return false;
    if (!controller::IsPassing(live->holder)) return true;
    (void)controller::SendNudge(paths.ControllerSocket(), {}).ok();
    SleepShortly();
  }
  return true;  // a long tick, perhaps on another machine; it looks at the store every second
}

}  // namespace

base::Status EnsureController(App& app, ports::LeaseStore& leases) {
  JM_ASSIGN_OR_RETURN(const base::StatePaths paths, app.Paths());
  JM_ASSIGN_OR_RETURN(const bool stays, ControllerStays(app, leases, paths));
  if (stays) return base::Ok();
  std::vector<std::string> argv = {
      base::SelfExe().string(), "--home", paths.home.string(), "controller", "run", "--background"};
  if (app.options().verbose) argv.emplace_back("--verbose");
  base::Log(base::LogLevel::kDebug, "cli", "no controller runs: starting one, which logs to {}",
            paths.ControllerLog().string());
  JM_ASSIGN_OR_RETURN(const pid_t pid, base::StartDaemon(argv, paths.ControllerLog()));
  // The lease of any controller will do: another one may have been quicker.
  const auto holds_lease = [&]() -> base::Result<bool> {
    JM_ASSIGN_OR_RETURN(const auto lease, LiveController(app, leases));
    return lease.has_value();
  };
  asio::io_context loop;
  JM_ASSIGN_OR_RETURN(const bool ready,
                      base::RunTask(loop, base::AwaitReady(pid, holds_lease, kStartLimit)));
  if (ready) return base::Ok();
  return base::Error{
      .code = base::Code::kUnavailable,
      .message = "the controller did not start; its log is " + paths.ControllerLog().string(),
      .hint = "see it fail in the foreground: jobman controller run"};
}

base::Status WakeController(App& app, ports::LeaseStore& leases, const controller::Nudge& nudge) {
  JM_ASSIGN_OR_RETURN(const base::StatePaths paths, app.Paths());
  // One that has just started may bind its socket a moment after it took the lease; one that is
  // about to end has closed it. A lost nudge costs a second, secrets must arrive.
  const base::Duration limit = nudge.secrets.empty() ? kNudgeLimit : kStartLimit;
  base::Status sent = base::Ok();
  for (base::Duration waited{0}; waited < limit; waited += kLook) {
    JM_TRY(EnsureController(app, leases));
    sent = controller::SendNudge(paths.ControllerSocket(), nudge);
    base::Log(base::LogLevel::kDebug, "cli", "waking the controller: {}",
              sent.ok() ? "done" : sent.error().ToString());
    if (sent.ok()) return base::Ok();
    SleepShortly();
  }
  if (nudge.secrets.empty()) return base::Ok();
  return base::Error{.code = base::Code::kUnavailable,
                     .message = "the controller takes no secrets: " + sent.error().ToString() +
                                "; its log is " + paths.ControllerLog().string(),
                     .hint = "jobman controller stop, then jobman resume with the variables set"};
}

}  // namespace jobman::cli
