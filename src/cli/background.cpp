#include "cli/background.hpp"

#include <unistd.h>

#include "cli/spawn.hpp"
#include "jobman/base/task.hpp"
#include "jobman/controller/controller.hpp"

namespace jobman::cli {
namespace {

constexpr base::Duration kStartLimit = std::chrono::seconds{10};
constexpr base::Duration kLook = std::chrono::milliseconds{5};

void SleepShortly() {
  usleep(static_cast<useconds_t>(kLook.count()) * 1000);
}

}  // namespace

base::Result<std::optional<ports::Lease>> LiveController(App& app, ports::Store& store) {
  JM_ASSIGN_OR_RETURN(auto lease, store.CurrentLease());
  if (!lease || lease->expires < app.Now()) return std::optional<ports::Lease>{};
  if (controller::HolderIsDead(lease->holder)) return std::optional<ports::Lease>{};
  return lease;
}

base::Status EnsureController(App& app, ports::Store& store) {
  JM_ASSIGN_OR_RETURN(const auto live, LiveController(app, store));
  if (live) return base::Ok();
  JM_ASSIGN_OR_RETURN(const base::StatePaths paths, app.Paths());
  const std::vector<std::string> argv = {
      base::SelfExe().string(), "--home", paths.home.string(), "controller", "run", "--background"};
  JM_ASSIGN_OR_RETURN(const int pid, SpawnDetached(argv, paths.ControllerLog()));
  for (base::Duration waited{0}; waited < kStartLimit; waited += kLook) {
    JM_ASSIGN_OR_RETURN(const auto lease, LiveController(app, store));
    if (lease) return base::Ok();
    if (HasEnded(pid)) break;
    SleepShortly();
  }
  JM_ASSIGN_OR_RETURN(const auto lease, LiveController(app, store));
  if (lease) return base::Ok();  // somebody else's was quicker
  return base::Error{
      .code = base::Code::kUnavailable,
      .message = "the controller did not start; its log is " + paths.ControllerLog().string(),
      .hint = "see it fail in the foreground: jobman controller run"};
}

base::Status WakeController(App& app, ports::Store& store, const controller::Nudge& nudge) {
  JM_TRY(EnsureController(app, store));
  JM_ASSIGN_OR_RETURN(const base::StatePaths paths, app.Paths());
  // One that has just started may bind its socket a moment after it took the lease. A lost nudge
  // costs a second; secrets that the nudge carries must arrive.
  for (int tries = 0; tries < 40; ++tries) {
    if (controller::SendNudge(paths.ControllerSocket(), nudge).ok()) break;
    SleepShortly();
  }
  return base::Ok();
}

}  // namespace jobman::cli
