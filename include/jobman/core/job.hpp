#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "jobman/base/id.hpp"
#include "jobman/core/job_spec.hpp"
#include "jobman/core/slice.hpp"

namespace jobman::core {

struct JobTag;
using JobId = base::Id<JobTag>;

/// "000042": job numbers as people see them.
std::string FormatJobId(JobId id);

/// What the user wants of a job. Commands write it, the reconciler makes it true.
enum class Wish {
  kRun,      ///< create, resume
  kCancel,   ///< stop the processes, keep the slice
  kReboot,   ///< stop, then run again on the same slice
  kRequeue,  ///< stop, give the slice up, run on a new one
  kDelete,   ///< stop, delete every cloud resource, keep records and logs
};

// --- States. Each carries the data of that state and no other. ---

/// Waits for its turn to ask for a slice (or to start on the one it holds).
struct Queued {
  friend bool operator==(const Queued&, const Queued&) = default;
};
/// The create call is decided; its answer, or the slice's first sighting, is awaited.
struct Requesting {
  friend bool operator==(const Requesting&, const Requesting&) = default;
};
/// The queued resource is accepted and in the queue.
struct Waiting {
  friend bool operator==(const Waiting&, const Waiting&) = default;
};
/// Nodes are being created, or repaired.
struct Provisioning {
  friend bool operator==(const Provisioning&, const Provisioning&) = default;
};
/// Setup step `step` (index in the spec) runs on its hosts.
struct Setup {
  int step = 0;
  friend bool operator==(const Setup&, const Setup&) = default;
};
/// The command runs.
struct Running {
  friend bool operator==(const Running&, const Running&) = default;
};
/// Something failed that passes: deletes what is left of the slice, waits, tries again.
struct BackingOff {
  TimePoint until = {};
  base::Error error = {};
  /// Waits for a maintenance that was announced: until the slice comes back from it, or is gone.
  bool for_maintenance = false;
  friend bool operator==(const BackingOff&, const BackingOff&) = default;
};
/// Remote processes are being stopped; the slice stays.
struct Cancelling {
  friend bool operator==(const Cancelling&, const Cancelling&) = default;
};
/// Every cloud resource is being deleted.
struct Deleting {
  friend bool operator==(const Deleting&, const Deleting&) = default;
};
enum class Outcome { kSucceeded, kFailed, kCancelled, kDeleted };
/// Over, until somebody resumes it. The slice may still be held (`Job::slice`).
struct Done {
  Outcome outcome = Outcome::kSucceeded;
  /// Of the command: the first host's that is not 0. 1 when a setup step failed or was too slow.
  int exit_code = 0;
  std::optional<base::Error> error = {};  ///< why it failed, when no exit code says it
  friend bool operator==(const Done&, const Done&) = default;
};
using JobState = std::variant<Queued, Requesting, Waiting, Provisioning, Setup, Running, BackingOff,
                              Cancelling, Deleting, Done>;

/// QUEUED, REQUESTING, WAITING, PROVISIONING, SETUP, RUNNING, BACKOFF, CANCELLING, DELETING,
/// SUCCEEDED, FAILED, CANCELLED, DELETED: the words of `list`, of the store, of docs/states.md.
std::string_view StateName(const JobState& state);
bool IsFinal(const JobState& state);

/// How far our own slice has come, in our books. What the cloud shows is another matter (NodeSeen).
enum class SlicePhase {
  kIntended,  ///< the create is recorded and may or may not have been sent
  kCreated,   ///< the API confirmed it, or it was seen
  kDeleting,  ///< the delete is decided
  kGone,      ///< nothing of it is left
};

/// The cloud does not answer when it is asked about a slice.
struct NoAnswer {
  TimePoint since = {};
  base::Error error = {};
  friend bool operator==(const NoAnswer&, const NoAnswer&) = default;
};

/// A node of our slice, as last seen READY.
struct SliceNode {
  std::string uid = {};  ///< Node.id
  int hosts = 0;
  friend bool operator==(const SliceNode&, const SliceNode&) = default;
};

/// A slice we asked for. Never forgotten before the cloud confirms that it is gone; one that was
/// never seen is watched for even then (GivenUp).
struct Slice {
  SliceRef ref = {};
  SlicePhase phase = SlicePhase::kIntended;
  std::vector<std::string> operations = {};  ///< of its creation, while they are not done
  std::vector<SliceNode> nodes = {};         ///< as last seen READY, all at once
  std::vector<HostAddress> hosts = {};       ///< of all nodes, in the nodes' order
  int generation = 0;         ///< grows when the machines changed under us: new uid, new addresses
  int absences = 0;           ///< successful lists in a row without it
  int gaps = 0;               ///< ... that show it, but not all of its nodes
  TimePoint asked_at = {};    ///< when the last create or delete was decided
  TimePoint created_at = {};  ///< when it was confirmed, or more of it was; while kIntended, when
                              ///< it was first asked for
  /// Of what was asked for by a call each (PartsOf), the names that no listing has shown yet: when
  /// they are young they may be there all the same.
  std::vector<std::string> unshown = {};
  std::string cloud_state = {};  ///< the API's own word when it was last seen; empty: never seen
  /// It was usable when it was last seen: a host that does not answer is to blame itself.
  bool ready = false;
  std::optional<NoAnswer> no_answer = {};  ///< the last looks failed: nothing is known meanwhile
  std::optional<Notice> notice = {};       ///< what the API announces of it
  friend bool operator==(const Slice&, const Slice&) = default;
};

/// A request that was given up before any listing showed anything of it: what it asked for may come
/// late, is looked for until then, and deleted.
struct GivenUp {
  SliceRef ref = {};
  TimePoint until = {};
  friend bool operator==(const GivenUp&, const GivenUp&) = default;
};

/// Where a host of the slice stands.
struct HostPosition {
  int node = 0;  ///< which of the slice's nodes: JOBMAN_SLICE_INDEX
  int host = 0;  ///< its number within that node, as the API counts
  std::string node_id = {};
  std::string node_uid = {};
};
HostPosition PositionOf(const Slice& slice, int host);

/// One host's part in a stage.
enum class HostPhase {
  kPending,  ///< not started yet, or being connected to
  kRunning,
  kExited,  ///< exit_code holds
  kLost,    ///< the run vanished (reboot, killed) or the host cannot be reached for good
};
struct HostRun {
  int host = 0;
  HostPhase phase = HostPhase::kPending;
  int exit_code = 0;
  std::optional<base::Error> error = {};  ///< kLost: why; before that: what keeps us from it
  /// In a stage that is being stopped: the host was asked to end what is left of the run, also what
  /// the command left behind, and answered; or was given up.
  bool settled = false;
  std::optional<TimePoint> silent_since = {};  ///< no contact since then, though it was tried
  std::int64_t scanned = 0;           ///< bytes of its log, whole lines, that the watchdog has read
  std::optional<Notice> notice = {};  ///< what the host's metadata server announced
  friend bool operator==(const HostRun&, const HostRun&) = default;
};

/// The host could not be reached: refused, timed out, no answer at all.
bool IsUnreachable(const base::Error& error);

/// A rule of the watchdog that the command broke.
struct Alarm {
  std::string rule = {};  ///< "no_output", "bad_output", "max_duration"
  WatchdogAction action = WatchdogAction::kFail;
  std::string text = {};         ///< what was seen, a sentence that names rule and line
  std::optional<int> host = {};  ///< whose line it was
  friend bool operator==(const Alarm&, const Alarm&) = default;
};

/// A stage of the current attempt: a setup step, or the command. There is one at a time.
struct Stage {
  int number = -1;        ///< index of the setup step; -1 is the command
  std::string name = {};  ///< "setup-0-install", "run": names the log folder
  /// Slice::generation when it began; nothing in records of before that was kept.
  std::optional<int> generation = {};
  std::vector<HostRun> hosts = {};
  TimePoint started_at = {};
  bool stopping = false;                 ///< StopStage was decided
  bool timed_out = false;                ///< ... because the step's time limit passed
  bool moved = false;                    ///< ... because some of its machines were replaced
  std::optional<base::Error> lost = {};  ///< ... because the slice lost a node
  std::optional<int> culprit = {};       ///< the host that failed first, which stops the others
  std::optional<Alarm> alarm = {};       ///< the watchdog's: decides what follows the stage
  std::optional<Notice> notice = {};  ///< of the command: it was signalled for this, at noticed_at
  TimePoint noticed_at = {};
  friend bool operator==(const Stage&, const Stage&) = default;

