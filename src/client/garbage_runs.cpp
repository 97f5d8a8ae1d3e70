// Stray runs: runs on hosts that belong to no attempt.
#include <fmt/format.h>

#include "jobman/client/garbage.hpp"
#include "jobman/client/host_target.hpp"
#include "jobman/client/times.hpp"
#include "jobman/ports/records.hpp"
#include "jobman/remote/host_script.hpp"
#include "jobman/ssh/file_limit.hpp"

namespace jobman::client {
namespace {

using base::Status;
using base::Task;

constexpr const char* kRunsAgain = "its job runs again";

ports::ByteSink AppendTo(std::string& text) {
  return [&text](std::string_view bytes) -> Status {
    text.append(bytes);
    return base::Ok();
  };
}

bool HasCreatedHosts(const core::Job& job) {
  return job.slice && job.slice->phase == core::SlicePhase::kCreated && !job.slice->hosts.empty();
}

}  // namespace

Task<Status> GarbageCollector::LookAtHosts(Garbage* garbage) {
  const ports::JobFilter any;
  JM_CO_ASSIGN_OR_RETURN(const auto rows, co_await jobs_->List(any));
  for (const ports::JobSummary& row : rows) {
    const auto job = co_await JobOf(jobs_, row.id);
    if (!job.ok() && ports::IsUnusable(job.error())) continue;
    if (!job.ok()) co_return job.error();
    if (*job && HasCreatedHosts(**job)) JM_CO_TRY(co_await LookAtHostsOf(**job, garbage));
  }
  co_return base::Ok();
}

Task<Status> GarbageCollector::LookAtHostsOf(core::Job job, Garbage* garbage) {
  JM_CO_ASSIGN_OR_RETURN(const std::string store_id, co_await jobs_->StoreId());
  std::map<int, std::string> said;
  std::vector<ssh::FanOutHost> hosts;
  for (int host = 0; host < std::ssize(job.slice->hosts); ++host) {
    JM_CO_ASSIGN_OR_RETURN(ports::HostTarget target, TargetOf(context_.paths, job, host));
    target = co_await vouching_.Complete(job, host, target);
    const std::string runs_here = core::RunIdPrefix(core::OnHost(store_id, job, host));
    hosts.push_back({.host = host,
                     .target = std::move(target),
                     .out = AppendTo(said[host]),
                     .command = remote::ListCall(runs_here).command});
  }
  ssh::FanOutOptions options{.window = ssh::HostsAtOnce()};
  options.patience = kListRunsLimit;
  const ports::RemoteCommand none{.limit = remote::kCallLimit};  // each host has its own command
  const auto result =
      co_await ssh::FanOut(shell_.get(), std::move(hosts), none, std::move(options));
  const auto pinned = co_await vouching_.FirstUses();
  for (const std::string& line : pinned) {
    garbage->first_uses.push_back(fmt::format("job {} {}", core::FormatJobId(job.id), line));
  }
  JM_CO_ASSIGN_OR_RETURN(const auto now, co_await JobOf(jobs_, job.id));
  for (const ssh::HostOutcome& row : result.hosts) {
    if (!row.result.ok()) {
      garbage->silent.push_back({.job = job.id, .host = row.host, .error = row.result.error()});
      continue;
    }
    for (const std::string& run : remote::ParseRunningRuns(said[row.host])) {
      const auto why =
          now ? core::StrayRun(run, core::OnHost(store_id, job, row.host), *now) : std::nullopt;
      if (why)
        garbage->runs.push_back({.job = job.id, .host = row.host, .run_id = run, .why = *why});
    }
  }
  co_return base::Ok();
}

Task<Status> GarbageCollector::IsStillStray(ports::JobStore* jobs, core::JobOnHost on,
                                            std::string run_id) {
  JM_CO_ASSIGN_OR_RETURN(const auto job, co_await JobOf(jobs, on.job));
  if (job && core::StrayRun(run_id, on, *job)) co_return base::Ok();
  base::Error again{.code = base::Code::kAborted, .message = kRunsAgain};
  co_return again;
}

Task<Status> GarbageCollector::TryStop(Garbage::Run* run) {
  JM_CO_ASSIGN_OR_RETURN(const std::string store_id, co_await jobs_->StoreId());
  JM_CO_ASSIGN_OR_RETURN(const auto job, co_await JobOf(jobs_, run->job));
  run->fate = Garbage::Fate::kGone;
  const int hosts = job && job->slice ? static_cast<int>(job->slice->hosts.size()) : 0;
  if (run->host >= hosts) co_return base::Ok();  // it ended with its host
  run->fate = Garbage::Fate::kSpared;
  const core::JobOnHost on = core::OnHost(store_id, *job, run->host);
  if (!core::StrayRun(run->run_id, on, *job)) {
    run->why = kRunsAgain;
    co_return base::Ok();
  }
  JM_CO_ASSIGN_OR_RETURN(ports::HostTarget target, TargetOf(context_.paths, *job, run->host));
  target = co_await vouching_.Complete(*job, run->host, target);
  std::string said;
  const ports::ByteSink take = AppendTo(said);
  const remote::Call call = remote::StopCall(run->run_id, job->spec.command.grace);
  ports::RemoteCommand stop{.command = call.command, .limit = call.limit};
  // Logging in takes a while: meanwhile the job may have been resumed with this run.
  stop.may_begin = [jobs = jobs_, id = run->run_id, on] { return IsStillStray(jobs, on, id); };
  JM_CO_TRY(co_await shell_->Run(std::move(target), std::move(stop), take, take));
  JM_CO_ASSIGN_OR_RETURN(const remote::RunStatus status, remote::ParseStatus(said));
  const bool ended = status.kind == remote::RunStatus::Kind::kExited ||
                     status.kind == remote::RunStatus::Kind::kLost;
  if (!ended) co_return base::Internal("the host answered " + said);
  run->fate = Garbage::Fate::kDeleted;
  co_return base::Ok();
}

Task<Garbage::Run> GarbageCollector::Stop(Garbage::Run run) {
  auto done = co_await TryStop(&run);
  if (done.ok()) co_return run;
  run.fate = Garbage::Fate::kFailed;
  run.error = std::move(done).error();
  co_return run;
}

}  // namespace jobman::client
