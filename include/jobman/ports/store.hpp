#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "jobman/base/result.hpp"
#include "jobman/core/job.hpp"
#include "jobman/core/reconcile.hpp"

namespace jobman::ports {

using base::Result;
using base::Status;
using core::Job;
using core::JobId;
using core::TimePoint;

/// A line of the append-only journal.
struct Event {
  std::int64_t number = 0;
  TimePoint at = {};
  JobId job = {};
  int attempt = 0;
  std::string kind = {};     ///< "state", "effect", "host", "wish", "slice", "note", "hook"
  std::string subject = {};  ///< "RUNNING", "CreateSlice", "host 3", ...
  std::string text = {};     ///< one sentence
};

/// How a host's run in a stage ended; recorded once per (job, attempt, stage, host).
struct ExitRecord {
  JobId job = {};
  int attempt = 0;
  std::string stage = {};
  int host = 0;
  int exit_code = 0;
  std::string error = {};  ///< when the run was lost instead of ending
  TimePoint at = {};
  friend bool operator==(const ExitRecord&, const ExitRecord&) = default;
};

struct AttemptRecord {
  JobId job = {};
  int attempt = 0;
  std::string slice = {};
  std::string zone = {};
  std::string reason = {};  ///< why it was started
  TimePoint started_at = {};
  std::optional<TimePoint> ended_at = {};
  std::string outcome = {};  ///< "succeeded", "failed", "preempted", ...; empty while it goes on
};

/// A line of the outbox: something that happened, for one hook of the job.
struct Notice {
  std::int64_t number = 0;  ///< given by the store
  JobId job = {};
  int attempt = 0;
  std::string event_id = {};  ///< the same for all hooks that are told of the event
  std::string event = {};     ///< "failed"
  int hook = 0;               ///< index in JobSpec::hooks
  std::string target = {};    ///< HookTarget()
  std::string body = {};      ///< JSON
  TimePoint at = {};
  int tries = 0;
  std::optional<TimePoint> next_try = {};  ///< nothing: it was told, or given up
  std::string error = {};                  ///< of the last try
  friend bool operator==(const Notice&, const Notice&) = default;
};

/// What one turn of the loop writes for one job, in one transaction.
struct Turn {
  Job job = {};
  std::vector<Event> events = {};
  std::vector<ExitRecord> exits = {};
  /// Inserted; of one that is there already, only slice, ended_at and outcome change.
  std::vector<AttemptRecord> attempts = {};
  std::vector<Notice> notices = {};
};

/// Columns of `list` and filters on them; empty fields do not filter.
struct JobFilter {
  std::vector<std::string> states = {};  ///< StateName or familiar words are the caller's matter
  std::string name_glob = {};
  std::string zone = {};
  std::string user = {};
  std::map<std::string, std::string> labels = {};
  bool with_deleted = false;
};

/// A row of `list`: small on purpose, no spec is parsed.
struct JobSummary {
  JobId id = {};
  std::string name = {};
  std::string user = {};
  std::string accelerator = {};
  std::string zone = {};
  std::string host0 = {};  ///< external address of host 0, else internal, else empty
  std::string state = {};
  std::string familiar = {};
  int attempt = 0;
  TimePoint since = {};
  std::string why = {};
  std::map<std::string, std::string> labels = {};
};

/// The right to act: at most one controller holds it. `token` grows with every change of holder.
struct Lease {
  std::string holder = {};
  std::int64_t token = 0;
  TimePoint expires = {};
};

/// Where jobs live. Calls are short and synchronous; several processes may use one store.
/// Errors: kDiskFull, kNotWritable, kNewerStore, kStale, kLeaseLost as reasons.
class Store {
 public:
  virtual ~Store() = default;

  /// A random name of this store, made with it: label jobman-store.
  virtual Result<std::string> StoreId() = 0;

  /// Inserts a job; gives back its id. `source` is the job file as written.
  virtual Result<JobId> Create(Job job, std::string source, TimePoint now) = 0;
  virtual Result<Job> Get(JobId id) = 0;
  virtual Result<std::string> Source(JobId id) = 0;
  /// The job with that name that was created last, for commands that take names.
  virtual Result<std::vector<JobId>> FindByName(const std::string& name) = 0;
  virtual Result<std::vector<JobSummary>> List(const JobFilter& filter) = 0;
  /// Jobs that a controller has to care for: not final, or with a wish that is not yet true.
  virtual Result<std::vector<Job>> Active() = 0;

  /// Writes a wish and sets Job::wish_new. Wakes the job: wake_at becomes `now`. Counts as a write:
  /// a Commit of a job read before it is refused as kStale. `redo_setup` adds 1 to setup_epoch.
  virtual Status SetWish(JobId id, core::Wish wish, bool redo_setup, TimePoint now) = 0;
  /// One turn's writes. kStale when the job's version moved on, kLeaseLost when `lease_token` is
  /// not the present one. The stored version is job.version + 1 afterwards.
  virtual Status Commit(const Turn& turn, std::int64_t lease_token) = 0;
  /// Removes a deleted job with everything about it (`clean`).
  virtual Status Erase(JobId id) = 0;

  virtual Result<std::vector<Event>> Events(JobId id, std::int64_t after_number) = 0;
  virtual Result<std::vector<ExitRecord>> Exits(JobId id) = 0;
  virtual Result<std::vector<AttemptRecord>> Attempts(JobId id) = 0;

  /// What is still to be told, of all jobs, in the order of numbers.
  virtual Result<std::vector<Notice>> Outbox() = 0;
  /// All of one job, also what was told and what was given up.
  virtual Result<std::vector<Notice>> Notices(JobId id) = 0;
  /// After a try: `tries`, `next_try` and `error` of the notice, and a line of the journal. Leaves
  /// the job's version as it is. kNotFound when the job was erased, kLeaseLost as Commit().
  virtual Status RecordTry(const Notice& notice, const Event& event, std::int64_t lease_token) = 0;

  /// Pinned SSH host keys, by HostTarget::identity.
  virtual Result<std::optional<std::string>> PinnedKey(const std::string& identity) = 0;
  virtual Status PinKey(const std::string& identity, const std::string& key) = 0;

  /// Small facts that other processes cache (`catalog:...`), with their age.
  virtual Result<std::optional<std::pair<std::string, TimePoint>>> Cached(
      const std::string& key) = 0;
  virtual Status Cache(const std::string& key, const std::string& value, TimePoint now) = 0;

  /// Takes or extends the lease: nothing when somebody else holds one that has not expired.
  virtual Result<std::optional<Lease>> TakeLease(const std::string& holder, TimePoint now,
                                                 core::Duration time_to_live) = 0;
  virtual Status DropLease(const Lease& lease) = 0;
  virtual Result<std::optional<Lease>> CurrentLease() = 0;
  /// Changes when another process wrote: cheap to ask each second.
  virtual Result<std::int64_t> ChangeCounter() = 0;
};

}  // namespace jobman::ports
