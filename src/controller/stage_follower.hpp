#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "controller/output_watch.hpp"
#include "jobman/base/capped_file.hpp"

namespace jobman::controller {

/// Starts or follows the stage's run on each host and fetches its log, across broken connections. A
/// host that cannot be reached for too long is given up.
class StageFollower {
 public:
  StageFollower(const StageContext& context, StageHosts& hosts, OutputWatch& watch);

  void Start();
  /// Stops following one host, whose run is being stopped.
  void Stop(std::size_t index) { parts_[index].scope.Cancel(); }
  /// The run of that host was stopped: stops following it, fetches the rest of the log, and reports
  /// the end: `stopped`, unless the host tells an exit code with the log.
  base::Task<void> FinishStopped(std::size_t index, remote::RunStatus stopped);

 private:
  using Answer = StageHosts::Answer;
  struct Part {
    bool renewed = false;                 ///< Renew() is done
    bool bare = false;                    ///< the host script was not there for Renew()
    base::Duration unreachable_for = {};  ///< while the cause was not on this machine
    core::TimePoint contact_at = {};      ///< the host took a part of a file
    base::CancelScope scope = {};
  };

  base::Task<void> Follow(std::size_t index);
  base::Task<base::Status> PrepareLog(std::size_t index, bool may_start,
                                      std::optional<base::CappedFile>* log);
  base::Task<std::optional<Answer>> PrepareStart(std::size_t index, std::int64_t log_size,
                                                 remote::Call* call, base::Status* startable);
  base::Task<Answer> FollowOnce(std::size_t index, bool may_start,
                                std::optional<base::Duration> limit = {});
  base::Task<Answer> FetchRest(std::size_t index);
  base::Task<Answer> SendCode(std::size_t index);
  base::Result<remote::RunOrder> Order(std::size_t index) const;
  base::Result<std::string> OrderText(std::size_t index) const;
  base::Task<void> LearnPeers();
  base::Task<base::Status> Renew(std::size_t index);
  void Finish(std::size_t index, const remote::RunStatus& status);
  static bool EndContact(StageHost& host, const base::Error& error);
  base::Duration UnreachableTime(const base::Error& error, bool answered, core::TimePoint began,
                                 base::Duration wait) const;
  base::Duration UnreachableBefore(core::TimePoint since) const;

  const StageContext& context_;
  StageHosts& hosts_;
  OutputWatch& watch_;
  std::vector<Part> parts_ = {};  ///< by host
  std::string known_hosts_ = {};  ///< of all hosts, once they were asked for
};

}  // namespace jobman::controller
