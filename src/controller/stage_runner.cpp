#include "controller/stage_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "controller/times.hpp"
#include "jobman/base/backoff.hpp"
#include "jobman/base/hash.hpp"
#include "jobman/base/log.hpp"

namespace jobman::controller {
namespace {

using base::Error;
using core::HostPhase;
using remote::RunStatus;

constexpr std::size_t kStderrKept = 16'384;
constexpr base::Backoff kReconnect = {.base = kFirstReconnect, .cap = kLongestReconnect};

/// Half of the bound at least: full jitter may hammer a host that is just booting.
base::Duration ReconnectWait(int tries, double unit_random) {
  return kReconnect.Bound(tries) / 2 + kReconnect.FullJitter(tries, unit_random) / 2;
}

/// Nothing is wrong with the host: its log cannot be written here, or another controller does it.
/// It waits there meanwhile.
bool IsOurs(const Error& error) {
  return error.reason == base::Reason::kDiskFull || error.reason == base::Reason::kNotWritable ||
         error.reason == base::Reason::kLeaseLost;
}

/// No repetition helps.
bool IsHopeless(const Error& error) {
  return error.reason == base::Reason::kHostKeyChanged ||
         error.reason == base::Reason::kKeyUnreadable ||
         error.code == base::Code::kInvalidArgument ||
         error.code == base::Code::kFailedPrecondition;
}

}  // namespace

StageRunner::StageRunner(asio::any_io_executor executor, const World& world, const Options& options,
                         HostAccess& access, core::Job job, Hooks hooks)
    : executor_(std::move(executor)),
      world_(world),
      options_(options),
      access_(access),
      job_(std::make_shared<const core::Job>(std::move(job))),
      hooks_(std::move(hooks)) {
  for (const core::HostRun& run : job_->stage->hosts) {
    Host host;
    host.number = run.host;
    host.started = run.phase == HostPhase::kRunning;
    host.ended = run.phase == HostPhase::kExited || run.phase == HostPhase::kLost;
    host.settled = run.settled;
    host.exit_code = run.exit_code;
    host.notice = run.notice;
    if (run.silent_since) host.blamed = BlamedBefore(*run.silent_since);
    hosts_.push_back(std::move(host));
  }
  BeginWatch();
}

/// An earlier controller found the host silent; a few tries of our own must confirm it.
base::Duration StageRunner::BlamedBefore(core::TimePoint since) const {
  const base::Duration most = options_.unreachable_limit - kOwnTries;
  const base::Duration passed = world_.clock->Now() - since;
  return std::max(base::Duration{0}, std::min(passed, most));
}

StageRunner::~StageRunner() {
  Abandon();
}

void StageRunner::Start() {
  for (std::size_t index = 0; index < hosts_.size(); ++index) {
    if (hosts_[index].ended) continue;
    base::Spawn(executor_, hosts_[index].following, Follow(shared_from_this(), index));
  }
  if (IsCommand() && job_->spec.watchdog.no_output) {
    base::Spawn(executor_, watching_, WatchSilence(shared_from_this()));
  }
}

void StageRunner::Stop() {
  for (std::size_t index = 0; index < hosts_.size(); ++index) {
    if (hosts_[index].settled || hosts_[index].stopping) continue;
    hosts_[index].stopping = true;
    base::Spawn(executor_, hosts_[index].stop, StopHost(shared_from_this(), index));
  }
}

void StageRunner::Notify(const core::Notice& notice, const std::string& signal) {
  for (std::size_t index = 0; index < hosts_.size(); ++index) {
    if (hosts_[index].ended || hosts_[index].stopping) continue;
    hosts_[index].notify = base::CancelScope{};
    hosts_[index].notifying = true;
    base::Spawn(
        executor_, hosts_[index].notify,
        NotifyHost(shared_from_this(), index, remote::NoticeCall(RunId(index), notice, signal)));
  }
}

void StageRunner::Abandon() {
  watching_.Cancel();
  for (Host& host : hosts_) {
    host.ended = true;
    host.settled = true;
    host.following.Cancel();
    host.stop.Cancel();
    host.notify.Cancel();
  }
}

bool StageRunner::Quiet(core::TimePoint now) const {
  return std::all_of(hosts_.begin(), hosts_.end(), [&](const Host& host) {
    return host.ended || (host.reached && !host.notifying && now - host.last_news > kQuiet);
  });
}

/// The stage on that host. What was done in a setup step is not done again in a later attempt, but
/// after a reboot: see RenewStep.
core::RunId StageRunner::RunOn(const Host& host) const {
  core::RunId run{.on = core::OnHost(options_.policy.store_id, *job_, host.number),
                  .what = core::CommandRun{.attempt = job_->attempt}};
  const core::SetupStep* const step = core::StepOf(job_->spec, job_->stage->id);
  if (step == nullptr) return run;
  std::string content = step->run;
  for (const auto& [name, value] : job_->spec.environment) content += '\0' + name + '=' + value;
  run.what = core::SetupRun{.step = std::get<core::SetupStage>(job_->stage->id).index,
                            .content = base::Sha256Hex(content).substr(0, 12),
                            .generation = job_->stage->generation,
                            .epoch = job_->setup_epoch};
  return run;
}

/// The command's id in this attempt: also what those of earlier attempts are found by.
std::string StageRunner::CommandRun(const Host& host) const {
  return core::FormatRunId(
      {.on = RunOn(host).on, .what = core::CommandRun{.attempt = job_->attempt}});
}

base::Result<remote::RunOrder> StageRunner::OrderFor(const Host& host) const {
  const core::SetupStep* const step = core::StepOf(job_->spec, job_->stage->id);
  const core::CommandSpec& spec = job_->spec.command;
  remote::RunOrder order;
  const core::RunId run = RunOn(host);
  order.run_id = core::FormatRunId(run);
  if (job_->attempt > 1) order.replaces = CommandRun(host);
  order.grace = spec.grace;
  order.script = step == nullptr ? spec.cmd : step->run;
  order.env = remote::RunEnvironment(*job_, host.number, run);
  for (const auto& [name, value] : job_->spec.environment) order.env[name] = value;
  if (step != nullptr) return order;
  order.chips_of = core::RunIdPrefix(run.on);
  order.notice_signal = spec.on_notice.signal;
  order.workdir = spec.workdir;
  for (const auto& [name, value] : spec.env) order.env[name] = value;
  for (const core::SecretRef& secret : spec.secrets) {
    const auto value = hooks_.secret(secret);
    if (!value) {
      return Error{.code = base::Code::kFailedPrecondition,
                   .message = fmt::format("the secret {} is not known", secret.name),
                   .hint = fmt::format("export {0} and run: jobman resume {1}; or name a file: "
                                       "secrets: [{{name: {0}, file: PATH}}]",
                                       secret.name, core::FormatJobId(job_->id))};
    }
    order.secrets[secret.name] = *value;
  }
  return order;
}

base::Task<void> StageRunner::Follow(Self self, std::size_t index) {
  for (int tries = 1;; ++tries) {
    const core::TimePoint began = self->world_.clock->Now();
    Outcome outcome = co_await Once(self, index, true);
    Host& host = self->hosts_[index];
    // What is being stopped has ended when nothing of it is left, which StopHost() finds out: the
    // command's own end may leave children behind.
    if (host.ended || host.stopping) co_return;
    if (outcome.ok()) co_return self->Finish(host, *outcome);
    const bool answered = std::exchange(host.reached, false);
    if (answered) {
      tries = 1;
      host.blamed = base::Duration{0};
    }
    if (IsHopeless(outcome.error())) co_return self->Lose(host, outcome.error());
    self->Failing(host, outcome.error());
    const base::Duration wait = ReconnectWait(tries, self->world_.random());
    // Under maintenance or repair no host answers, for as long as that takes.
    if (self->hooks_.slice_ready()) {
      host.blamed += self->Blame(outcome.error(), answered, began, wait);
    }
    if (host.blamed > self->options_.unreachable_limit) co_return self->Lose(host, outcome.error());
    co_await base::Sleep(wait);
  }
}

base::Duration StageRunner::Blame(const Error& error, bool answered, core::TimePoint began,
                                  base::Duration wait) const {
  if (!hooks_.cloud_answers() || IsOurs(error)) return base::Duration{0};
  return answered ? wait : wait + (world_.clock->Now() - began);
}

base::Task<StageRunner::Outcome> StageRunner::RunScript(Self self, std::size_t index,
                                                        remote::Call call, ports::ByteSink out) {
  const ports::HostTarget target =
      co_await self->access_.TargetOf(self->job_, self->hosts_[index].number);
  std::string talk;
  const ports::ByteSink err = [&talk, self, index](std::string_view bytes) -> base::Status {
    self->Reached(self->hosts_[index]);
    talk.append(bytes);
    self->Heed(self->hosts_[index], talk);
    if (talk.size() > kStderrKept) talk.erase(0, talk.size() - kStderrKept);
    return base::Ok();
  };
  for (int tries = 0; tries < 2; ++tries) {
    ports::RemoteCommand command{.command = call.command, .input = call.input};
    talk.clear();
    JM_CO_ASSIGN_OR_RETURN(const int code,
                           co_await self->world_.shell->Run(target, command, out, err));
    if (code == 0 || code == remote::kExitHostError) co_return remote::ParseStatus(talk);
    if (code != remote::kExitNotInstalled) {
      Error odd{.code = base::Code::kUnavailable,
                .message = fmt::format("the host script ended with {}: {}", code, talk)};
      co_return odd;
    }
    const remote::Call install = remote::InstallCall();
    ports::RemoteCommand installing{.command = install.command, .input = install.input};
    talk.clear();
    JM_CO_ASSIGN_OR_RETURN(const int installed,
                           co_await self->world_.shell->Run(target, installing, {}, err));
    if (installed != 0) co_return remote::ParseStatus(talk);
  }
  Error missing{.code = base::Code::kUnavailable,
                .message = "the host script does not stay installed"};
  co_return missing;
}

base::Task<StageRunner::Outcome> StageRunner::Once(Self self, std::size_t index, bool may_start) {
  const core::Job& job = *self->job_;
  if (may_start && !self->IsCommand() && job.attempt > 1 && !self->hosts_[index].started) {
    JM_CO_TRY(co_await RenewStep(self, index));
  }
  const auto path = self->options_.paths.LogPath(job.id.value, job.attempt, job.stage->name,
                                                 self->hosts_[index].number);
  JM_CO_TRY(base::EnsureDir(path.parent_path()));
  JM_CO_ASSIGN_OR_RETURN(auto log, base::AppendFile::Open(path));
  JM_CO_TRY(co_await ScanOldLog(self, index, path, log.size()));
  const ports::ByteSink out = [&log, self, index](std::string_view bytes) -> base::Status {
    self->Reached(self->hosts_[index]);
    JM_TRY(log.Append(bytes));
    self->TakeOutput(self->hosts_[index], bytes);
    return base::Ok();
  };
  const bool start = may_start && !self->hosts_[index].started;
  remote::Call call = remote::FollowCall(self->RunId(index), log.size());
  base::Status startable = base::Ok();
  if (start) {
    const auto order = self->OrderFor(self->hosts_[index]);
    if (order.ok()) {
      JM_CO_ASSIGN_OR_RETURN(call, remote::RunCall(*order, log.size()));
    } else {
      startable = order.error();  // an earlier controller may have started it all the same
    }
  }
  Outcome outcome = co_await RunScript(self, index, call, out);
  const bool absent = outcome.ok() && outcome->kind == RunStatus::Kind::kAbsent;
  if (absent && !startable.ok()) co_return startable.error();
  if (absent && may_start && !start) {
    self->hosts_[index].started = false;  // the host lost its memory: a new disk
    Error again{.code = base::Code::kUnavailable, .message = "the host does not know the run"};
    co_return again;
  }
  co_return outcome;
}

/// What an earlier attempt left of this setup step: done since the host booted counts, anything
/// else is run again.
base::Task<base::Status> StageRunner::RenewStep(Self self, std::size_t index) {
  if (self->hosts_[index].checked) co_return base::Ok();
  std::string talk;
  const ports::ByteSink err = [&talk](std::string_view bytes) -> base::Status {
    if (talk.size() < kStderrKept) talk.append(bytes);
    return base::Ok();
  };
  const ports::HostTarget target =
      co_await self->access_.TargetOf(self->job_, self->hosts_[index].number);
  const remote::Call renew = remote::RenewCall(self->RunId(index));
  ports::RemoteCommand asking{.command = renew.command, .input = renew.input};
  JM_CO_ASSIGN_OR_RETURN(const int code, co_await self->world_.shell->Run(target, asking, {}, err));
  // Where the script is not installed, nothing was run.
  if (code != 0 && code != remote::kExitNotInstalled) {
    Error odd{.code = base::Code::kUnavailable,
              .message = "an earlier run of the step cannot be removed: " + talk};
    co_return odd;
  }
  self->hosts_[index].checked = true;
  co_return base::Ok();
}

/// What a run that has ended wrote and is not here yet. A host that does not answer any more is
/// given up after a while; the log ends there then.
base::Task<StageRunner::Outcome> StageRunner::FetchRest(Self self, std::size_t index) {
  base::Duration blamed{0};
  for (int tries = 1;; ++tries) {
    const core::TimePoint began = self->world_.clock->Now();
    Outcome rest = co_await Once(self, index, false);
    if (rest.ok() || IsHopeless(rest.error()) || self->hosts_[index].ended) co_return rest;
    Host& host = self->hosts_[index];
    self->Failing(host, rest.error());
    const bool answered = std::exchange(host.reached, false);
    const base::Duration wait = ReconnectWait(tries, self->world_.random());
    blamed += self->Blame(rest.error(), answered, began, wait);
    if (blamed > kStopMargin) co_return rest;
    co_await base::Sleep(wait);
  }
}

/// The follower may sleep between two looks: takes its place, fetches the rest of the log.
base::Task<void> StageRunner::FinishStopped(Self self, std::size_t index, RunStatus stopped) {
  self->hosts_[index].following.Cancel();
  const auto rest = co_await FetchRest(self, index);
  Host& host = self->hosts_[index];
  if (!rest.ok() && !host.ended) {
    base::Log(base::LogLevel::kWarn, "ssh", "the end of the log of {} on host {} is lost: {}",
              self->RunId(index), host.number, rest.error().ToString());
  }
  if (!host.ended) self->Finish(host, rest.ok() ? *rest : stopped);
  self->Settle(host);
}

base::Task<void> StageRunner::StopHost(Self self, std::size_t index) {
  const base::Duration grace = self->job_->spec.command.grace;
  base::Duration blamed{0};
  for (int tries = 1;; ++tries) {
    std::string answer;
    const ports::ByteSink out = [&answer](std::string_view bytes) -> base::Status {
      if (answer.size() < kStderrKept) answer.append(bytes);
      return base::Ok();
    };
    const core::TimePoint began = self->world_.clock->Now();
    const remote::Call call =
        remote::StopCall(self->RunId(index), grace, self->CommandRun(self->hosts_[index]));
    Outcome outcome = co_await RunScript(self, index, call, out);
    if (self->hosts_[index].settled) co_return;
    if (const auto stopped = remote::ParseStatus(answer); stopped.ok()) {
      co_return co_await FinishStopped(self, index, *stopped);
    }
    Host& host = self->hosts_[index];
    Error error =
        outcome.ok() ? base::Internal("the host gave no status: " + answer) : outcome.error();
    const base::Duration wait = ReconnectWait(tries, self->world_.random());
    if (self->hooks_.cloud_answers()) blamed += wait + (self->world_.clock->Now() - began);
    if (IsHopeless(error) || blamed > grace + kStopMargin) {
      host.following.Cancel();
      if (!host.ended) self->Lose(host, std::move(error));
      co_return self->Settle(host);
    }
    self->hooks_.trouble();
    co_await base::Sleep(wait);
  }
}

/// Until the command there was told, or has ended.
base::Task<void> StageRunner::NotifyHost(Self self, std::size_t index, remote::Call call) {
  for (int tries = 1; !self->hosts_[index].ended; ++tries) {
    std::string answer;
    const ports::ByteSink out = [&answer](std::string_view bytes) -> base::Status {
      if (answer.size() < kStderrKept) answer.append(bytes);
      return base::Ok();
    };
    const Outcome outcome = co_await RunScript(self, index, call, out);
    const auto told = remote::ParseStatus(answer);
    if (told.ok() && told->kind != RunStatus::Kind::kAbsent) break;
    if (!outcome.ok() && IsHopeless(outcome.error())) break;
    co_await base::Sleep(ReconnectWait(tries, self->world_.random()));
  }
  self->hosts_[index].notifying = false;
}

/// The host's metadata server announced something.
void StageRunner::Heed(Host& host, std::string_view talk) {
  const auto notice = remote::ParseNotice(talk);
  if (!notice || host.notice == notice) return;
  host.notice = notice;
  if (!host.ended) Report(host, HostPhase::kRunning, 0, {});
}

void StageRunner::Reached(Host& host) {
  host.last_news = world_.clock->Now();
  if (host.reached) return;
  host.reached = true;
  host.failing.clear();
  host.reached_at = host.last_news;
  if (!host.started) last_output_ = host.last_news;  // it has not had the time to write anything
  host.started = true;
  if (!host.ended) Report(host, HostPhase::kRunning, 0, {});
}

void StageRunner::Failing(Host& host, const Error& error) {
  // Tried every ten seconds for as long as a repair takes: the same again is no news.
  std::string text = error.ToString();
  const bool news = text != host.failing;
  base::Log(news ? base::LogLevel::kInfo : base::LogLevel::kDebug, "ssh", "job {} host {} {}: {}",
            core::FormatJobId(job_->id), host.number, job_->stage->name, text);
  host.failing = std::move(text);
  Report(host, host.started ? HostPhase::kRunning : HostPhase::kPending, 0, error);
  if (!IsOurs(error)) hooks_.trouble();
}

void StageRunner::Finish(Host& host, const RunStatus& status) {
  if (host.scanner) host.scanner->End();
  switch (status.kind) {
    case RunStatus::Kind::kExited:
      host.ended = true;
      host.exit_code = status.exit_code;
      return Report(host, HostPhase::kExited, status.exit_code, {});
    case RunStatus::Kind::kBusy:
      host.ended = true;
      return Report(host, HostPhase::kLost, 0, ChipsBusy(host, status.text));
    case RunStatus::Kind::kRunning:
    case RunStatus::Kind::kLost:
    case RunStatus::Kind::kAbsent:
    case RunStatus::Kind::kError:
      // Not settled: the host answers, and what the run started may live on.
      host.ended = true;
      return Report(host, HostPhase::kLost, 0,
                    Error{.code = base::Code::kAborted,
                          .message = status.text.empty() ? "the run is not there" : status.text});
  }
}

Error StageRunner::ChipsBusy(const Host& host, const std::string& who) const {
  return {.code = base::Code::kUnavailable,
          .message = "its chips are in use: " + who,
          .reason = base::Reason::kChipsBusy,
          .hint = fmt::format("jobman ends only what this job left behind. If it is yours: jobman "
                              "exec {} --host {} -- kill PID",
                              core::FormatJobId(job_->id), host.number)};
}

void StageRunner::Lose(Host& host, Error error) {
  host.ended = true;
  host.settled = true;
  Report(host, HostPhase::kLost, 0, std::move(error));
}

void StageRunner::Settle(Host& host) {
  if (host.settled) return;
  host.settled = true;
  Report(host, HostPhase::kExited, host.exit_code, {});
}

void StageRunner::Report(const Host& host, HostPhase phase, int exit_code,
                         std::optional<Error> error) {
  hooks_.report({.attempt = job_->attempt,
                 .stage = job_->stage->id,
                 .run = {.host = host.number,
                         .phase = phase,
                         .exit_code = exit_code,
                         .error = std::move(error),
                         .settled = host.settled,
                         .scanned = host.scanner ? host.scanner->scanned() : 0,
                         .notice = host.notice}});
}

}  // namespace jobman::controller
