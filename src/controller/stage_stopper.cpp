#include "controller/stage_stopper.hpp"

#include "controller/run_order.hpp"
#include "jobman/base/log.hpp"
#include "jobman/controller/times.hpp"

namespace jobman::controller {
namespace {

/// No reason is given: the host may be well, and its slice of use to the next attempt.
base::Error NothingRunsThere(const base::Error& error) {
  return {.code = base::Code::kAborted,
          .message = "nothing was sent to it, so nothing runs there: " + error.message,
          .hint = error.hint};
}

}  // namespace

StageStopper::StageStopper(const StageContext& context, StageHosts& hosts, StageFollower& follower)
    : context_(context), hosts_(hosts), follower_(follower), scopes_(hosts.size()) {}

void StageStopper::Stop() {
  for (std::size_t index = 0; index < hosts_.size(); ++index) {
    StageHost& host = hosts_[index];
    if (host.settled || host.stopping) continue;
    host.stopping = true;
    base::Spawn(context_.executor, scopes_[index], StopHost(index));
  }
}

remote::Call StageStopper::CallFor(const StageHost& host) const {
  return remote::StopCall(
      hosts_.RunId(host), context_.job->spec.command.grace,
      OlderRunsOn(*context_.job, context_.options.policy.store_id, host.number));
}

base::Task<void> StageStopper::StopHost(std::size_t index) {
  const base::Duration limit = context_.job->spec.command.grace + remote::kStopMargin;
  const core::TimePoint asked_at = context_.Now();
  base::Duration unreachable_for{0};
  for (int tries = 1;; ++tries) {
    std::string said;
    const ports::ByteSink out = KeepIn(&said);
    const core::TimePoint began = context_.Now();
    const remote::Call call = CallFor(hosts_[index]);
    const auto answer = co_await hosts_.Call(index, call, out);
    if (hosts_[index].settled) co_return;
    if (const auto stopped = remote::ParseStatus(said); stopped.ok()) {
      co_return co_await follower_.FinishStopped(index, *stopped);
    }
    base::Error error =
        answer.ok() ? base::Internal("the host gave no status: " + said) : answer.error();
    const base::Duration wait = ReconnectWait(tries, context_.ports.random());
    if (context_.hooks.cloud_answers()) unreachable_for += wait + (context_.Now() - began);
    const bool long_ago = context_.Now() - asked_at > limit + kSilentCloudLimit;
    if (!hosts_[index].asked) co_return GiveUp(index, NothingRunsThere(error));
    if (IsPermanent(error) || unreachable_for > limit || long_ago)
      co_return GiveUp(index, std::move(error));
    context_.hooks.trouble();
    co_await base::Sleep(wait);
  }
}

void StageStopper::GiveUp(std::size_t index, base::Error error) {
  StageHost& host = hosts_[index];
  base::Log(base::LogLevel::kWarn, "ssh", "job {}: going on without host {}: {}",
            core::FormatJobId(context_.job->id), host.number, error.ToString());
  follower_.Stop(index);
  if (!host.ended) return hosts_.Lose(host, std::move(error));
  hosts_.Settle(host, std::move(error));
}

}  // namespace jobman::controller
