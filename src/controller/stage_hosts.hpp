#pragma once

#include <vector>

#include "controller/host_calls.hpp"
#include "controller/stage_context.hpp"

namespace jobman::controller {

/// What is known of one host's part in the stage.
struct StageHost {
  int number = 0;
  bool started = false;  ///< the run is known to exist on the host
  bool ended = false;
  bool settled = false;  ///< nothing is left of the run, or nothing more is to be done about it
  int exit_code = 0;
  bool stopping = false;
  bool reached = false;  ///< it has said something since the last connection broke
  core::TimePoint reached_at = {};
  core::TimePoint last_news = {};
  core::TimePoint wrote_at = {};            ///< output came, or the run was seen to start
  std::int64_t scanned = 0;                 ///< bytes of its log that the watch has read
  std::optional<core::Notice> notice = {};  ///< what its metadata server said
  std::string failing = {};                 ///< the last trouble that was logged
};

/// The hosts of a stage: calls them, keeps what they say, and reports it.
class StageHosts {
 public:
  using Answer = base::Result<remote::RunStatus>;

  explicit StageHosts(const StageContext& context);

  std::size_t size() const { return hosts_.size(); }
  StageHost& operator[](std::size_t index) { return hosts_[index]; }
  const std::vector<StageHost>& all() const { return hosts_; }
  std::string RunId(const StageHost& host) const;

  /// Calls the host script there (CallHost).
  base::Task<Answer> Call(std::size_t index, remote::Call call, ports::ByteSink out);
  /// The host has said something.
  void Reached(StageHost& host);
  /// A connection failed. The same again is no news.
  void Failing(StageHost& host, const base::Error& error);
  /// The run has ended in this way.
  void Finish(StageHost& host, const remote::RunStatus& status);
  /// The host is given up.
  void Lose(StageHost& host, base::Error error);
  /// Nothing is left of the run that was stopped.
  void Settle(StageHost& host);
  void ReportRunning(const StageHost& host);

 private:
  void LookForNotice(StageHost& host, std::string_view talk);
  base::Error ChipsBusy(const StageHost& host, const std::string& who) const;
  void Report(const StageHost& host, core::HostPhase phase, std::optional<base::Error> error = {});

  const StageContext& context_;
  std::vector<StageHost> hosts_ = {};
};

}  // namespace jobman::controller
