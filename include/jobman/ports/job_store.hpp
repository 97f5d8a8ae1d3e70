#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "jobman/base/task.hpp"
#include "jobman/core/reconcile.hpp"
#include "jobman/core/task.hpp"
#include "jobman/ports/records.hpp"

namespace jobman::ports {

using base::Result;
using base::Status;
using base::Task;
using core::Job;

/// What one turn of the loop writes for one job, in one transaction.
struct Turn {
  Job job = {};
  std::vector<Event> events = {};
  std::vector<ExitRecord> exits = {};
  /// Inserted; if a record exists already, only slice, ended_at and outcome change.
  std::vector<AttemptRecord> attempts = {};
  std::vector<HookDelivery> deliveries = {};
  /// What the turn claims and releases of tasks, in this order. A claim is written if the task
  /// still has the version that it was read with, and has the next one afterwards; else the whole
  /// turn is refused. A release is applied to the task as it is stored then. It is passed over if
  /// the claim is gone, or the task, or if its record is set aside (QueueStore): the worker goes
  /// on.
  std::vector<core::TaskWrite> tasks = {};
};

/// A changed job file for a stored job.
struct Revision {
  core::JobSpec spec = {};
  std::string source = {};  ///< the job file as written
};

/// A job that another tool had, as it goes on here.
struct ImportedJob {
  Job job = {};             ///< over (core::IsFinal()), with the id and the times it had there
  std::string source = {};  ///< the job file as written
  /// The first line of its journal: where it comes from. `import` knows it again by this text.
  std::string origin = {};
  std::vector<AttemptRecord> attempts = {};
};

/// Filters of `list`; empty fields do not filter.
struct JobFilter {
  std::vector<std::string> states = {};  ///< the caller maps familiar words to StateName()
  std::string name_glob = {};
  std::vector<std::string> zones = {};
  std::string user = {};
  std::map<std::string, std::string> labels = {};
  bool with_deleted = false;
  /// The caller shows no labels, so the rows need not have any: for a table of a thousand jobs they
  /// would be a good part of the work. They may be there if `labels` asks for some.
  bool without_labels = false;
};

/// A row of `list`: small on purpose, without parsing the spec.
struct JobSummary {
  JobId id = {};
  std::string name = {};
  std::string user = {};
  std::string accelerator = {};
  std::string zone = {};
  std::string host0 = {};  ///< address at which host 0 is logged in to; empty without a slice
  std::string state = {};
  std::string status = {};  ///< core::StatusWord(): STARTING, or the state
  std::string familiar = {};
  int attempt = 0;
  TimePoint since = {};
  std::string why = {};
  /// The wait for a slice, over all its requests; nothing while the job does not wait for one.
  std::optional<core::Search> search = {};
  /// In BACKOFF: when the next try is due, and what it waits for, which `why` says with times that
  /// pass. Of the error, its message and reason. Nothing if the record is set aside.
  std::optional<core::BackingOff> pause = {};
  std::map<std::string, std::string> labels = {};
};

/// A job and how often it was written: its Job::version.
struct JobVersion {
  JobId id = {};
  std::int64_t version = 0;
  friend bool operator==(const JobVersion&, const JobVersion&) = default;
};

/// Stores jobs: their records, wishes, turns and history. Several processes may use one store,
/// which may be behind a network: every call is a coroutine and may wait. A write that returns an
/// error was not carried out: a store that lost an answer finds out before it returns. The object
/// must outlive its coroutines. Reasons of errors: kDiskFull, kNotWritable, kNewerStore, kStale,
/// kLeaseLost.
class JobStore {
 public:
  virtual ~JobStore() = default;

  /// The random id of this store, made with it: label jobman-store.
  virtual Task<Result<std::string>> StoreId() = 0;

  /// Inserts a job; returns its id. `source` is the job file as written.
  virtual Task<Result<JobId>> Create(Job job, std::string source, TimePoint now) = 0;
  /// Inserts a job under the id that it brings; Create() then goes on beyond the largest. The job's
  /// times, state and wish stay as they are. kAlreadyExists when the store has a job of that id,
  /// kInvalidArgument for an id below 1 or a job that is not over: then nothing is written.
  virtual Task<Status> Import(ImportedJob imported, TimePoint now) = 0;
  /// Create() goes on beyond this id: those up to it were given to jobs elsewhere. It never goes
  /// back.
  virtual Task<Status> ReserveIds(JobId last) = 0;
  /// kNewerStore when a newer jobman wrote the record, kDataLoss when it is damaged: only this job
  /// is unusable then.
  virtual Task<Result<Job>> Get(JobId id) = 0;
  virtual Task<Result<std::string>> Source(JobId id) = 0;
  /// The jobs with that name, newest first.
  virtual Task<Result<std::vector<JobId>>> FindByName(std::string name) = 0;
  virtual Task<Result<std::vector<JobSummary>>> List(JobFilter filter) = 0;
  /// The jobs that need a controller: not final, or with a new wish. Cheap: no record is parsed.
  virtual Task<Result<std::vector<JobVersion>>> ActiveVersions() = 0;

  /// Writes a wish and sets Job::wish_new. Wakes the job: wake_at becomes `now`. Counts as a write:
  /// a Commit of a job read before it is refused as kStale. See core::SetupWish.
  virtual Task<Status> SetWish(JobId id, core::Wish wish, core::SetupWish setup, TimePoint now) = 0;
  /// Sets Job::revised and replaces the job's source; with a wish, as SetWish() in the same
  /// transaction. kStale unless the job's version is `job.version`.
  virtual Task<Status> Revise(JobVersion job, Revision revision, std::optional<core::Wish> wish,
                              TimePoint now) = 0;
  /// One turn's writes. kStale when the version of the job, or of a task that it claims, has
  /// changed, kLeaseLost when `lease_token` is not the current one: then nothing is written.
  /// Afterwards the stored version is job.version + 1.
  virtual Task<Status> Commit(Turn turn, std::int64_t lease_token) = 0;
  /// Makes `list` show `why` in place of the job's own sentence: the controller leaves this job
  /// alone. The record and its version do not change; the next write ends it. kStale and kLeaseLost
  /// as for Commit().
  virtual Task<Status> SetAside(JobVersion job, std::string why, std::int64_t lease_token) = 0;
  /// Why the controller leaves this job alone; nothing if it does not.
  virtual Task<Result<std::optional<std::string>>> WhySetAside(JobId id) = 0;
  /// Removes a deleted job and everything about it (`clean`). kStale when it has changed since it
  /// was read: somebody may have resumed it.
  virtual Task<Status> Erase(JobVersion job) = 0;

  virtual Task<Result<std::vector<Event>>> Events(JobId id, std::int64_t after_number) = 0;
  virtual Task<Result<std::vector<ExitRecord>>> Exits(JobId id) = 0;
  virtual Task<Result<std::vector<AttemptRecord>>> Attempts(JobId id) = 0;

  /// Changes when anybody writes anything: cheap enough to call each second.
  virtual Task<Result<std::int64_t>> ChangeCounter() = 0;
};

}  // namespace jobman::ports
