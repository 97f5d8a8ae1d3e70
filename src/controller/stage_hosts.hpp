#pragma once

#include <vector>

#include "controller/stage_context.hpp"
#include "jobman/controller/host_calls.hpp"

namespace jobman::controller {

/// The state of one host in the stage.
struct StageHost {
  int number = 0;
  bool started = false;  ///< the run is known to exist on the host
  bool asked = false;    ///< a call may have got through to it, so the run may exist there
  bool ended = false;
  bool settled = false;  ///< nothing is left of the run, or the host was given up
  int exit_code = 0;
  bool stopping = false;
  bool reached = false;  ///< it has answered since the last connection broke
  core::TimePoint reached_at = {};
  core::TimePoint last_news = {};
  core::TimePoint wrote_at = {};            ///< output came, or the run was seen to start
  std::int64_t scanned = 0;                 ///< bytes of its log that the output watch has read
  std::optional<core::Notice> notice = {};  ///< from its metadata server
  std::string failing = {};                 ///< the last error that was logged
};

/// The hosts of a stage: calls them, keeps their state, and reports it.
class StageHosts {
 public:
  using Answer = base::Result<remote::RunStatus>;

  explicit StageHosts(const StageContext& context);

  std::size_t size() const { return hosts_.size(); }
  StageHost& operator[](std::size_t index) { return hosts_[index]; }
  const std::vector<StageHost>& all() const { return hosts_; }
  std::string RunId(const StageHost& host) const;

  /// Calls the host script on that host (CallHost).
  base::Task<Answer> Call(std::size_t index, remote::Call call, ports::ByteSink out);
  /// That call, not made yet. What it points to must outlive it.
  base::Task<HostCall> Aim(std::size_t index, const remote::Call* call, const ports::ByteSink* out);
  /// Whether it is certain that nobody with this store ever logged in to it: no key is pinned.
  base::Task<bool> IsNew(std::size_t index);
  /// What to do once connected to that host: when its key was just pinned, and nobody vouches for
  /// it, the journal says so (core::KeyPinned).
  base::Task<Connected> TellIfPinned(std::size_t index, ports::SharedTarget target);
  /// The host has answered.
  void Reached(StageHost& host);
  /// A connection failed. The same error again is logged at debug level only.
  void Failing(StageHost& host, const base::Error& error);
  /// The run has ended in this way.
  void Finish(StageHost& host, const remote::RunStatus& status);
  /// Gives the host up.
  void Lose(StageHost& host, base::Error error);
  /// Nothing is left of the stopped run, or, with an error, the host was given up before it could
  /// say so.
  void Settle(StageHost& host, std::optional<base::Error> error = {});
  void ReportRunning(const StageHost& host);

 private:
  void Hear(StageHost& host, std::string_view talk);
  void LookForNotice(StageHost& host, std::string_view talk);
  std::string LapsedStep(const std::string& run) const;
  base::Error ChipsBusy(const StageHost& host, const std::string& who) const;
  void Report(const StageHost& host, core::HostPhase phase, std::optional<base::Error> error = {});

  const StageContext& context_;
  std::vector<StageHost> hosts_ = {};
};

}  // namespace jobman::controller
