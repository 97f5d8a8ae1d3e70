#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "controller/host_access.hpp"
#include "controller/output_scanner.hpp"
#include "jobman/remote/host_script.hpp"

namespace jobman::controller {

/// Runs one stage of one attempt on its hosts and brings the output in: a coroutine per host that
/// starts the run or follows it, survives broken connections, and reports each host's end. The runs
/// themselves outlive this object.
class StageRunner : public std::enable_shared_from_this<StageRunner> {
 public:
  struct Hooks {
    std::function<void(core::HostReport)> report;
    /// The watchdog has seen something: core::Silence or core::BadOutput.
    std::function<void(core::Observation)> notice;
    /// A connection failed: the cloud may know more.
    std::function<void()> trouble;
    /// Whether the cloud answered lately: without it nobody can tell a dead host from a dead net.
    std::function<bool()> cloud_answers;
    /// Whether the slice was usable when it was last seen.
    std::function<bool()> slice_ready;
    /// A secret's value, or nothing.
    std::function<std::optional<std::string>(const core::SecretRef&)> secret;
  };

  /// `job` is the job as of the stage's start; it must have slice and stage.
  StageRunner(asio::any_io_executor executor, const World& world, const Options& options,
              HostAccess& access, core::Job job, Hooks hooks);
  ~StageRunner();

  void Start();
  /// TERM, grace, KILL to everything of the run on every host, also where the command has ended: it
  /// may have left children. Safe to repeat.
  void Stop();
  /// Tells the command on every host, at once or when it has started there. Safe to repeat.
  void Notify(const core::Notice& notice, const std::string& signal);
  /// Stops caring for the hosts.
  void Abandon();

  bool Runs(int attempt, const core::StageId& stage) const {
    return attempt == job_->attempt && stage == job_->stage->id;
  }
  /// Whether every host has been reached, or has ended, and is silent at the moment.
  bool Quiet(core::TimePoint now) const;

 private:
  struct Host {
    int number = 0;
    bool started = false;  ///< the run is known to exist on the host
    bool checked = false;  ///< what an earlier attempt left of a setup step was looked at
    bool ended = false;
    bool settled = false;  ///< nothing is left of the run, or nothing more is to be done about it
    int exit_code = 0;
    bool reached = false;
    bool stopping = false;
    core::TimePoint last_news = {};
    std::string failing = {};  ///< the last trouble that was logged
    core::TimePoint reached_at = {};
    std::optional<OutputScanner> scanner = {};  ///< where there are patterns to look for
    std::int64_t told_scanned = 0;              ///< scanner->scanned() as last reported
    base::Duration blamed = {};  ///< how long it has been silent for no fault of ours
    base::CancelScope following = {};
    base::CancelScope stop = {};
    bool notifying = false;
    std::optional<core::Notice> notice = {};  ///< what its metadata server said
    base::CancelScope notify = {};
  };
  using Self = std::shared_ptr<StageRunner>;
  using Outcome = base::Result<remote::RunStatus>;

  static base::Task<void> Follow(Self self, std::size_t index);
  static base::Task<void> StopHost(Self self, std::size_t index);
  static base::Task<void> FinishStopped(Self self, std::size_t index, remote::RunStatus stopped);
  static base::Task<void> NotifyHost(Self self, std::size_t index, remote::Call call);
  /// What a try that failed adds to the time for which a host has been silent through no fault of
  /// ours. A connection that stood for hours and breaks is no silence of hours: that begins now.
  base::Duration Blame(const base::Error& error, bool answered, core::TimePoint began,
                       base::Duration wait) const;
  static base::Task<Outcome> FetchRest(Self self, std::size_t index);
  /// One connection's worth: starts or follows the run and takes its output in.
  static base::Task<Outcome> Once(Self self, std::size_t index, bool may_start);
  static base::Task<Outcome> RunScript(Self self, std::size_t index, remote::Call call,
                                       ports::ByteSink out);
  static base::Task<base::Status> RenewStep(Self self, std::size_t index);

  // stage_watchdog.cpp
  void BeginWatch();
  static base::Task<void> WatchSilence(Self self);
  static base::Task<base::Status> ScanOldLog(Self self, std::size_t index, base::Path path,
                                             std::int64_t size);
  std::optional<core::TimePoint> SilentSince(core::TimePoint now) const;
  void TakeOutput(Host& host, std::string_view bytes);

  base::Result<remote::RunOrder> OrderFor(const Host& host) const;
  base::Duration BlamedBefore(core::TimePoint since) const;
  core::RunId RunOn(const Host& host) const;
  std::string RunId(std::size_t index) const { return core::FormatRunId(RunOn(hosts_[index])); }
  std::string CommandRun(const Host& host) const;
  void Reached(Host& host);
  bool IsCommand() const { return core::IsCommand(job_->stage->id); }
  void Heed(Host& host, std::string_view talk);
  void Failing(Host& host, const base::Error& error);
  void Finish(Host& host, const remote::RunStatus& status);
  base::Error ChipsBusy(const Host& host, const std::string& who) const;
  void Lose(Host& host, base::Error error);
  void Settle(Host& host);
  void Report(const Host& host, core::HostPhase phase, int exit_code,
              std::optional<base::Error> error);

  asio::any_io_executor executor_;
  const World& world_;
  const Options& options_;
  HostAccess& access_;
  std::shared_ptr<const core::Job> job_;
  Hooks hooks_;
  std::vector<Host> hosts_ = {};
  core::TimePoint last_output_ = {};  ///< the last byte of any host
  base::CancelScope watching_ = {};
};

}  // namespace jobman::controller
