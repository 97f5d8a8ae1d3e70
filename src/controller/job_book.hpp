#pragma once

#include <asio/io_context.hpp>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "jobman/controller/controller.hpp"
#include "jobman/core/flaw.hpp"
#include "jobman/core/request_holds.hpp"

namespace jobman::controller {

/// The active jobs as the store has them, and the one place where decisions are made: observations
/// come in, core::Reconcile decides, the decision is committed, and only then are its effects
/// handed out. A decision that cannot be recorded has no effects; its observations wait. One
/// decision of a job at a time: observations that arrive during a commit wait for the next.
class JobBook {
 public:
  struct Hooks {
    /// A decision was recorded: execute its effects. For a job just loaded, the implied ones.
    std::function<void(const core::Job& job, const std::vector<core::Effect>& effects)> decided;
    /// A task that was offered to the job (core::TaskOffered) is on offer no more. `passed_over`:
    /// the job had no use for it; else it was taken, or its record has changed. Called before
    /// `decided`.
    std::function<void(core::JobId id, bool passed_over)> offer_over = [](core::JobId, bool) {};
    /// Tasks were written with a decision. Called before `decided`.
    std::function<void(const std::vector<core::TaskWrite>& tasks)> tasks_written =
        [](const std::vector<core::TaskWrite>&) {};
    /// Another controller has taken the lease.
    std::function<void()> lease_lost;
    /// The job is left alone from now on: it was erased, or its record cannot be used.
    std::function<void(core::JobId id)> dropped;
    /// The contradiction in a job's record, if any. Checked after a load and before a commit.
    std::function<std::optional<std::string>(const core::Job& job)> flaw_of =
        [](const core::Job& job) { return core::FlawOf(job); };
  };

  JobBook(asio::io_context& loop, const Ports& ports, const core::Policy& policy, Hooks hooks);

  void set_lease_token(std::int64_t token) { lease_token_ = token; }
  /// Reads what changed in the store; jobs that are new here get their implied effects. A record
  /// that cannot be used is set aside, and the others go on. Errors: something could not be read.
  base::Task<base::Status> Load();
  /// Hands in an observation of a job. It is decided on soon, together with others that arrive
  /// meanwhile.
  void Post(core::JobId id, core::Observation seen);
  /// Hands out again the effects that the job's state implies; all of them are idempotent.
  void RepeatEffects(core::JobId id);
  /// Posts a Tick to every job whose wake_at has come; returns the next wake_at.
  std::optional<core::TimePoint> WakeDue(core::TimePoint now);

  const core::Job* Find(core::JobId id) const;
  std::vector<const core::Job*> All() const;
  /// Whether any job still needs care.
  bool AnyCare() const;
  /// Whether observations wait for a decision.
  bool Busy() const { return working_ > 0; }

 private:
  using Inbox = std::vector<core::Observation>;
  struct Entry {
    core::Job job = {};
    Inbox inbox = {};
    core::Duration took = {};  ///< by the last decision and its commit
    bool working = false;      ///< Work() runs
    // While a decision is being recorded:
    bool recording = false;
    bool starting = false;  ///< it puts the job to work, see core::IsAtWork
    bool outdated = false;  ///< the store had another version
    bool repeat = false;    ///< RepeatEffects() was asked for
  };
  using EntryPtr = std::shared_ptr<Entry>;
  /// What holds_ may learn from a decision, once it is recorded.
  struct Lesson {
    core::Job before = {};
    core::Job after = {};
    double random = 0;
  };
  /// A decision on the observations of an inbox, not recorded yet.
  struct Decision {
    core::TimePoint at = {};
    Inbox seen = {};
    ports::Turn turn = {};
    bool changed = false;
    std::vector<core::Effect> effects = {};
    std::vector<std::string> texts = {};  ///< for the log
    std::vector<Lesson> lessons = {};
  };
  /// When to work on the entry again; nothing: after the next observation.
  using Again = std::optional<core::Duration>;

  void Schedule(const EntryPtr& entry, core::Duration delay);
  static base::Task<void> Work(JobBook* self, EntryPtr entry, core::Duration delay);
  base::Task<Again> DecideOnce(EntryPtr entry);
  Decision Decide(Entry& entry);
  std::optional<core::GroupFull> FullFor(const core::Job& job) const;
  void WakeGroupOf(const core::Job& job);
  void Recorded(Entry& entry, Decision decision);
  void HandOutImplied(core::Job job);
  base::Task<Again> Refused(EntryPtr entry, base::Error error);
  base::Task<base::Status> Reload(EntryPtr entry);
  base::Task<base::Status> LoadOne(core::JobId id);
  void AskWhoWaits();
  base::Task<base::Result<std::optional<core::Job>>> Fetch(core::JobId id);
  base::Task<void> SetAside(ports::JobVersion job, std::string why);
  void Adopt(core::Job job);
  void Drop(core::JobId id);
  EntryPtr EntryOf(core::JobId id) const;
  bool IsInBook(const EntryPtr& entry) const { return EntryOf(entry->job.id) == entry; }

  asio::io_context& loop_;
  const Ports& ports_;
  const core::Policy& policy_;
  Hooks hooks_;
  std::int64_t lease_token_ = 0;
  std::map<core::JobId, EntryPtr> entries_ = {};
  std::map<core::JobId, std::int64_t> set_aside_ = {};  ///< versions that cannot be used
  bool complete_ = false;  ///< every job was read once: until then nobody knows who is at work
  int working_ = 0;
  core::RequestHolds holds_ = {};
  base::CancelScope scope_ = {};
};

}  // namespace jobman::controller
