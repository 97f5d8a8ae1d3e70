#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "controller/stage_runner.hpp"
#include "controller/zone_watch.hpp"
#include "jobman/controller/nudge.hpp"

namespace jobman::controller {

/// Does what was decided. Every effect is safe to repeat; answers go back to the book as
/// observations.
class Effects {
 public:
  Effects(asio::io_context& loop, const World& world, const Options& options, Clouds& clouds,
          JobBook& book, ZoneWatch& watch);
  ~Effects();

  void Do(const core::Job& job, const std::vector<core::Effect>& effects);
  /// Secrets from a nudge; kept in memory only.
  void Remember(const Secrets& secrets);
  /// Whether nothing is under way but runs that have nothing to say.
  bool Quiet(core::TimePoint now) const;

 private:
  void Act(const core::Job& job, const core::CreateSlice&);
  void Act(const core::Job& job, const core::DeleteSlice&);
  void Act(const core::Job& job, const core::RunStage&);
  void Act(const core::Job& job, const core::StopStage&);
  void Act(const core::Job& job, const core::NotifyStage&);
  void Act(const core::Job& job, const core::AbandonStage&);
  void Act(const core::Job&, const core::Notify&) {}  // it is in the outbox: see Courier
  static base::Task<void> Create(Effects* self, core::Job job);
  static base::Task<void> Delete(Effects* self, core::Job job);
  base::Task<core::CreateAnswered> AskForSlice(core::Job job);
  base::Task<core::DeleteAnswered> AskToDelete(core::Job job);
  base::Task<base::Result<bool>> DeletePart(std::shared_ptr<ports::SliceApi> api, core::Job job,
                                            core::SliceRef part);
  using Labels = std::map<std::string, std::string>;
  static base::Task<base::Result<Labels>> LabelsOf(std::shared_ptr<ports::SliceApi> api,
                                                   core::SliceRef part);
  std::shared_ptr<StageRunner> RunnerFor(const core::Job& job);
  std::optional<std::string> SecretValue(core::JobId job, const core::SecretRef& secret) const;

  asio::io_context& loop_;
  const World& world_;
  const Options& options_;
  Clouds& clouds_;
  JobBook& book_;
  ZoneWatch& watch_;
  HostAccess access_;
  base::CancelScope scope_ = {};
  std::map<core::JobId, std::shared_ptr<StageRunner>> runners_ = {};
  std::set<std::string> creating_ = {};
  std::set<std::string> deleting_ = {};
  Secrets secrets_ = {};
};

}  // namespace jobman::controller
