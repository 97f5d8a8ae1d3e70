#include "controller/stage_follower.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "controller/file_sender.hpp"
#include "controller/run_order.hpp"
#include "jobman/base/capped_file.hpp"
#include "jobman/base/file_times.hpp"
#include "jobman/base/log.hpp"
#include "jobman/controller/host_target.hpp"
#include "jobman/controller/times.hpp"
#include "jobman/remote/setup_script.hpp"

namespace jobman::controller {

using base::Error;
using remote::RunStatus;

namespace {

/// Skips the part of the log that is gone, and says so as an error: the rest of it is fetched as
/// after a broken connection.
Error SkipGap(base::CappedFile& log, base::FileGap gap) {
  if (base::Status skipped = log.Skip(gap); !skipped.ok()) return std::move(skipped).error();
  return {.code = base::Code::kUnavailable,
          .message = fmt::format("{} bytes of its log are gone: it grew past logs.max_bytes while "
                                 "nobody fetched it",
                                 gap.end - gap.begin)};
}

/// The host has a new disk: the run is to be started again.
Error Forgotten(StageHost& host) {
  host.started = false;
  return {.code = base::Code::kUnavailable, .message = "the host does not know the run"};
}

/// How the code was sent. The host said that it could not take it, or was not reached to the end;
/// what is wrong here stays wrong.
bool IsToBeTriedAgain(const base::Result<RunStatus>& sent) {
  return sent.ok() ? sent->kind == RunStatus::Kind::kError : !IsPermanent(sent.error());
}

}  // namespace

StageFollower::StageFollower(const StageContext& context, StageHosts& hosts, OutputWatch& watch)
    : context_(context), hosts_(hosts), watch_(watch) {
  for (const core::HostRun& run : context.job->stage->hosts) {
    parts_.push_back({.unreachable_for = run.silent_since ? UnreachableBefore(*run.silent_since)
                                                          : base::Duration{0}});
  }
}

/// An earlier controller could not reach the host; this one gives up only after a few tries of its
/// own.
base::Duration StageFollower::UnreachableBefore(core::TimePoint since) const {
  const base::Duration most = context_.options.unreachable_limit - kOwnTries;
  const base::Duration passed = context_.Now() - since;
  return std::max(base::Duration{0}, std::min(passed, most));
}

void StageFollower::Start() {
  for (std::size_t index = 0; index < hosts_.size(); ++index) {
    if (!hosts_[index].ended) base::Spawn(context_.executor, parts_[index].scope, Follow(index));
  }
}

base::Task<void> StageFollower::Follow(std::size_t index) {
  StageHost& host = hosts_[index];
  base::Duration& unreachable_for = parts_[index].unreachable_for;
  for (int tries = 1;; ++tries) {
    const core::TimePoint began = context_.Now();
    const Answer answer = co_await FollowOnce(index, true);
    // While a run is being stopped, only the stopper reports its end: the command may have ended
    // and left children behind.
    if (host.ended || host.stopping) co_return;
    if (answer.ok()) co_return Finish(index, *answer);
    const bool answered = EndContact(host, answer.error());
    if (answered) {
      tries = 1;
      unreachable_for = base::Duration{0};
    }
    if (IsPermanent(answer.error())) co_return hosts_.Lose(host, answer.error());
    hosts_.Failing(host, answer.error());
    const base::Duration wait = ReconnectWait(tries, context_.ports.random());
    // During maintenance or repair no host answers, however long it takes.
    if (context_.hooks.slice_ready())
      unreachable_for += UnreachableTime(answer.error(), answered,
                                         std::max(began, parts_[index].contact_at), wait);
    if (unreachable_for > context_.options.unreachable_limit)
      co_return hosts_.Lose(host, answer.error());
    co_await base::Sleep(wait);
  }
}

/// Whether the host was there until the connection failed. One that begins to answer and then hangs
/// was not.
bool StageFollower::EndContact(StageHost& host, const Error& error) {
  const bool hung = error.reason == base::Reason::kHostHangs;
  const base::Duration lasted = host.last_news - host.reached_at;
  return std::exchange(host.reached, false) && !(hung && lasted < remote::kLongestSilence);
}

/// How long a failed try and the wait after it left the host unreachable. The time before a
/// connection broke does not count.
base::Duration StageFollower::UnreachableTime(const Error& error, bool answered,
                                              core::TimePoint began, base::Duration wait) const {
  if (!context_.hooks.cloud_answers() || IsLocalTrouble(error)) return base::Duration{0};
  return answered ? wait : wait + (context_.Now() - began);
}

/// Opens the log, once an earlier attempt's run of the step is out of the way and the watchdog has
/// read what was fetched before.
base::Task<base::Status> StageFollower::PrepareLog(std::size_t index, bool may_start,
                                                   std::optional<base::CappedFile>* log) {
  const core::Job& job = *context_.job;
  const StageHost& host = hosts_[index];
  if (may_start && core::IsSetup(job.stage->id) && job.attempt > 1 && !host.started) {
    JM_CO_TRY(co_await Renew(index));
  }
  const base::Path path = context_.LogPath(host.number);
  JM_CO_TRY(base::EnsureDir(path.parent_path()));
  JM_CO_ASSIGN_OR_RETURN(base::CappedFile opened,
                         base::CappedFile::Open(path, job.spec.logs.max_bytes));
  log->emplace(std::move(opened));
  co_return co_await watch_.ReadOldLog(index, (*log)->size());
}

/// Fills in `call`, which starts the run. `startable` says why it cannot be started; an earlier
/// controller may have started it all the same. Returns how this try has ended, if it has. Apart
/// from FollowOnce(), as a thousand coroutines that follow a run need no room for it.
base::Task<std::optional<StageFollower::Answer>> StageFollower::PrepareStart(
    std::size_t index, std::int64_t log_size, remote::Call* call, base::Status* startable) {
  const core::Job& job = *context_.job;
  auto order = Order(index);
  if (order.ok() && core::BuiltInOf(job.spec, job.stage->id) == core::BuiltIn::kCode) {
    const Answer sent = co_await SendCode(index);
    if (IsToBeTriedAgain(sent)) co_return sent;
    if (!sent.ok()) order = sent.error();
  }
  if (!order.ok()) {
    *startable = order.error();
    co_return std::nullopt;
  }
  co_await LearnPeers();
  auto run = remote::RunCall(*order, log_size);
  if (!run.ok()) co_return Answer(run.error());
  *call = std::move(run).value();
  call->late_input = [this, index] { return OrderText(index); };
  static_cast<void>(std::exchange(call->input, {}));
  const bool is_new = co_await hosts_.IsNew(index);
  call->bring_script = is_new || std::exchange(parts_[index].bare, false);
  co_return std::nullopt;
}

/// Starts or follows the run over one connection, and takes its output.
base::Task<StageFollower::Answer> StageFollower::FollowOnce(std::size_t index, bool may_start,
                                                            std::optional<base::Duration> limit) {
  std::optional<base::CappedFile> log;
  JM_CO_TRY(co_await PrepareLog(index, may_start, &log));
  base::FileTimesWriter times(log->path());
  const ports::ByteSink out = [&log, &times, this, index](std::string_view bytes) -> base::Status {
    hosts_.Reached(hosts_[index]);
    if (!bytes.empty()) times.Record(log->size(), context_.Now(), std::ssize(bytes));
    JM_TRY(log->Append(bytes));
    watch_.Take(index, bytes);
    return base::Ok();
  };
  const bool start = may_start && !hosts_[index].started;
  remote::Call call = remote::FollowCall(hosts_.RunId(hosts_[index]), log->size());
  base::Status startable = base::Ok();
  if (start) {
    const auto ended = co_await PrepareStart(index, log->size(), &call, &startable);
    if (ended) co_return *ended;
  }
  call.limit = limit;
  const HostCall aimed = co_await hosts_.Aim(index, &call, &out);
  Answer answer = co_await CallHost(&aimed);
  if (!answer.ok()) co_return answer;
  if (answer->kind == RunStatus::Kind::kGap) co_return SkipGap(*log, answer->gap);
  if (answer->kind != RunStatus::Kind::kAbsent) co_return answer;
  if (!startable.ok()) co_return startable.error();
  if (may_start && !start) co_return Forgotten(hosts_[index]);
  co_return answer;
}

/// Time in which the host takes the file does not count as unreachable.
base::Task<StageFollower::Answer> StageFollower::SendCode(std::size_t index) {
  const core::Job& job = *context_.job;
  const core::CodeSnapshot& code = job.spec.code.snapshot;
  const std::string& store = context_.options.policy.store_id;
  const int host = hosts_[index].number;
  FileToSend file{.name = CodeFileOf(job, store, host),
                  .path = context_.options.paths.CodeFile(job.id.value, code.sha256),
                  .bytes = code.packed,
                  .sha256 = code.sha256,
                  .host = host,
                  .relayed = job.spec.ssh.host_to_host && job.slice->hosts.size() > 1,
                  .replaces = remote::CodeFilePrefix(core::OnHost(store, job, host))};
  ports::SharedTarget target = co_await context_.access.TargetOf(context_.job, host);
  Connected connected = co_await hosts_.TellIfPinned(index, target);
  std::function<void()> contact = [this, index] { parts_[index].contact_at = context_.Now(); };
  co_return co_await SendFile(&context_, std::move(target), std::move(file), std::move(contact),
                              std::move(connected));
}

/// What this host is to run, without what LearnPeers() learns.
base::Result<remote::RunOrder> StageFollower::Order(std::size_t index) const {
  const core::Job& job = *context_.job;
  const auto& options = context_.options;
  return OrderFor(job, hosts_[index].number,
                  {.store_id = options.policy.store_id,
                   .job_dir = options.paths.JobDir(job.id.value).string(),
                   .secret = context_.hooks.secret,
                   .keys = context_.keys,
                   .steps = context_.steps});
}

/// The same as it is sent. It names all hosts of the slice, so it is made when it is needed, not
/// while a thousand hosts wait for their connections.
base::Result<std::string> StageFollower::OrderText(std::size_t index) const {
  const core::Job& job = *context_.job;
  JM_ASSIGN_OR_RETURN(remote::RunOrder order, Order(index));
  if (core::BuiltInOf(job.spec, job.stage->id) == core::BuiltIn::kPeers) {
    order.env[remote::kPeersHosts] = known_hosts_;
    const int port = TargetOf(job, 0, context_.ports.ssh_port(job.spec.cloud)).port;
    if (port != remote::kUsualSshPort) order.env[remote::kPeersPort] = std::to_string(port);
  }
  JM_ASSIGN_OR_RETURN(remote::Call call, remote::RunCall(order, 0));
  return std::move(call.input);
}

/// The step host-to-host is told what only the cloud knows: the keys of the other hosts.
base::Task<void> StageFollower::LearnPeers() {
  const core::Job& job = *context_.job;
  if (core::BuiltInOf(job.spec, job.stage->id) != core::BuiltIn::kPeers) co_return;
  if (known_hosts_.empty()) known_hosts_ = co_await context_.access.KnownHosts(context_.job);
}

/// Keeps this setup step's run of an earlier attempt if it succeeded since the host booted, unless
/// it must look again, and otherwise removes it, so that it runs again.
base::Task<base::Status> StageFollower::Renew(std::size_t index) {
  if (parts_[index].renewed) co_return base::Ok();
  std::string talk;
  const ports::ByteSink err = KeepIn(&talk);
  const ports::SharedTarget target =
      co_await context_.access.TargetOf(context_.job, hosts_[index].number);
  const auto built_in = core::BuiltInOf(context_.job->spec, context_.job->stage->id);
  const bool again = built_in && (core::MayVanish(*built_in) || core::IsShared(*built_in));
  const remote::Call renew = remote::RenewCall(hosts_.RunId(hosts_[index]), again);
  ports::RemoteCommand asking = CommandOf(renew);
  asking.may_begin = co_await hosts_.TellIfPinned(index, target);
  JM_CO_ASSIGN_OR_RETURN(const int code,
                         co_await context_.ports.shell->Run(target, asking, {}, err));
  // Where the script is not installed, there was no run.
  if (code != 0 && code != remote::kExitNotInstalled) {
    Error odd{.code = base::Code::kUnavailable,
              .message = "an earlier run of the step cannot be removed: " + talk};
    co_return odd;
  }
  parts_[index].renewed = true;
  parts_[index].bare = code == remote::kExitNotInstalled;
  co_return base::Ok();
}

/// Fetches the rest of the log of a run that has ended. A host that does not answer, or that never
/// comes to an end, is given up after a while; its log stays incomplete. While the disk here is
/// full, nothing is given up.
base::Task<StageFollower::Answer> StageFollower::FetchRest(std::size_t index) {
  StageHost& host = hosts_[index];
  base::Duration unreachable_for{0};
  base::Duration fetched_for{0};
  for (int tries = 1;; ++tries) {
    const core::TimePoint began = context_.Now();
    Answer rest = co_await FollowOnce(index, false, remote::kFetchLimit - fetched_for);
    if (rest.ok() || IsPermanent(rest.error()) || host.ended) co_return rest;
    hosts_.Failing(host, rest.error());
    const bool answered = EndContact(host, rest.error());
    const base::Duration wait = ReconnectWait(tries, context_.ports.random());
    unreachable_for += UnreachableTime(rest.error(), answered, began, wait);
    if (!IsLocalTrouble(rest.error())) fetched_for += context_.Now() - began;
    if (unreachable_for > remote::kStopMargin || fetched_for >= remote::kFetchLimit) co_return rest;
    co_await base::Sleep(wait);
  }
}

base::Task<void> StageFollower::FinishStopped(std::size_t index, RunStatus stopped) {
  Stop(index);
  const Answer rest = co_await FetchRest(index);
  StageHost& host = hosts_[index];
  if (!rest.ok() && !host.ended) {
    base::Log(base::LogLevel::kWarn, "ssh", "the end of the log of {} on host {} is lost: {}",
              hosts_.RunId(host), host.number, rest.error().ToString());
  }
  if (!host.ended) Finish(index, rest.ok() ? *rest : stopped);
  hosts_.Settle(host);
}

void StageFollower::Finish(std::size_t index, const RunStatus& status) {
  watch_.End(index);
  hosts_.Finish(hosts_[index], status);
}

}  // namespace jobman::controller