  /// Every host has ended; when the stage is being stopped, nothing of it is left there either.
  bool Over() const;
  bool AllSucceeded() const;
};

/// What was spent of each budget of `retries`.
struct Spent {
  int preemption = 0;
  int failure = 0;
  int infra = 0;
  int streak = 0;  ///< failures in a row since the command last ran: drives the backoff
  friend bool operator==(const Spent&, const Spent&) = default;
};

/// A job: everything the reconciler knows of it.
struct Job {
  JobId id = {};
  std::string name = {};
  std::string user = {};  ///< who created it, the local login name
  JobSpec spec = {};
  Wish wish = Wish::kRun;
  bool wish_new =
      true;  ///< written since the last decision: a kRun then starts a finished job again
  JobState state = Queued{};
  TimePoint created_at = {};
  TimePoint since = {};             ///< when the state was entered
  int attempt = 0;                  ///< 0 before the first
  std::string restart_reason = {};  ///< why the present attempt exists; empty for the first
  int setup_epoch = 0;              ///< grows with `reboot --force`: setup runs again
  Spent spent = {};
  std::optional<Slice> slice = {};
  std::vector<GivenUp> given_up = {};
  std::optional<Stage> stage = {};
  std::string why = {};  ///< the last decision, in one sentence
  std::optional<TimePoint> wake_at =
      {};                    ///< when to look again, at the latest; every non-final state has one
  std::int64_t version = 0;  ///< counts writes; a stale writer is refused
  friend bool operator==(const Job&, const Job&) = default;
};

/// The slice's name for the job's attempt: `<prefix>-<id>-a<attempt>`, lower-case RFC 1035,
/// at most 61 characters. Deterministic: an answer of "already exists" with our labels is ours.
std::string SliceName(const Job& job, int attempt);
/// Labels that mark a cloud resource as ours: jobman-job, jobman-owner, jobman-store.
std::map<std::string, std::string> OwnerLabels(const Job& job, const std::string& store_id);
bool IsOurs(const std::map<std::string, std::string>& labels, const Job& job,
            const std::string& store_id);

}  // namespace jobman::core
