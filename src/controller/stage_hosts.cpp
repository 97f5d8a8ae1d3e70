#include "controller/stage_hosts.hpp"

#include <fmt/format.h>

#include <utility>

#include "controller/run_order.hpp"
#include "jobman/base/hash.hpp"
#include "jobman/base/log.hpp"

namespace jobman::controller {

using base::Error;
using core::HostPhase;
using remote::RunStatus;

StageHosts::StageHosts(const StageContext& context) : context_(context) {
  for (const core::HostRun& run : context.job->stage->hosts) {
    hosts_.push_back({.number = run.host,
                      .started = run.phase == HostPhase::kRunning,
                      .asked = !context.begins_here || run.phase != HostPhase::kPending,
                      .ended = core::Ended(run),
                      .settled = run.settled,
                      .exit_code = run.exit_code,
                      .notice = run.notice});
  }
}

std::string StageHosts::RunId(const StageHost& host) const {
  return StageRunOn(*context_.job, context_.options.policy.store_id, host.number, context_.keys,
                    context_.steps);
}

namespace {

/// Right before a call is sent to the host.
base::Task<base::Status> NoteAsked(StageHost* host, Connected then) {
  host->asked = true;
  if (!then) co_return base::Ok();
  co_return co_await then();
}

}  // namespace

base::Task<StageHosts::Answer> StageHosts::Call(std::size_t index, remote::Call call,
                                                ports::ByteSink out) {
  const HostCall aimed = co_await Aim(index, &call, &out);
  co_return co_await CallHost(&aimed);
}

base::Task<HostCall> StageHosts::Aim(std::size_t index, const remote::Call* call,
                                     const ports::ByteSink* out) {
  ports::SharedTarget target =
      co_await context_.access.TargetOf(context_.job, hosts_[index].number);
  Connected tell = co_await TellIfPinned(index, target);
  HostCall aimed{.shell = context_.ports.shell,
                 .target = std::move(target),
                 .call = call,
                 .out = out,
                 .now = [this] { return context_.Now(); }};
  aimed.heard = [this, index](std::string_view talk) { Hear(hosts_[index], talk); };
  aimed.connected = [host = &hosts_[index], tell] { return NoteAsked(host, tell); };
  co_return aimed;
}

base::Task<bool> StageHosts::IsNew(std::size_t index) {
  ports::HostKeyStore* const keys = context_.ports.stores.host_keys;
  if (keys == nullptr || hosts_[index].asked) co_return false;
  ports::SharedTarget target =
      co_await context_.access.TargetOf(context_.job, hosts_[index].number);
  const auto known = co_await keys->PinnedKey(target->identity);
  co_return known.ok() && !*known;
}

namespace {

base::Task<base::Status> TellPin(const StageContext* context, ports::SharedTarget target,
                                 int host) {
  const auto key = co_await context->ports.stores.host_keys->PinnedKey(target->identity);
  if (!key.ok() || !*key) co_return base::Ok();
  context->hooks.observed(core::KeyPinned{.attempt = context->job->attempt,
                                          .host = host,
                                          .key = base::KeyFingerprint(**key),
                                          .why = target->unvouched});
  co_return base::Ok();
}

}  // namespace

base::Task<Connected> StageHosts::TellIfPinned(std::size_t index, ports::SharedTarget target) {
  ports::HostKeyStore* const keys = context_.ports.stores.host_keys;
  if (keys == nullptr || !target->vouched_keys.empty()) co_return Connected{};
  const auto known = co_await keys->PinnedKey(target->identity);
  if (!known.ok() || *known) co_return Connected{};
  const int host = hosts_[index].number;
  Connected tell = [context = &context_, target, host] { return TellPin(context, target, host); };
  co_return tell;
}

/// What a login shell prints says nothing of the run.
void StageHosts::Hear(StageHost& host, std::string_view talk) {
  if (!host.reached && !remote::SaysRunExists(talk)) return;
  Reached(host);
  LookForNotice(host, talk);
}

/// Reports a notice from the host's metadata server.
void StageHosts::LookForNotice(StageHost& host, std::string_view talk) {
  const auto notice = remote::ParseNotice(talk);
  if (!notice || host.notice == notice) return;
  host.notice = notice;
  if (!host.ended) ReportRunning(host);
}

void StageHosts::Reached(StageHost& host) {
  host.last_news = context_.Now();
  if (host.reached) return;
  host.reached = true;
  host.failing.clear();
  host.reached_at = host.last_news;
  if (!host.started) host.wrote_at = host.last_news;  // silence counts from here
  host.started = true;
  if (!host.ended) ReportRunning(host);
}

void StageHosts::Failing(StageHost& host, const Error& error) {
  // Logged once: tries go on every ten seconds, for as long as a repair takes. That the lease is
  // lost is said by the controller, not for each of a thousand hosts.
  std::string text = error.ToString();
  const bool news = text != host.failing && error.reason != base::Reason::kLeaseLost;
  base::Log(news ? base::LogLevel::kInfo : base::LogLevel::kDebug, "ssh", "job {} host {} {}: {}",
            core::FormatJobId(context_.job->id), host.number, context_.job->stage->name, text);
  host.failing = std::move(text);
  Report(host, host.started ? HostPhase::kRunning : HostPhase::kPending, error);
  if (!IsLocalTrouble(error)) context_.hooks.trouble();
}

void StageHosts::Finish(StageHost& host, const RunStatus& status) {
  host.ended = true;
  switch (status.kind) {
    case RunStatus::Kind::kExited:
      host.exit_code = status.exit_code;
      return Report(host, HostPhase::kExited);
    case RunStatus::Kind::kBusy:
      return Report(host, HostPhase::kLost, ChipsBusy(host, status.text));
    case RunStatus::Kind::kLapsed:
      return Report(host, HostPhase::kLost,
                    Error{.code = base::Code::kAborted,
                          .message = LapsedStep(status.text) + " is not done any more",
                          .reason = base::Reason::kSetupLapsed,
                          .hint = "it was restarted, this jobman has another script for the "
                                  "step, or a key of ssh.identities is another"});
    case RunStatus::Kind::kRunning:
    case RunStatus::Kind::kLost:
    case RunStatus::Kind::kAbsent:
    case RunStatus::Kind::kGap:
    case RunStatus::Kind::kError:
      // Not settled: the host answers, and processes of the run may live on.
      return Report(host, HostPhase::kLost,
                    Error{.code = base::Code::kAborted,
                          .message = status.text.empty() ? "the run is not there" : status.text});
  }
}

/// "its setup step venv", for the run of it that has lapsed.
std::string StageHosts::LapsedStep(const std::string& run) const {
  const auto id = core::ParseRunId(run);
  const auto* const setup = id ? std::get_if<core::SetupRun>(&id->what) : nullptr;
  const auto* const step =
      setup == nullptr ? nullptr : core::StepOf(context_.job->spec, core::SetupStage{setup->step});
  return step == nullptr ? "its setup" : "its setup step " + step->name;
}

Error StageHosts::ChipsBusy(const StageHost& host, const std::string& who) const {
  return {.code = base::Code::kUnavailable,
          .message = "its chips are in use: " + who,
          .reason = base::Reason::kChipsBusy,
          .hint = fmt::format("jobman ends only what this job left behind. If it is yours: jobman "
                              "exec {} --host {} -- kill PID",
                              core::FormatJobId(context_.job->id), host.number)};
}

void StageHosts::Lose(StageHost& host, Error error) {
  host.ended = true;
  host.settled = true;
  Report(host, HostPhase::kLost, std::move(error));
}

void StageHosts::Settle(StageHost& host, std::optional<Error> error) {
  if (host.settled) return;
  host.settled = true;
  Report(host, HostPhase::kExited, std::move(error));
}

void StageHosts::ReportRunning(const StageHost& host) {
  Report(host, HostPhase::kRunning);
}

void StageHosts::Report(const StageHost& host, HostPhase phase, std::optional<Error> error) {
  context_.hooks.report({.attempt = context_.job->attempt,
                         .stage = context_.job->stage->id,
                         .run = {.host = host.number,
                                 .phase = phase,
                                 .exit_code = phase == HostPhase::kExited ? host.exit_code : 0,
                                 .error = std::move(error),
                                 .settled = host.settled,
                                 .scanned = host.scanned,
                                 .notice = host.notice}});
}

}  // namespace jobman::controller
