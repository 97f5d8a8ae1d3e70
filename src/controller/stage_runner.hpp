#pragma once

#include "controller/notice_passer.hpp"
#include "controller/stage_stopper.hpp"

namespace jobman::controller {

/// Runs one stage of one attempt on its hosts and fetches the output. Destroying it stops following
/// the runs, which go on.
class StageRunner {
 public:
  /// Starts at once. The references must outlive it.
  explicit StageRunner(StageContext context);
  StageRunner(const StageRunner&) = delete;
  StageRunner& operator=(const StageRunner&) = delete;

  /// Stops all processes of the run on every host: TERM, grace, KILL. Also where the command has
  /// ended, since it may have left children. Safe to repeat.
  void Stop() { stopper_.Stop(); }
  /// Passes the notice to the command on every host, at once or when it has started there. Safe to
  /// repeat.
  void PassNotice(const core::Notice& notice, const std::string& signal) {
    passer_.Pass(notice, signal);
  }

  bool Runs(int attempt, const core::StageId& stage) const;
  /// Whether every host has ended, or has been reached and is silent.
  bool Quiet(core::TimePoint now) const;

 private:
  const StageContext context_;
  StageHosts hosts_;
  OutputWatch watch_;
  StageFollower follower_;
  StageStopper stopper_;
  NoticePasser passer_;
};

}  // namespace jobman::controller
