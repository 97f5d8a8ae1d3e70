#include "controller/effects.hpp"

#include <algorithm>

#include "jobman/base/log.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/controller/slice_request.hpp"

namespace jobman::controller {

using core::Job;

Effects::Effects(asio::io_context& loop, const World& world, const Options& options, Clouds& clouds,
                 JobBook& book, ZoneWatch& watch)
    : loop_(loop),
      world_(world),
      options_(options),
      clouds_(clouds),
      book_(book),
      watch_(watch),
      access_(world, clouds) {}

Effects::~Effects() {
  scope_.Cancel();
  for (auto& [id, runner] : runners_) runner->Abandon();
}

void Effects::Do(const Job& job, const std::vector<core::Effect>& effects) {
  for (const core::Effect& effect : effects) {
    std::visit([&](const auto& one) { Act(job, one); }, effect);
  }
  const bool stage_over = !job.stage || job.stage->Over();
  if (stage_over) Act(job, core::AbandonStage{});
  // One that is over and holds its slice may be resumed.
  if (!core::NeedsCare(job)) secrets_.erase(job.id.value);
}

void Effects::Remember(const Secrets& secrets) {
  for (const auto& [job, values] : secrets) {
    for (const auto& [name, value] : values) secrets_[job][name] = value;
  }
}

bool Effects::Quiet(core::TimePoint now) const {
  return creating_.empty() && deleting_.empty() &&
         std::all_of(runners_.begin(), runners_.end(),
                     [&](const auto& entry) { return entry.second->Quiet(now); });
}

void Effects::Act(const Job& job, const core::CreateSlice&) {
  if (!job.slice || !creating_.insert(job.slice->ref.name).second) return;
  base::Spawn(loop_.get_executor(), scope_, Create(this, job));
}

void Effects::Act(const Job& job, const core::DeleteSlice&) {
  if (!job.slice || !deleting_.insert(job.slice->ref.name).second) return;
  base::Spawn(loop_.get_executor(), scope_, Delete(this, job));
}

base::Task<core::CreateAnswered> Effects::AskForSlice(Job job) {
  core::CreateAnswered answer{.slice = job.slice->ref.name};
  const auto key = world_.public_key(job.spec.ssh.private_key);
  auto cloud = clouds_.Get(job.spec.cloud);
  if (!key.ok() || !cloud.ok()) {
    answer.error = key.ok() ? cloud.error() : key.error();
    co_return answer;
  }
  const auto api = *std::move(cloud);
  auto request = MakeSliceRequest(job, options_.policy.store_id, *key);
  const auto parts = core::PartsOf(job.slice->ref);
  for (const core::SliceRef& part : parts) {
    request.ref = part;
    const auto created = co_await api->Create(request);
    if (created.ok()) {
      answer.operations.push_back(created->name);
    } else if (parts.size() == 1 || created.error().code != base::Code::kAlreadyExists) {
      answer.error = created.error();
      break;
    }
    // Or there from an earlier request: the next look tells whose it is.
    answer.accepted.push_back(part.name);
  }
  co_return answer;
}

base::Task<void> Effects::Create(Effects* self, Job job) {
  auto answer = co_await self->AskForSlice(job);
  self->creating_.erase(job.slice->ref.name);
  if (answer.error) {
    base::Log(base::LogLevel::kWarn, "cloud", "creating slice {}: {}", answer.slice,
              answer.error->ToString());
  }
  self->book_.Post(job.id, std::move(answer));
  self->watch_.Hurry(job);
}

base::Task<core::DeleteAnswered> Effects::AskToDelete(Job job) {
  core::DeleteAnswered answer{.slice = job.slice->ref.name, .began = world_.clock->Now()};
  auto cloud = clouds_.Get(job.spec.cloud);
  if (!cloud.ok()) {
    answer.error = cloud.error();
    co_return answer;
  }
  const auto api = *std::move(cloud);
  answer.gone = true;
  for (const core::SliceRef& part : core::PartsOf(job.slice->ref)) {
    const auto deleted = co_await DeletePart(api, job, part);
    if (!deleted.ok()) answer.error = deleted.error();
    if (!deleted.ok() || *deleted) answer.gone = false;
  }
  // Nodes that outlive their queued resource hold quota, and no delete of its name meets them.
  const bool orphans = answer.gone && job.slice->ref.mode == core::AllocationMode::kQueuedResources;
  if (!orphans) co_return answer;
  for (const std::string& id : core::NodeIds(job.slice->ref)) {
    const core::SliceRef node{
        .mode = core::AllocationMode::kTpuVm, .place = job.slice->ref.place, .name = id};
    const auto deleted = co_await DeletePart(api, job, node);
    if (!deleted.ok()) answer.error = deleted.error();
    if (!deleted.ok() || *deleted) answer.gone = false;
  }
  co_return answer;
}

/// Nothing without our labels is ever deleted: looks at them first. Tells whether there was
/// anything of ours.
base::Task<base::Result<bool>> Effects::DeletePart(std::shared_ptr<ports::SliceApi> api, Job job,
                                                   core::SliceRef part) {
  const auto labels = co_await LabelsOf(api, part);
  if (!labels.ok()) {
    if (labels.error().code == base::Code::kNotFound) co_return false;
    co_return labels.error();
  }
  if (!core::IsOurs(*labels, job, options_.policy.store_id)) co_return false;
  const auto deleted = co_await api->Delete(part);
  if (deleted.ok()) co_return true;
  if (deleted.error().code == base::Code::kNotFound) co_return false;
  co_return deleted.error();
}

base::Task<base::Result<Effects::Labels>> Effects::LabelsOf(std::shared_ptr<ports::SliceApi> api,
                                                            core::SliceRef part) {
  if (part.mode == core::AllocationMode::kTpuVm) {
    const auto node = co_await api->GetNode(part.place, part.name);
    if (!node.ok()) co_return node.error();
    co_return node->labels;
  }
  const auto queued = co_await api->GetQueued(part.place, part.name);
  if (!queued.ok()) co_return queued.error();
  co_return queued->labels;
}

base::Task<void> Effects::Delete(Effects* self, Job job) {
  const std::string name = job.slice->ref.name;
  // A create that is still under way would bring back what the delete does not find.
  while (self->creating_.contains(name)) co_await base::Sleep(std::chrono::milliseconds{50});
  auto answer = co_await self->AskToDelete(job);
  self->deleting_.erase(name);
  self->book_.Post(job.id, std::move(answer));
  self->watch_.Hurry(job);
}

std::shared_ptr<StageRunner> Effects::RunnerFor(const Job& job) {
  auto& runner = runners_[job.id];
  if (runner && runner->attempt() == job.attempt && runner->stage() == job.stage->name) {
    return runner;
  }
  if (runner) runner->Abandon();
  const core::JobId id = job.id;
  StageRunner::Hooks hooks;
  hooks.report = [this, id](core::HostReport report) { book_.Post(id, std::move(report)); };
  hooks.notice = [this, id](core::Observation seen) { book_.Post(id, std::move(seen)); };
  hooks.trouble = [this, id] {
    if (const Job* now = book_.Find(id)) watch_.Hurry(*now);
  };
  hooks.cloud_answers = [this, id] {
    const Job* now = book_.Find(id);
    return now != nullptr && watch_.Answers(*now);
  };
  hooks.slice_ready = [this, id] {
    const Job* now = book_.Find(id);
    return now != nullptr && now->slice && now->slice->ready;
  };
  hooks.secret = [this, id](const core::SecretRef& secret) { return SecretValue(id, secret); };
  runner = std::make_shared<StageRunner>(loop_.get_executor(), world_, options_, access_, job,
                                         std::move(hooks));
  runner->Start();
  return runner;
}

void Effects::Act(const Job& job, const core::RunStage&) {
  if (job.stage && job.slice) RunnerFor(job);
}

void Effects::Act(const Job& job, const core::StopStage&) {
  if (job.stage && job.slice) RunnerFor(job)->Stop();
}

void Effects::Act(const Job& job, const core::NotifyStage&) {
  if (!job.stage || !job.slice) return;
  const auto& notice = job.stage->notice ? job.stage->notice : job.slice->notice;
  if (!notice) return;
  const bool told_only = !job.stage->notice;
  RunnerFor(job)->Notify(*notice, told_only ? "none" : job.spec.command.on_notice.signal);
}

void Effects::Act(const Job& job, const core::AbandonStage&) {
  const auto found = runners_.find(job.id);
  if (found == runners_.end()) return;
  const auto runner = found->second;
  runners_.erase(found);
  runner->Abandon();
}

std::optional<std::string> Effects::SecretValue(core::JobId job,
                                                const core::SecretRef& secret) const {
  if (!secret.file.empty()) {
    const auto content =
        base::ReadRegularFile(base::ExpandHome(secret.file), 2 * core::kLongestVariable);
    if (!content.ok()) return {};
    return std::string(base::Trim(*content));
  }
  const auto of_job = secrets_.find(job.value);
  if (of_job != secrets_.end()) {
    const auto found = of_job->second.find(secret.name);
    if (found != of_job->second.end()) return found->second;
  }
  return world_.get_env(secret.name);
}

}  // namespace jobman::controller
