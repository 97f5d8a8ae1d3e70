#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "jobman/core/job.hpp"
#include "jobman/core/task.hpp"
#include "jobman/core/times.hpp"

namespace jobman::core {

// --- What was observed since the last decision. ---

// Each names its slice, or its attempt and stage, so that late news of an earlier one is ignored.

/// A successful look for a slice that the job holds or has abandoned (Job::abandoned). What is
/// missing here was missing from a complete listing.
struct SliceSeen {
  std::string slice = {};
  /// When the look began; it may be evaluated much later. If it began before the request was sent,
  /// answered or abandoned, only what it shows counts, not what is missing.
  TimePoint began = {};
  /// Each name was looked up (get), not listed.
  bool by_name = false;
  std::vector<NodeSeen> nodes = {};  ///< those that are ours, in the order of NodeIds
  std::optional<QueuedSeen> queued = {};
  /// Everything found under our names belongs to somebody else (by its labels).
  bool foreign = false;
  /// Our names that somebody else has taken.
  std::vector<std::string> taken = {};
};
/// The look failed. Says nothing about the slice; `why` reports it.
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
  std::vector<std::string> nodes = {};  ///< which failed, as far as the API says
};
/// The API's answer to a delete. `gone`: nothing of that name exists.
struct DeleteAnswered {
  std::string slice = {};
  TimePoint began = {};  ///< when the call was made
  bool gone = false;
  std::optional<base::Error> error = {};
};
/// News of one host in the current stage.
struct HostReport {
  int attempt = 0;
  StageId stage = CommandStage{};
  HostRun run = {};
};
/// Every host that still runs the stage was just reached, and none has written anything since
/// `since`.
struct Silence {
  int attempt = 0;
  TimePoint since = {};
  StageId stage = CommandStage{};  ///< the command or a task
};
/// A line of the stage's output matched watchdog.bad_output[rule].
struct BadOutput {
  int attempt = 0;
  int host = 0;
  int rule = 0;
  std::string line = {};           ///< fit to be shown
  StageId stage = CommandStage{};  ///< the command or a task
};
/// A line of a task's output says how its run ends, RuleForLine(), or at which commit its
/// repository is, CommitInLine(). Posted before the report of the host that its run has ended.
struct TaskOutput {
  int attempt = 0;
  StageId stage = TaskStage{};
  std::optional<int> rule = {};
  std::string commit = {};
};
/// A task that the worker may take, as it is recorded, and all it depends on is done
/// (TaskBoard::Next). A worker that is not idle passes it over.
struct TaskOffered {
  Task task = {};
};
/// A host's key that the cloud does not vouch for was pinned when it was first seen. For the
/// journal alone.
struct KeyPinned {
  int attempt = 0;
  int host = 0;
  std::string key = {};  ///< type and fingerprint
  std::string why = {};  ///< why nobody vouches for it: "the node reported none"
};
/// Nothing new but the time.
struct Tick {};
using Observation =
    std::variant<Tick, SliceSeen, LookFailed, CreateAnswered, OperationFailed, DeleteAnswered,
                 HostReport, Silence, BadOutput, KeyPinned, TaskOutput, TaskOffered>;

// --- What to do. Only the executor acts. Each effect is safe to repeat. ---

