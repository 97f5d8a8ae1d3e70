#include "jobman/client/background_controller.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <cerrno>

#include "jobman/base/files.hpp"
#include "jobman/base/log.hpp"
#include "jobman/base/process.hpp"
#include "jobman/client/times.hpp"
#include "jobman/controller/controller.hpp"

namespace jobman::client {
namespace {

using base::Result;
using base::Task;
using Live = std::optional<ports::Lease>;
using SteadyClock = std::chrono::steady_clock;

/// A record takes a few pages of SQLite's log, of 4 KiB each.
constexpr std::int64_t kLeastRoom = std::int64_t{64} << 10;

/// Whether a controller that keeps running holds the lease. A `tick` holds it only for a moment:
/// asks it to release the lease, and waits.
Task<Result<bool>> ControllerStays(Context context) {
  const auto deadline = SteadyClock::now() + kControllerStartLimit;
  while (SteadyClock::now() < deadline) {
    JM_CO_ASSIGN_OR_RETURN(const Live live,
                           co_await LiveController(context.stores.leases, context.Now()));
    if (!live) co_return false;
    const auto holder = controller::ParseHolder(live->holder);
    if (!holder || !holder->passing) co_return true;
    (void)controller::SendNudge(context.paths.ControllerSocket(), {}).ok();
    co_await base::Sleep(kLookForController);
  }
  co_return true;  // a long tick, perhaps on another machine; it reads the store every second
}

/// Whether a controller runs here that has not renewed its lease in time (kLateController).
Task<Result<bool>> ControllerIsLate(Context context) {
  JM_CO_ASSIGN_OR_RETURN(const Live lease, co_await context.stores.leases->CurrentLease());
  if (!lease || context.Now() >= lease->expires + kLateController) co_return false;
  const auto holder = controller::ParseHolder(lease->holder);
  co_return holder && !holder->passing && !ports::IsTooFarAhead(*lease, context.Now()) &&
      controller::HolderRuns(lease->holder);
}

/// Waits until any controller holds the lease: another one may have been faster than ours. False if
/// ours ended before that, or took too long.
Task<Result<bool>> AwaitLease(Context context, pid_t ours) {
  const auto deadline = SteadyClock::now() + kControllerStartLimit;
  for (;;) {
    const bool ended = base::HasEnded(ours);  // checked first: what it did before it ended counts
    JM_CO_ASSIGN_OR_RETURN(const Live live,
                           co_await LiveController(context.stores.leases, context.Now()));
    if (live) co_return true;
    if (ended || SteadyClock::now() >= deadline) co_return false;
    co_await base::Sleep(kLookForController);
  }
}

}  // namespace

Task<Result<Live>> LiveController(ports::LeaseStore* leases, base::TimePoint now) {
  JM_CO_ASSIGN_OR_RETURN(Live lease, co_await leases->CurrentLease());
  const bool lives = lease && lease->expires >= now && !ports::IsTooFarAhead(*lease, now) &&
                     !controller::HolderIsDead(lease->holder);
  co_return lives ? std::move(lease) : Live{};
}

base::Status ControllerCanWork(const base::StatePaths& paths) {
  const auto left = base::FreeSpace(paths.StoreDir());
  if (!left || *left >= kLeastRoom) return base::Ok();
  return base::Error{.code = base::Code::kResourceExhausted,
                     .message = "the disk of " + paths.StoreDir().string() + " is full",
                     .reason = base::Reason::kDiskFull,
                     .hint = "free some space there; what was stored before is intact"};
}

Task<base::Status> EnsureController(Context context) {
  JM_CO_ASSIGN_OR_RETURN(const bool stays, co_await ControllerStays(context));
  if (stays) co_return base::Ok();
  // One may run that can no longer renew its lease; a second one could not take it either.
  JM_CO_TRY(ControllerCanWork(context.paths));
  JM_CO_ASSIGN_OR_RETURN(const bool late, co_await ControllerIsLate(context));
  if (late) co_return base::Ok();
  base::Log(base::LogLevel::kDebug, "cli", "no controller runs: starting one, which logs to {}",
            context.paths.ControllerLog().string());
  JM_CO_ASSIGN_OR_RETURN(const pid_t pid, context.start_controller(context.paths, context.verbose));
  JM_CO_ASSIGN_OR_RETURN(const bool ready, co_await AwaitLease(context, pid));
  if (ready) co_return base::Ok();
  base::Error error{.code = base::Code::kUnavailable,
                    .message = "the controller did not start; its log is " +
                               context.paths.ControllerLog().string(),
                    .hint = "to see the error, run: jobman controller run"};
  co_return error;
}

Task<base::Status> WakeController(Context context, controller::Nudge nudge) {
  // A controller that has just started may bind its socket shortly after it took the lease; one
  // that is about to end has closed its socket. A lost nudge costs a second, but secrets must
  // arrive.
  const base::Duration limit = nudge.secrets.empty() ? kNudgeLimit : kControllerStartLimit;
  JM_CO_TRY(co_await EnsureController(context));
  base::Status sent = base::Ok();
  for (const auto deadline = SteadyClock::now() + limit; SteadyClock::now() < deadline;) {
    sent = controller::SendNudge(context.paths.ControllerSocket(), nudge);
    base::Log(base::LogLevel::kDebug, "cli", "waking the controller: {}",
              sent.ok() ? "done" : sent.error().ToString());
    if (sent.ok()) co_return base::Ok();
    co_await base::Sleep(kLookForController);
    JM_CO_TRY(co_await EnsureController(context));
  }
  if (nudge.secrets.empty()) co_return base::Ok();
  base::Error error{.code = base::Code::kUnavailable,
                    .message = "cannot send secrets to the controller: " + sent.error().ToString() +
                               "; its log is " + context.paths.ControllerLog().string(),
                    .hint = "jobman controller stop, then jobman resume with the variables set"};
  co_return error;
}

Result<bool> StopController(const Context& context) {
  const auto live = [&context] {
    return context.Await(LiveController(context.stores.leases, context.Now()));
  };
  JM_ASSIGN_OR_RETURN(const Live lease, live());
  if (!lease) return false;
  const auto holder = controller::ParseHolder(lease->holder);
  if (!holder || !controller::IsHere(*holder)) {
    return base::Error{
        .code = base::Code::kFailedPrecondition,
        .message = "the controller runs elsewhere: " + lease->holder,
        .hint = "run jobman controller stop there: on that machine, in that container"};
  }
  if (kill(static_cast<pid_t>(holder->pid), SIGTERM) != 0) {
    return base::FromErrno(errno, fmt::format("stopping the controller, process {}", holder->pid));
  }
  const base::TimePoint end = context.Now() + kControllerStopLimit;
  while (context.Now() < end && context.pause(kLookForController)) {
    JM_ASSIGN_OR_RETURN(const Live now, live());
    if (!now || now->holder != lease->holder) return true;
  }
  return base::Error{
      .code = base::Code::kDeadlineExceeded,
      .message = fmt::format("the controller, process {}, does not stop", holder->pid)};
}

}  // namespace jobman::client
