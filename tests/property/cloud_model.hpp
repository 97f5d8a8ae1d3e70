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

/// The true state of a queued resource with its node, or of a node alone.
struct Resource {
  core::AllocationMode mode = core::AllocationMode::kTpuVm;
  bool ours = true;
  core::QueuedState queued = core::QueuedState::kCreating;  ///< with kQueuedResources
  std::optional<core::NodeState> node = {};
  bool maintenance = false;
  bool broken = false;  ///< READY, with bad chips; repaired by its next step of progress
  std::optional<core::Notice> notice = {};
  int hosts = 1;
  int subnet = 0;  ///< changes when maintenance replaces the machines
  TimePoint visible_at = {};
  std::optional<TimePoint> leaves_at = {};  ///< it is being deleted
};

/// The outcome of a call.
struct CallFate {
  bool applied = false;
  std::optional<base::Error> error = {};  ///< what the caller gets
};

/// A small random Cloud TPU: both allocation modes, slow visibility, lost replies, refusals,
/// preemption, maintenance, deletions by others. After EndFaults() nothing fails any more.
class CloudModel {
 public:
  CloudModel(Random& random, const Odds& odds, int hosts)
      : random_(random), odds_(odds), hosts_(hosts) {}

  void EndFaults() { faultless_ = true; }
  void AllowPermanentErrors() { permanent_errors_ = true; }
  /// To be called after time has passed: delayed requests arrive, deletions complete.
  void Settle(TimePoint now);
  /// `name`, if it exists, makes one step of progress or suffers a fault.
  void Advance(const std::string& name, TimePoint now);
  /// Somebody else takes the name, if it is free.
  void TakeName(const std::string& name, core::AllocationMode mode, TimePoint now);

  CallFate Create(const std::string& name, core::AllocationMode mode, TimePoint now);
  /// The error is kNotFound when there is nothing (or nothing visible yet).
  CallFate Delete(const std::string& name, TimePoint now);
  core::SliceSeen Look(const std::string& name, TimePoint now) const;
  bool OperationFailed(const std::string& name) const { return failed_.contains(name); }

  /// "name/subnet" while its machines are up, else empty.
  std::string MachineOf(const std::string& name) const;
  /// Whether a process on that machine may still be running.
  bool MayBeAlive(const std::string& machine) const;
  const std::map<std::string, Resource>& resources() const { return resources_; }
  bool reachable() const { return faultless_ || reachable_; }

 private:
  void Arrive(const std::string& name, core::AllocationMode mode, TimePoint now);
  void Progress(const std::string& name, Resource& resource);
  void Harm(const std::string& name, Resource& resource, TimePoint now);
  std::optional<base::Error> Refusal();

  struct OnTheWay {
    std::string name = {};
    core::AllocationMode mode = {};
    TimePoint at = {};
  };
  Random& random_;
  const Odds& odds_;
  int hosts_;
  bool faultless_ = false;
  bool permanent_errors_ = false;
  bool reachable_ = true;
  std::map<std::string, Resource> resources_ = {};
  std::vector<OnTheWay> on_the_way_ = {};
  std::set<std::string> failed_ = {};
  std::set<std::string> deleted_ = {};
};

}  // namespace jobman::test
