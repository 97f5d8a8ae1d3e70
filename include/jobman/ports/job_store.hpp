#pragma once

#include <map>
#include <string>
#include <vector>

#include "jobman/base/task.hpp"
#include "jobman/core/reconcile.hpp"
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
  /// Inserted; of one that is there already, only slice, ended_at and outcome change.
  std::vector<AttemptRecord> attempts = {};
  std::vector<HookDelivery> deliveries = {};
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

/// A job and how often it was written: equal to Job::version.
struct JobVersion {
  JobId id = {};
  std::int64_t version = 0;
  friend bool operator==(const JobVersion&, const JobVersion&) = default;
};

/// Where jobs live: their records, wishes, turns and history. Several processes may use one store,
/// which may be behind a network: every call is a coroutine and may wait. A write that fails was
/// not carried out: a store that lost an answer finds out before it returns. The object must
/// outlive its coroutines. Errors: kDiskFull, kNotWritable, kNewerStore, kStale, kLeaseLost as
/// reasons.
class JobStore {
 public:
  virtual ~JobStore() = default;

  /// A random name of this store, made with it: label jobman-store.
  virtual Task<Result<std::string>> StoreId() = 0;

  /// Inserts a job; gives back its id. `source` is the job file as written.
  virtual Task<Result<JobId>> Create(Job job, std::string source, TimePoint now) = 0;
  /// kNewerStore when the record has words of a newer jobman, kDataLoss when it is damaged: then
  /// this one job cannot be used, and the others can.
  virtual Task<Result<Job>> Get(JobId id) = 0;
  virtual Task<Result<std::string>> Source(JobId id) = 0;
  /// The jobs with that name, the one that was created last first.
  virtual Task<Result<std::vector<JobId>>> FindByName(std::string name) = 0;
  virtual Task<Result<std::vector<JobSummary>>> List(JobFilter filter) = 0;
  /// The jobs that a controller has to care for: not final, or with a wish that is not yet true.
  /// Cheap: no record is parsed.
  virtual Task<Result<std::vector<JobVersion>>> ActiveVersions() = 0;

  /// Writes a wish and sets Job::wish_new. Wakes the job: wake_at becomes `now`. Counts as a write:
  /// a Commit of a job read before it is refused as kStale. `redo_setup` adds 1 to setup_epoch.
  virtual Task<Status> SetWish(JobId id, core::Wish wish, bool redo_setup, TimePoint now) = 0;
  /// One turn's writes. kStale when the job's version moved on, kLeaseLost when `lease_token` is
  /// not the present one. The stored version is job.version + 1 afterwards.
  virtual Task<Status> Commit(Turn turn, std::int64_t lease_token) = 0;
  /// Has `list` say `why` in place of the job's own sentence: the controller leaves the job alone
  /// as it stands. The record and its version stay as they are; the next write ends it. kStale and
  /// kLeaseLost as Commit().
  virtual Task<Status> SetAside(JobVersion job, std::string why, std::int64_t lease_token) = 0;
  /// Removes a deleted job with everything about it (`clean`). kStale when it was changed since it
  /// was read: somebody may have asked that it run again.
  virtual Task<Status> Erase(JobVersion job) = 0;

  virtual Task<Result<std::vector<Event>>> Events(JobId id, std::int64_t after_number) = 0;
  virtual Task<Result<std::vector<ExitRecord>>> Exits(JobId id) = 0;
  virtual Task<Result<std::vector<AttemptRecord>>> Attempts(JobId id) = 0;

  /// Changes when anybody wrote anything: cheap to ask each second.
  virtual Task<Result<std::int64_t>> ChangeCounter() = 0;
};

}  // namespace jobman::ports
