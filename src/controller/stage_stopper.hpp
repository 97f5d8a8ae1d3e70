#pragma once

#include <vector>

#include "controller/stage_follower.hpp"

namespace jobman::controller {

/// Stops all processes of the stage's run on each host, with retries until nothing is left. A host
/// that does not answer is given up remote::kStopMargin after the grace; one to which nothing was
/// ever sent, as it refused the login, after one try.
class StageStopper {
 public:
  StageStopper(const StageContext& context, StageHosts& hosts, StageFollower& follower);

  /// Safe to repeat.
  void Stop();

 private:
  base::Task<void> StopHost(std::size_t index);
  remote::Call CallFor(const StageHost& host) const;
  void GiveUp(std::size_t index, base::Error error);

  const StageContext& context_;
  StageHosts& hosts_;
  StageFollower& follower_;
  std::vector<base::CancelScope> scopes_;  ///< by host
};

}  // namespace jobman::controller
