#pragma once

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "jobman/core/reconcile.hpp"
#include "tests/support/fake_clock.hpp"

namespace jobman::test {

using base::Duration;
using base::TimePoint;

/// Addresses of `count` hosts, different for each `subnet`.
std::vector<core::HostAddress> Addresses(int count, int subnet = 0);

/// A job and its reconciler: every call is one observation, decided at the current time of `clock`,
/// and the job becomes the result. Observations fit the job's allocation mode.
class Reconciling {
 public:
  explicit Reconciling(core::Job job);

  const core::Job& job() const { return job_; }
  std::string_view state() const { return core::StateName(job_.state); }
  template <class State>
  const State& As() const {
    return std::get<State>(job_.state);
  }
  /// The effects of the last decision, as core::Describe writes them: "DeleteSlice
  /// train-000042-a1".
  const std::vector<std::string>& effects() const { return effects_; }
  /// The effect of that type in the last decision.
  template <class Kind>
  const Kind& The() const {
    for (const core::Effect& effect : step_.effects) {
      if (const auto* const found = std::get_if<Kind>(&effect)) return *found;
    }
    throw std::logic_error("the last decision has no such effect");
  }
  /// The attempts that the last decision ended, and how: "1 preempted".
  const std::vector<std::string>& ended() const { return ended_; }
  /// The reason of the current or next attempt: JOBMAN_RESTART_REASON.
  std::string restart() const { return core::RestartText(job_.restart); }
  /// What is used of the retry budgets, without the time of the last wait.
  core::Spent spent() const {
    core::Spent spent = job_.spent;
    spent.waited_until = {};
    return spent;
  }
  bool changed() const { return step_.changed; }
  /// What the last decision writes of tasks.
  const std::vector<core::TaskWrite>& tasks() const { return step_.tasks; }

  Reconciling& See(core::Observation seen);  ///< a call without a time begins now
  Reconciling& Tick();
  Reconciling& After(Duration wait);  ///< moves the clock, then ticks
  Reconciling& WishFor(core::Wish wish);
  /// The same, decided together with the next observation.
  Reconciling& WishUnseen(core::Wish wish);

  // Observations of the cloud.
  Reconciling& Answered();  ///< the create was accepted
  Reconciling& Refused(base::Error error);
  Reconciling& Queued(core::QueuedState state, std::optional<base::Error> failure = {});
  Reconciling& Node(core::NodeState state);
  Reconciling& Ready(int hosts = 4, int subnet = 0);
  Reconciling& Maintained(int hosts = 4);                     ///< READY, but UNHEALTHY_MAINTENANCE
  Reconciling& Unhealthy(std::string health, int hosts = 4);  ///< READY, with this health
  /// READY, with an upcomingMaintenance.
  Reconciling& Announced(std::optional<core::Notice> notice, int hosts = 4);
  Reconciling& Absent();                     ///< a complete listing without it
  Reconciling& NoAnswer(base::Error error);  ///< the listing failed
  Reconciling& Foreign();
  Reconciling& NotFound();                 ///< get calls found none of its names
  Reconciling& Failed(base::Error error);  ///< the create operation
  Reconciling& Gone();                     ///< a delete found nothing
  Reconciling& DeleteAccepted();
  Reconciling& DeleteRefused(base::Error error);

  // Reports from hosts of the current stage.
  Reconciling& HostRuns(int host);
  Reconciling& HostEnds(int host, int exit_code = 0);  ///< and settles, if it is being stopped
  Reconciling& HostSettles(int host);
  Reconciling& HostLost(int host, std::optional<base::Error> error = {});
  Reconciling& HostNotices(int host, core::Notice notice);  ///< from its metadata server
  Reconciling& AllEnd(int exit_code = 0);

  /// The worker may take the task.
  Reconciling& Offered(core::Task task);

  // Shortcuts.
  /// From QUEUED until the command runs everywhere, or the worker is idle.
  Reconciling& ToRunning(int hosts = 4);
  Reconciling& ToDone();  ///< ... and succeeded

  FakeClock clock = {};
  core::Policy policy = {.store_id = "store1"};
  double unit_random = 0.5;
  /// Called with each decision and the job before it.
  std::function<void(const core::Job& before, const core::Step& step)> on_step = {};

  /// Asked by name about what a listing showed as lost, the cloud says the same.
  bool confirms = true;

 private:
  bool IsDoubted(const core::SliceSeen& look) const;
  core::SliceSeen Sight() const;
  core::NodeSeen NodeOf(core::NodeState state, int hosts, int subnet) const;
  Reconciling& Report(core::HostRun run);

  core::Job job_;
  core::Step step_ = {};
  std::vector<std::string> effects_ = {};
  std::vector<std::string> ended_ = {};
  std::string last_slice_ = {};
};

}  // namespace jobman::test
