#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "jobman/core/reconcile.hpp"
#include "tests/property/odds.hpp"

namespace jobman::test {

using base::TimePoint;

/// A queued resource with its node, or a node alone, as it really is.
struct Resource {
  core::AllocationMode mode = core::AllocationMode::kTpuVm;
  bool ours = true;
  core::QueuedState queued = core::QueuedState::kCreating;  ///< with kQueuedResources
  std::optional<core::NodeState> node = {};
  bool maintenance = false;
  std::optional<core::Notice> notice = {};
  int hosts = 1;
  int subnet = 0;  ///< other after a maintenance: other machines
  TimePoint visible_at = {};
  std::optional<TimePoint> leaves_at = {};  ///< being deleted
};

/// What happened to a call.
struct CallFate {
  bool applied = false;
  std::optional<base::Error> error = {};  ///< what the caller is told, if it is told anything
};

/// A small random Cloud TPU: both allocation modes, slow visibility, lost replies, refusals,
/// preemption, maintenance, deletions by others. Kind: nothing goes wrong any more, and everything
/// gets on.
class CloudModel {
 public:
  CloudModel(Random& random, const Odds& odds, int hosts)
      : random_(random), odds_(odds), hosts_(hosts) {}

  void BeKind() { kind_ = true; }
  void AllowPermanentErrors() { permanent_errors_ = true; }
  /// Time passes: requests on the way arrive, deletions complete.
  void Settle(TimePoint now);
  /// One thing happens to `name`, if it exists.
  void Happen(const std::string& name, TimePoint now);
  /// Somebody else takes a name that is free.
  void TakeName(const std::string& name, core::AllocationMode mode, TimePoint now);

  CallFate Create(const std::string& name, core::AllocationMode mode, TimePoint now);
  /// The error is kNotFound when there is nothing (or nothing visible yet).
  CallFate Delete(const std::string& name, TimePoint now);
  core::SliceSeen Look(const std::string& name, TimePoint now) const;
  bool OperationFailed(const std::string& name) const { return failed_.contains(name); }

  /// "name/subnet" while its machines are up, else empty: processes live on machines.
  std::string MachineOf(const std::string& name) const;
  /// Whether a process on that machine may be running still.
  bool MayBeAlive(const std::string& machine) const;
  const std::map<std::string, Resource>& resources() const { return resources_; }
  bool reachable() const { return kind_ || reachable_; }

 private:
  void Arrive(const std::string& name, core::AllocationMode mode, TimePoint now);
  void GetOn(const std::string& name, Resource& resource);
  void GoWrong(const std::string& name, Resource& resource, TimePoint now);
  std::optional<base::Error> Refusal();

  struct OnTheWay {
    std::string name = {};
    core::AllocationMode mode = {};
    TimePoint at = {};
  };
  Random& random_;
  const Odds& odds_;
  int hosts_;
  bool kind_ = false;
  bool permanent_errors_ = false;
  bool reachable_ = true;
  std::map<std::string, Resource> resources_ = {};
  std::vector<OnTheWay> on_the_way_ = {};
  std::set<std::string> failed_ = {};
  std::set<std::string> deleted_ = {};
};

}  // namespace jobman::test
