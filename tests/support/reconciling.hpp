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

/// Addresses of `count` hosts; another `subnet` gives other addresses.
std::vector<core::HostAddress> Addresses(int count, int subnet = 0);

/// One job and its reconciler: every call is one observation, decided at the present time of
/// `clock`, and the decision becomes the job. The words are those of a slice of the job's own mode.
class Reconciling {
 public:
  explicit Reconciling(core::Job job);

  const core::Job& job() const { return job_; }
  std::string_view state() const { return core::StateName(job_.state); }
  template <class State>
  const State& As() const {
    return std::get<State>(job_.state);
  }
  /// What the last decision wants done, as core::Describe tells it: "DeleteSlice train-000042-a1".
  const std::vector<std::string>& effects() const { return effects_; }
  /// The effect of that kind in the last decision, whole.
  template <class Kind>
  const Kind& The() const {
    for (const core::Effect& effect : step_.effects) {
      if (const auto* const found = std::get_if<Kind>(&effect)) return *found;
    }
    throw std::logic_error("the last decision has no such effect");
  }
  /// How the attempts that the last decision ended came to their end: "1 preempted".
  const std::vector<std::string>& ended() const { return ended_; }
  /// Why there is the present attempt, or will be the next: JOBMAN_RESTART_REASON.
  std::string restart() const { return core::RestartText(job_.restart); }
  /// What is used of the budgets; without the time of the last wait.
  core::Spent spent() const {
    core::Spent spent = job_.spent;
    spent.waited_until = {};
    return spent;
  }
  bool changed() const { return step_.changed; }

  Reconciling& See(core::Observation seen);  ///< without a time, a call begins now
  Reconciling& Tick();
  Reconciling& After(Duration wait);  ///< moves the clock, then ticks
  Reconciling& WishFor(core::Wish wish);
  /// The same, decided upon together with what is seen next.
  Reconciling& WishUnseen(core::Wish wish);

  // What the cloud shows of the job's slice.
  Reconciling& Answered();  ///< the create was accepted
  Reconciling& Refused(base::Error error);
  Reconciling& Queued(core::QueuedState state, std::optional<base::Error> failure = {});
  Reconciling& Node(core::NodeState state);
  Reconciling& Ready(int hosts = 4, int subnet = 0);
  Reconciling& Maintained(int hosts = 4);  ///< READY, but UNHEALTHY_MAINTENANCE
  /// READY, with an upcomingMaintenance.
  Reconciling& Announced(std::optional<core::Notice> notice, int hosts = 4);
  Reconciling& Absent();                     ///< a complete listing without it
  Reconciling& NoAnswer(base::Error error);  ///< the place could not be looked at
  Reconciling& Foreign();
  Reconciling& NotFound();  ///< nothing of its names, says the API when asked for them
  Reconciling& Failed(base::Error error);  ///< the create operation
  Reconciling& Gone();                     ///< a delete found nothing

  // What the hosts of the present stage report.
  Reconciling& HostRuns(int host);
  Reconciling& HostEnds(int host, int exit_code = 0);  ///< being stopped: and settles
  Reconciling& HostSettles(int host);
  Reconciling& HostLost(int host, std::optional<base::Error> error = {});
  Reconciling& HostNotices(int host, core::Notice notice);  ///< its metadata server said so
  Reconciling& AllEnd(int exit_code = 0);

  // Short cuts.
  Reconciling& ToRunning(int hosts = 4);  ///< from QUEUED until the command is started everywhere
  Reconciling& ToDone();                  ///< ... and ended well

  FakeClock clock = {};
  core::Policy policy = {.store_id = "store1"};
  double unit_random = 0.5;
  /// Called with each decision, and the job as it was before.
  std::function<void(const core::Job& before, const core::Step& step)> on_step = {};

 private:
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
