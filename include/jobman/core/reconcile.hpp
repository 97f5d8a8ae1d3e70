#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "jobman/core/job.hpp"

namespace jobman::core {

// --- What was observed since the last decision. ---

/// A successful look at the slice's place. Absent members were not in a complete listing.
struct SliceSeen {
  std::optional<NodeSeen> node = {};
  std::optional<QueuedSeen> queued = {};
  /// The resource of our name is not ours (labels): the name is taken by somebody else.
  bool foreign = false;
};
/// The API's answer to a create: its operation, or the error.
struct CreateAnswered {
  std::string operation = {};
  std::optional<base::Error> error = {};
};
/// The create operation ended with an error.
struct OperationFailed {
  base::Error error = {};
};
/// The API's answer to a delete; not found counts as no error.
struct DeleteAnswered {
  std::optional<base::Error> error = {};
};
/// News of one host in the present stage.
struct HostReport {
  int stage = -1;
  HostRun run = {};
};
/// Nothing new but the time.
struct Tick {};
using Observation =
    std::variant<Tick, SliceSeen, CreateAnswered, OperationFailed, DeleteAnswered, HostReport>;

// --- What is to be done. The executor does it; nobody else acts. ---

/// Create the job's slice (Job::slice, phase kIntended). Idempotent by name.
struct CreateSlice {
  friend bool operator==(const CreateSlice&, const CreateSlice&) = default;
};
/// Delete the job's slice, queued resource and nodes.
struct DeleteSlice {
  friend bool operator==(const DeleteSlice&, const DeleteSlice&) = default;
};
/// See to it that Job::stage runs on its hosts and its output comes in. Idempotent by run id.
struct RunStage {
  friend bool operator==(const RunStage&, const RunStage&) = default;
};
/// TERM, grace, KILL to the stage's processes on all hosts, and report each host's end.
struct StopStage {
  friend bool operator==(const StopStage&, const StopStage&) = default;
};
/// Stop caring for the stage's hosts: they are gone.
struct AbandonStage {
  friend bool operator==(const AbandonStage&, const AbandonStage&) = default;
};
using Effect = std::variant<CreateSlice, DeleteSlice, RunStage, StopStage, AbandonStage>;
std::string_view EffectName(const Effect& effect);

/// A decision. `job` is the job after it; `why` explains it, also when nothing changes.
struct Step {
  Job job = {};
  std::vector<Effect> effects = {};
  std::string why = {};
  bool changed = false;  ///< whether `job` differs from what went in, wake_at and version aside
};

/// Settings of the reconciler that are the controller's, not the job's.
struct Policy {
  std::string store_id = {};
  Duration poll = std::chrono::seconds{15};  ///< longest time between looks at the cloud
  Duration provisioning_limit = std::chrono::minutes{60};
  Duration vanish_grace = std::chrono::seconds{60};  ///< a fresh create may be invisible that long
};

/// Decides what a job does next. Pure: no I/O, no clock, no randomness but the arguments.
/// Level-triggered: called again with the same observation it decides nothing new.
/// `unit_random` in [0, 1) is the backoff's jitter.
Step Reconcile(Job job, const Observation& seen, TimePoint now, const Policy& policy,
               double unit_random);

/// The effects a controller that has just started must see to for a job it did not decide itself:
/// what its present state implies, all idempotent.
std::vector<Effect> ImpliedEffects(const Job& job);

}  // namespace jobman::core