/// Create the slice. Idempotent by name. The request has our labels and the startup script; the
/// executor adds the public SSH key.
struct CreateSlice {
  SliceRequest request = {};
  friend bool operator==(const CreateSlice&, const CreateSlice&) = default;
};
/// Delete the slice, queued resource and nodes.
struct DeleteSlice {
  SliceRef slice = {};
  friend bool operator==(const DeleteSlice&, const DeleteSlice&) = default;
};
/// Look the slice up by its names and post the result (SliceSeen::by_name).
struct LookUpSlice {
  SliceRef slice = {};
  friend bool operator==(const LookUpSlice&, const LookUpSlice&) = default;
};
/// Put our public SSH key into the metadata of a node that we did not create. Idempotent.
struct AddLogin {
  SliceRef slice = {};
  friend bool operator==(const AddLogin&, const AddLogin&) = default;
};
/// Make sure that the stage runs on its hosts and its output is fetched. Idempotent by run id.
struct RunStage {
  int attempt = 0;
  StageId stage = CommandStage{};
  /// An earlier controller may have begun it: its hosts may run more than the record says.
  bool again = false;
  friend bool operator==(const RunStage&, const RunStage&) = default;
};
/// Stop the stage's processes on all hosts (TERM, grace, KILL) and report each host's end.
struct StopStage {
  int attempt = 0;
  StageId stage = CommandStage{};
  friend bool operator==(const StopStage&, const StopStage&) = default;
};
/// Tell the command or the task on every host about a notice and send it the signal ("none": no
/// signal). A host tells each run only once.
struct PassNotice {
  int attempt = 0;
  Notice notice = {};
  std::string signal = {};
  StageId stage = CommandStage{};
  friend bool operator==(const PassNotice&, const PassNotice&) = default;
};
/// Drop the stage: its hosts are gone.
struct AbandonStage {
  int attempt = 0;
  StageId stage = CommandStage{};
  friend bool operator==(const AbandonStage&, const AbandonStage&) = default;
};
/// Tell the hooks that asked for the event (JobSpec::hooks). Recorded with the decision, so it is
/// delivered at least once.
struct TellHooks {
  HookEvent event = HookEvent::kStarted;
  int attempt = 0;
  std::string slice = {};
  std::string why = {};
  std::string task = {};  ///< its id, of an event of a task
  int task_run = 0;       ///< the number of its run
  friend bool operator==(const TellHooks&, const TellHooks&) = default;
};
using Effect = std::variant<CreateSlice, DeleteSlice, LookUpSlice, AddLogin, RunStage, StopStage,
                            PassNotice, AbandonStage, TellHooks>;

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
  std::vector<TaskWrite> tasks = {};  ///< recorded with the job, in this order
  std::string why = {};
  /// Whether something is to be recorded: `job` differs from what went in, wake_at and version
  /// aside, or there are tasks.
  bool changed = false;
  bool settled = true;  ///< false is a bug: the states did not settle
};

/// Another job that competes for the same capacity was refused: do not request a slice before then.
struct RequestHold {
  TimePoint not_before = {};
  base::Error error = {};  ///< the last refusal
  friend bool operator==(const RequestHold&, const RequestHold&) = default;
};

/// The other jobs at work of the job's group, when they are as many as job.max_running lets.
struct GroupFull {
  std::vector<JobId> at_work = {};
  friend bool operator==(const GroupFull&, const GroupFull&) = default;
};

/// Settings of the reconciler that belong to the controller, not to the job.
struct Policy {
  std::string store_id = {};
  // See times.hpp.
  Duration poll = kPoll;
  Duration provisioning_limit = kProvisioningLimit;
  Duration vanish_grace = kVanishGrace;
  Duration late_watch = kLateWatch;
  Duration maintenance_wait = kMaintenanceWait;
  Duration delete_again = kDeleteAgain;
  Duration delete_again_cap = kDeleteAgainCap;
  Duration repair_limit = kRepairLimit;
  Duration doubt_limit = kDoubtLimit;
  // For the job being decided:
  std::optional<RequestHold> hold = {};  ///< see RequestHolds
  std::optional<GroupFull> full = {};
};

/// Decides what a job does next. Pure: no I/O, no clock, no randomness but the arguments.
/// Level-triggered: called again with the same observation it decides nothing new. One exception:
/// each listing that does not show the slice counts, and after two it is asked for by name.
/// `unit_random` in [0, 1) is the backoff's jitter. The job must have no flaw (FlawOf).
Step Reconcile(const Job& job, const Observation& seen, TimePoint now, const Policy& policy,
               double unit_random);

/// Whether a controller has anything to do or to watch for this job.
bool NeedsCare(const Job& job);
/// Whether job.max_running counts it: from its request for a slice, in pauses too, until it is over
/// or, if it is ended, stopped. One that is over may still hold its slice (job.when_done).
bool IsAtWork(const Job& job);
/// Until a delete is repeated; longer with each refusal.
Duration PauseOfDeletes(const std::optional<DeleteRefused>& refused, const Policy& policy);

/// How a worker that is not over appears to its queue; nothing for other jobs.
std::optional<TaskWorker> WorkerOf(const Job& job);

/// The effects that a controller must start for a job that an earlier one decided: what its state
/// implies, all idempotent. CreateSlice is not among them: the earlier request may have arrived, so
/// the cloud is looked at first, and Reconcile repeats the request if needed.
std::vector<Effect> ImpliedEffects(const Job& job);

}  // namespace jobman::core
