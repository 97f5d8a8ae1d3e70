#include "controller/effects.hpp"

#include <algorithm>
#include <utility>

#include "controller/run_order.hpp"
#include "controller/task_folder.hpp"
#include "jobman/base/log.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/controller/job_folder.hpp"
#include "jobman/remote/setup_script.hpp"

namespace jobman::controller {

using core::Job;

Effects::Effects(asio::io_context& loop, const Ports& ports, const Options& options, Clouds& clouds,
                 JobBook& book, ZoneWatch& watch)
    : loop_(loop),
      ports_(ports),
      options_(options),
      book_(book),
      watch_(watch),
      access_(ports, clouds),
      calls_(loop, ports, options, clouds, book, watch) {}

void Effects::Do(const Job& job, const std::vector<core::Effect>& effects) {
  for (const core::Effect& effect : effects) {
    std::visit([&](const auto& one) { Do(job, one); }, effect);
  }
  if (!job.stage || job.stage->Over()) runners_.erase(job.id);
  access_.ForgetLostNodes(job);
  // A finished job that keeps its slice may be resumed.
  if (!core::NeedsCare(job)) secrets_.erase(job.id.value);
}

void Effects::Remember(const Secrets& secrets) {
  for (const auto& [job, values] : secrets) {
    for (const auto& [name, value] : values) secrets_[job][name] = value;
  }
}

bool Effects::Quiet(core::TimePoint now) const {
  return calls_.Quiet() && std::all_of(runners_.begin(), runners_.end(),
                                       [&](const auto& entry) { return entry.second->Quiet(now); });
}

/// nullptr when the job has another stage by now: a later decision of the same commit ended this
/// one. `begins_here`: no controller has done anything for the stage before.
StageRunner* Effects::RunnerFor(const Job& job, int attempt, const core::StageId& stage,
                                bool begins_here) {
  const bool current = job.stage && job.attempt == attempt && job.stage->id == stage;
  if (!current) {
    base::Log(base::LogLevel::kInfo, "loop",
              "job {}: {} of attempt {} is over: nothing to do there", core::FormatJobId(job.id),
              core::StageWord(stage), attempt);
    return nullptr;
  }
  auto& runner = runners_[job.id];
  if (runner && runner->Runs(attempt, stage)) return runner.get();
  runner.reset();  // of an earlier stage
  if (const auto taken = TakeFolder(options_.paths, job); !taken.ok()) {
    base::Log(base::LogLevel::kError, "loop", "job {}: {}", core::FormatJobId(job.id),
              taken.error().ToString());
  }
  if (job.stage->task) {
    const core::TaskInHand& task = *job.stage->task;
    DropOldRuns(options_.paths, task.queue.value, task.definition.id,
                std::get<core::TaskStage>(stage).run);
  }
  StageHooks hooks = HooksFor(job.id);
  KeyDigest keys = DigestKeys(job, hooks.secret);
  StepRuns steps = StepRunsOf(job, keys);
  runner = std::make_unique<StageRunner>(StageContext{.executor = loop_.get_executor(),
                                                      .ports = ports_,
                                                      .options = options_,
                                                      .access = access_,
                                                      .job = std::make_shared<const Job>(job),
                                                      .hooks = std::move(hooks),
                                                      .transfers = transfers_,
                                                      .keys = std::move(keys),
                                                      .steps = std::move(steps),
                                                      .begins_here = begins_here});
  return runner.get();
}

StageHooks Effects::HooksFor(core::JobId id) {
  StageHooks hooks;
  hooks.report = [this, id](core::HostReport report) { book_.Post(id, std::move(report)); };
  hooks.observed = [this, id](core::Observation seen) { book_.Post(id, std::move(seen)); };
  hooks.trouble = [this, id] {
    const Job* const now = book_.Find(id);
    if (now != nullptr && now->slice) watch_.PollNow(now->spec.cloud, now->slice->ref.place);
  };
  hooks.cloud_answers = [this, id] {
    const Job* const now = book_.Find(id);
    return now != nullptr && watch_.Answers(*now);
  };
  hooks.slice_ready = [this, id] {
    const Job* const now = book_.Find(id);
    return now != nullptr && now->slice && now->slice->ready;
  };
  hooks.secret = [this, id](const core::SecretRef& secret) { return SecretValue(id, secret); };
  return hooks;
}

void Effects::Do(const Job& job, const core::RunStage& run) {
  calls_.BringGuests(job);
  RunnerFor(job, run.attempt, run.stage, !run.again);
}

void Effects::Do(const Job& job, const core::StopStage& stop) {
  if (auto* const runner = RunnerFor(job, stop.attempt, stop.stage)) runner->Stop();
}

void Effects::Do(const Job& job, const core::PassNotice& pass) {
  auto* const runner = RunnerFor(job, pass.attempt, pass.stage);
  if (runner != nullptr) runner->PassNotice(pass.notice, pass.signal);
}

void Effects::Forget(core::JobId id) {
  runners_.erase(id);
  secrets_.erase(id.value);
}

void Effects::Do(const Job& job, const core::AbandonStage& abandon) {
  const auto found = runners_.find(job.id);
  const bool same = found != runners_.end() && found->second->Runs(abandon.attempt, abandon.stage);
  if (same) runners_.erase(found);
}

/// The private key with which the hosts of the job reach each other; made when it is needed first.
/// It goes with the job's folder.
std::optional<std::string> Effects::PeersKey(core::JobId job) const {
  const base::Path folder = options_.paths.JobDir(job.value);
  const base::Path file = folder / remote::kPeersKeyFile;
  const auto made = [&]() -> base::Status {
    JM_TRY(base::EnsureDir(folder));
    const auto line = ports_.public_key(file.string());
    return line.ok() ? base::Ok() : base::Status(line.error());
  }();
  const auto key = base::ReadRegularFile(file, core::kLongestVariable);
  if (!made.ok() || !key.ok()) {
    base::Log(base::LogLevel::kWarn, "ssh", "the key of job {}, {}, cannot be made: {}",
              core::FormatJobId(job), file.string(),
              (made.ok() ? key.error() : made.error()).ToString());
    return {};
  }
  return std::string(base::Trim(*key));
}

std::optional<std::string> Effects::SecretValue(core::JobId job,
                                                const core::SecretRef& secret) const {
  if (secret.name == remote::kPeersKey) return PeersKey(job);
  if (!secret.file.empty()) return SecretInFile(secret.file);
  const auto of_job = secrets_.find(job.value);
  if (of_job != secrets_.end()) {
    const auto found = of_job->second.find(secret.name);
    if (found != of_job->second.end()) return found->second;
  }
  return ports_.get_env(secret.name);
}

}  // namespace jobman::controller
