#pragma once

#include <asio/io_context.hpp>
#include <functional>
#include <map>
#include <vector>

#include "jobman/controller/controller.hpp"
#include "jobman/core/request_holds.hpp"

namespace jobman::controller {

/// The jobs the controller cares for, as the store has them, and the one place where decisions are
/// made: observations come in, core::Reconcile decides, the decision is committed, and only then
/// are its effects handed out. What cannot be recorded is not done: the observations wait.
class JobBook {
 public:
  struct Hooks {
    /// A decision was recorded: act on its effects. `before` is empty for a job just loaded.
    std::function<void(const core::Job& job, const std::vector<core::Effect>& effects)> decided;
    /// The lease is not ours any more.
    std::function<void()> lease_lost;
  };

  JobBook(asio::io_context& loop, const World& world, const core::Policy& policy, Hooks hooks);

  void set_lease_token(std::int64_t token) { lease_token_ = token; }
  /// Reads what changed in the store; jobs that are new here get their implied effects.
  base::Status Load();
  /// Brings news of a job. Decided upon soon, together with what else comes in this turn.
  void Post(core::JobId id, core::Observation seen);
  /// Has done again what the job's present state implies; all of it is idempotent.
  void RepeatEffects(core::JobId id);
  /// Posts a Tick to every job whose wake_at has come; returns the next one.
  std::optional<core::TimePoint> WakeDue(core::TimePoint now);

  const core::Job* Find(core::JobId id) const;
  std::vector<const core::Job*> All() const;
  /// Whether any job still needs care.
  bool AnyCare() const;
  /// Whether observations wait to be decided upon.
  bool Busy() const { return pending_ > 0; }

 private:
  struct Entry {
    core::Job job = {};
    std::vector<core::Observation> inbox = {};
    bool scheduled = false;
    core::Duration took = {};  ///< the last decision with its commit
  };
  void Schedule(core::JobId id, core::Duration delay);
  void Decide(core::JobId id);
  void Refused(core::JobId id, const base::Error& error);
  base::Status Reload(core::JobId id);

  asio::io_context& loop_;
  const World& world_;
  const core::Policy& policy_;
  Hooks hooks_;
  std::int64_t lease_token_ = 0;
  std::map<core::JobId, Entry> entries_ = {};
  int pending_ = 0;
  core::RequestHolds holds_ = {};
};

}  // namespace jobman::controller
