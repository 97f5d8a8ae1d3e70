#pragma once

#include <map>
#include <memory>
#include <string>

#include "controller/slice_calls.hpp"
#include "controller/stage_runner.hpp"
#include "jobman/base/waiters.hpp"
#include "jobman/controller/nudge.hpp"

namespace jobman::controller {

/// Executes effects. Every effect is safe to repeat; results go to the book as observations.
class Effects {
 public:
  Effects(asio::io_context& loop, const Ports& ports, const Options& options, Clouds& clouds,
          JobBook& book, ZoneWatch& watch);

  /// `job` as it was recorded with the effects. Effects on one of its earlier stages are dropped.
  void Do(const core::Job& job, const std::vector<core::Effect>& effects);
  /// Stops following the job's runs, which go on.
  void Forget(core::JobId id);
  /// Secrets from a nudge; kept in memory only.
  void Remember(const Secrets& secrets);
  /// Whether nothing is in progress except silent runs.
  bool Quiet(core::TimePoint now) const;

 private:
  void Do(const core::Job& job, const core::CreateSlice& create) { calls_.Do(job, create); }
  void Do(const core::Job& job, const core::DeleteSlice& remove) { calls_.Do(job, remove); }
  void Do(const core::Job& job, const core::LookUpSlice& look) { calls_.Do(job, look); }
  void Do(const core::Job& job, const core::AddLogin& add) { calls_.Do(job, add); }
  void Do(const core::Job& job, const core::RunStage& run);
  void Do(const core::Job& job, const core::StopStage& stop);
  void Do(const core::Job& job, const core::PassNotice& pass);
  void Do(const core::Job& job, const core::AbandonStage& abandon);
  void Do(const core::Job&, const core::TellHooks&) {}  // Courier does it, from the outbox
  StageRunner* RunnerFor(const core::Job& job, int attempt, const core::StageId& stage,
                         bool begins_here = false);
  StageHooks HooksFor(core::JobId id);
  std::optional<std::string> PeersKey(core::JobId job) const;
  std::optional<std::string> SecretValue(core::JobId job, const core::SecretRef& secret) const;

  asio::io_context& loop_;
  const Ports& ports_;
  const Options& options_;
  JobBook& book_;
  ZoneWatch& watch_;
  HostAccess access_;
  std::shared_ptr<base::Gate> transfers_ = std::make_shared<base::Gate>(kMostTransfers);
  SliceCalls calls_;
  std::map<core::JobId, std::unique_ptr<StageRunner>> runners_ = {};
  Secrets secrets_ = {};
};

}  // namespace jobman::controller
