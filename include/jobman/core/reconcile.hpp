#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "jobman/core/job.hpp"
#include "jobman/core/times.hpp"

namespace jobman::core {

// --- What was observed since the last decision. ---

// Each names the slice, or the attempt and stage, it is about: what arrives late, from an earlier
// one, is ignored.

/// A successful look at the place of a slice that the job holds, or of one it gave up
/// (Job::abandoned). What is not here was not in a complete listing.
struct SliceSeen {
  std::string slice = {};
  /// When the look began; it may be judged much later. Of one that began before the request was
  /// made, answered or given up, only what it shows counts.
  TimePoint began = {};
  /// The API was asked for each of its names (get), not for a listing.
  bool by_name = false;
  std::vector<NodeSeen> nodes = {};  ///< those of its names that are ours, in the order of NodeIds
  std::optional<QueuedSeen> queued = {};
  /// Nothing of our names is ours (labels): they are taken by somebody else.
  bool foreign = false;
  /// Which of our names are taken by somebody else.
  std::vector<std::string> taken = {};
};
/// The slice's place could not be looked at. Says nothing about the slice; `why` tells it.
struct LookFailed {
  std::string slice = {};
  base::Error error = {};
};
/// The API's answer to a create: its operations, or the error.
struct CreateAnswered {
  std::string slice = {};
  std::vector<std::string> operations = {};
  std::optional<base::Error> error = {};
  /// With an error: the nodes of the multislice that had been accepted before it.
  std::vector<std::string> accepted = {};
};
/// The create operation ended with an error.
struct OperationFailed {
  std::string slice = {};
  base::Error error = {};
  std::vector<std::string> nodes = {};  ///< which are not coming, as far as the API tells
};
/// The API's answer to a delete. `gone`: it answered that there is nothing of that name.
struct DeleteAnswered {
  std::string slice = {};
  TimePoint began = {};  ///< when the call was made
  bool gone = false;
  std::optional<base::Error> error = {};
};
/// News of one host in the present stage.
struct HostReport {
  int attempt = 0;
  StageId stage = CommandStage{};
  HostRun run = {};
};
/// Every host on which the command has not ended was reached just now, and none has written
/// anything since then.
struct Silence {
  int attempt = 0;
  TimePoint since = {};
};
/// A line of the command's output matched watchdog.bad_output[rule].
struct BadOutput {
  int attempt = 0;
  int host = 0;
  int rule = 0;
  std::string line = {};  ///< fit to be shown
};
/// Nothing new but the time.
struct Tick {};
using Observation = std::variant<Tick, SliceSeen, LookFailed, CreateAnswered, OperationFailed,
                                 DeleteAnswered, HostReport, Silence, BadOutput>;

// --- What is to be done. The executor does it; nobody else acts. Each is safe to repeat. ---

/// Create the slice. Idempotent by name. The labels that mark it as ours and the startup script are
/// in the request; what only the executor knows (the public SSH key) is not.
struct CreateSlice {
  SliceRequest request = {};
  friend bool operator==(const CreateSlice&, const CreateSlice&) = default;
};
/// Delete the slice, queued resource and nodes.
struct DeleteSlice {
  SliceRef slice = {};
  friend bool operator==(const DeleteSlice&, const DeleteSlice&) = default;
};
/// Ask for the slice by its names, and post what is found (SliceSeen::by_name).
struct LookUpSlice {
  SliceRef slice = {};
  friend bool operator==(const LookUpSlice&, const LookUpSlice&) = default;
};
/// See to it that the stage runs on its hosts and its output comes in. Idempotent by run id.
struct RunStage {
  int attempt = 0;
  StageId stage = CommandStage{};
  friend bool operator==(const RunStage&, const RunStage&) = default;
};
/// TERM, grace, KILL to the stage's processes on all hosts, and report each host's end.
struct StopStage {
  int attempt = 0;
  StageId stage = CommandStage{};
  friend bool operator==(const StopStage&, const StopStage&) = default;
};
/// Tell the command on every host of a notice, and send it the signal ("none": no signal). Each
/// host tells a run once.
struct PassNotice {
  int attempt = 0;
  Notice notice = {};
  std::string signal = {};
  friend bool operator==(const PassNotice&, const PassNotice&) = default;
};
/// Stop caring for the stage's hosts: they are gone.
struct AbandonStage {
  int attempt = 0;
  StageId stage = CommandStage{};
  friend bool operator==(const AbandonStage&, const AbandonStage&) = default;
};
/// Tell the hooks that asked for the event (JobSpec::hooks). Recorded with the decision itself, so
/// that it is told at least once whatever happens.
struct TellHooks {
  HookEvent event = HookEvent::kStarted;
  int attempt = 0;
  std::string slice = {};
  std::string why = {};
  friend bool operator==(const TellHooks&, const TellHooks&) = default;
};
using Effect = std::variant<CreateSlice, DeleteSlice, LookUpSlice, RunStage, StopStage, PassNotice,
                            AbandonStage, TellHooks>;

/// An attempt that a decision ended, and how.
struct EndedAttempt {
  int attempt = 0;
  AttemptEnd end = {};
  friend bool operator==(const EndedAttempt&, const EndedAttempt&) = default;
};

/// A decision. `job` is the job after it; `why` explains it, also when nothing changes.
struct Step {
  Job job = {};
  std::vector<Effect> effects = {};
  std::vector<EndedAttempt> ended = {};
  std::string why = {};
  bool changed = false;  ///< whether `job` differs from what went in, wake_at and version aside
  bool settled = true;   ///< false is a defect: the states went round and came to no rest
};

/// A job should not ask for a slice before then: another one that wants the same was refused.
struct RequestHold {
  TimePoint not_before = {};
  base::Error error = {};  ///< what the last one was told
  friend bool operator==(const RequestHold&, const RequestHold&) = default;
};

/// Settings of the reconciler that are the controller's, not the job's.
struct Policy {
  std::string store_id = {};
  // See times.hpp.
  Duration poll = kPoll;
  Duration provisioning_limit = kProvisioningLimit;
  Duration vanish_grace = kVanishGrace;
  Duration late_watch = kLateWatch;
  Duration maintenance_wait = kMaintenanceWait;
  Duration delete_again = kDeleteAgain;
  std::optional<RequestHold> hold = {};  ///< of the one job that is decided upon (RequestHolds)
};

/// Decides what a job does next. Pure: no I/O, no clock, no randomness but the arguments.
/// Level-triggered: called again with the same observation it decides nothing new. The one
/// exception is a listing that does not show the slice: each counts, and two make a fact.
/// `unit_random` in [0, 1) is the backoff's jitter. The job has no flaw (FlawOf).
Step Reconcile(Job job, const Observation& seen, TimePoint now, const Policy& policy,
               double unit_random);

/// Whether a controller has anything to do or to watch for this job.
bool NeedsCare(const Job& job);

/// The effects a controller that has just started must see to for a job it did not decide itself:
/// what its present state implies, all idempotent. CreateSlice is not among them: whether an
/// earlier controller's request arrived is looked at first, and Reconcile asks again when it did
/// not.
std::vector<Effect> ImpliedEffects(const Job& job);

}  // namespace jobman::core
