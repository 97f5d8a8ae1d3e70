#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "jobman/base/id.hpp"
#include "jobman/core/attempt.hpp"
#include "jobman/core/held_slice.hpp"
#include "jobman/core/job_spec.hpp"
#include "jobman/core/stage.hpp"

namespace jobman::core {

struct JobTag;
using JobId = base::Id<JobTag>;

/// "000042": job numbers as people see them.
std::string FormatJobId(JobId id);

/// What the user wants of a job. Commands write it, the reconciler carries it out.
enum class Wish {
  kRun,      ///< create, resume
  kCancel,   ///< stop the processes, keep the slice; a worker finishes its task before
  kReboot,   ///< stop, then run again on the same slice
  kRequeue,  ///< stop, delete the slice, run on a new one; a worker: as kReboot
  kDelete,   ///< stop, delete every cloud resource, keep records and logs
};
/// What a wish to run again says about the setup steps.
enum class SetupWish {
  kAsNeeded,  ///< those that are not done on the hosts
  kRedo,      ///< `--force`: all of them
  kSkip,      ///< `run --cmd-only`: none, for one attempt
};

// --- States. Each carries the data of that state and no other. ---

/// Waits for its turn to ask for a slice (or to start on the one it holds).
struct Queued {
  friend bool operator==(const Queued&, const Queued&) = default;
};
/// The create is decided. Waits for its answer, or until the slice is seen.
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
/// The slice of a worker is set up, and nothing runs there: waits for a task.
struct Idle {
  friend bool operator==(const Idle&, const Idle&) = default;
};
/// The command runs, or a task.
struct Running {
  friend bool operator==(const Running&, const Running&) = default;
};
/// After a temporary failure: deletes what is left of the slice, waits, tries again.
struct BackingOff {
  TimePoint until = {};
  base::Error error = {};
  /// Waits for announced maintenance: until the slice comes back from it, or is gone.
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
  /// Of the command, from the first host that failed; 1 when a setup step failed or timed out.
  int exit_code = 0;
  std::optional<base::Error> error = {};  ///< why it failed, if no exit code says it
  friend bool operator==(const Done&, const Done&) = default;
};
using JobState = std::variant<Queued, Requesting, Waiting, Provisioning, Setup, Idle, Running,
                              BackingOff, Cancelling, Deleting, Done>;

/// QUEUED, REQUESTING, WAITING, PROVISIONING, SETUP, IDLE, RUNNING, BACKOFF, CANCELLING, DELETING,
/// SUCCEEDED, FAILED, CANCELLED, DELETED: as in `list`, the store and docs/states.md.
std::string_view StateName(const JobState& state);
bool IsFinal(const JobState& state);

/// How much of each budget in `retries` is used.
struct Spent {
  int preemption = 0;
  int failure = 0;
  int infra = 0;
  int streak = 0;               ///< faults in a row: drives the backoff (base::StreakAfter)
  TimePoint waited_until = {};  ///< when the backoff after the last fault ends
  friend bool operator==(const Spent&, const Spent&) = default;
};

/// The wait for a slice to work on, from the job's first request or from the loss of its slice;
/// over when a stage begins.
struct Search {
  TimePoint since = {};
  int tries = 0;  ///< requests of its own, each a new attempt
  friend bool operator==(const Search&, const Search&) = default;
};
/// "31 tries in 2h13m"; empty before the second try.
std::string TriesText(const std::optional<Search>& search, TimePoint now);

/// A job: everything the reconciler knows about it.
struct Job {
  JobId id = {};
  std::string name = {};
  std::string user = {};  ///< who created it, the local login name
  JobSpec spec = {};
  /// What becomes `spec` as soon as no stage runs and no other slice is held: from
  /// `resume -f` and `edit`.
  std::optional<JobSpec> revised = {};
  Wish wish = Wish::kRun;
  /// The wish was written since the last decision: a kRun then starts a finished job again.
  bool wish_new = true;
  JobState state = Queued{};
  TimePoint created_at = {};
  TimePoint since = {};  ///< when the state was entered
  int attempt = 0;       ///< 0 before the first
  /// Why this attempt was started, or the next will be; nothing for the first.
  std::optional<Restart> restart = {};
  std::optional<AttemptEnd> attempt_end = {};  ///< how the attempt ended; nothing while it goes on
  int setup_epoch = 0;                         ///< grows with SetupWish::kRedo: setup runs again
  int task_runs = 0;                           ///< how many runs of tasks it has begun, ever
  Spent spent = {};
  std::optional<Search> search = {};
  std::optional<Slice> slice = {};
  std::vector<AbandonedRequest> abandoned = {};
  std::optional<Stage> stage = {};
  std::string why = {};  ///< the last decision, in one sentence
  /// When to look again, at the latest. Every non-final state has one.
  std::optional<TimePoint> wake_at = {};
  std::int64_t version = 0;  ///< counts writes; a stale writer is refused
  friend bool operator==(const Job&, const Job&) = default;
};

/// Whether a slice of the one is as good for the other: their sections tpu and cloud are equal.
bool AskForTheSameSlice(const JobSpec& one, const JobSpec& other);

/// Changes the record as the wish asks. kSkip needs a slice that is held.
void ApplySetupWish(Job& job, SetupWish setup);

/// When the slice of a job that is over is given back: job.when_done. Nothing: when the user says
/// so.
std::optional<TimePoint> GivenBackAt(const Job& job);

/// Labels that mark a cloud resource as ours: jobman-job, jobman-owner, jobman-store.
std::map<std::string, std::string> OwnerLabels(const Job& job, const std::string& store_id);
/// Whether a resource carries the labels of `ours`, the OwnerLabels() of a job. A jobman-owner that
/// names another user wins over the other two; one that is missing says nothing.
bool IsOurs(const std::map<std::string, std::string>& labels,
            const std::map<std::string, std::string>& ours);

/// The request for a slice of the job: its spec, our labels, and the startup script in the nodes'
/// metadata (key `startup-script`).
SliceRequest RequestFor(const Job& job, SliceRef slice, const std::string& store_id);

}  // namespace jobman::core
