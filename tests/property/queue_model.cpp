#include "tests/property/queue_model.hpp"

#include <utility>
#include <variant>

#include "tests/support/sample_task.hpp"

namespace jobman::test {
namespace {

constexpr int kTaskNames = 4;
constexpr core::JobId kOther{99};

core::TaskWorker OtherWorker() {
  return {.job = kOther, .attempt = 1, .accelerator = "v4-32", .zone = "us-central2-b"};
}

std::string NameOfTask(int number) {
  return "t" + std::to_string(number);
}

}  // namespace

QueueModel::QueueModel(std::uint64_t seed) : random_(seed) {
  for (int i = 0; i < kTaskNames; ++i) {
    core::Task task = SampleTask(NameOfTask(i));
    task.order = i;
    task.definition.max_jobs = 1 + random_.Below(2);
    task.definition.max_retries = 1 + random_.Below(3);
    if (random_.Percent(40)) task.definition.workers = {};
    if (i > 0 && random_.Percent(30)) task.definition.depends_on = {NameOfTask(i - 1)};
    Put(std::move(task));
  }
}

void QueueModel::Put(core::Task task) {
  ++task.version;
  earlier_.push_back(task);
  board_.Put(std::move(task));
}

void QueueModel::ClaimElsewhere(core::Task task, TimePoint now) {
  for (const core::TaskClaim& claim : task.claims) {
    if (claim.job != kOther) continue;
    const core::TaskEnd end = {.kind = static_cast<core::TaskEndKind>(random_.Below(4))};
    return Put(core::ReleaseTask(std::move(task), core::TaskClaim(claim), end, now)->task);
  }
  auto claimed = core::ClaimTask(std::move(task), OtherWorker(), now);
  if (claimed) Put(std::move(claimed->task));
}

void QueueModel::Change(TimePoint now) {
  core::Task task = *board_.Find(NameOfTask(random_.Below(kTaskNames)));
  switch (random_.Below(7)) {
    case 0:
      return Put(core::ResetTask(std::move(task), now));
    case 1:
      return Put(core::RequeueTask(std::move(task), now));
    case 2:
      return Put(core::PauseTask(std::move(task), random_.Percent(30), now));
    case 3:
      return Put(core::PrioritizeTask(std::move(task), random_.Percent(50)));
    case 4:
      return Put(core::MarkTaskDone(std::move(task), now));
    default:
      return ClaimElsewhere(std::move(task), now);
  }
}

std::optional<core::Task> QueueModel::Offer(const core::Job& job, TimePoint now, bool late) {
  if (late) {
    const auto index = random_.Below(static_cast<int>(earlier_.size()));
    return earlier_[static_cast<std::size_t>(index)];
  }
  const auto worker = core::WorkerOf(job);
  const core::Task* const next = worker ? board_.Next(*worker, now) : nullptr;
  return next == nullptr ? std::nullopt : std::optional(*next);
}

bool QueueModel::Commit(const core::Step& step) {
  for (const core::TaskWrite& write : step.tasks) {
    const auto* const change = std::get_if<core::TaskChange>(&write);
    if (change == nullptr) continue;
    const core::Task* const stored = board_.Find(change->task.definition.id);
    if (stored->version != change->task.version) return false;
  }
  for (const core::TaskWrite& write : step.tasks) {
    if (const auto* const change = std::get_if<core::TaskChange>(&write)) {
      Put(change->task);
      continue;
    }
    const auto& release = std::get<core::TaskRelease>(write);
    auto after =
        core::ReleaseTask(*board_.Find(release.task), release.claim, release.end, release.at);
    if (!after) broken_ = "a claim of task " + release.task + " is released twice";
    if (after) Put(std::move(after->task));
  }
  return true;
}

std::string QueueModel::Judge(const core::Job& job) const {
  if (!broken_.empty()) return broken_;
  const bool runs = job.stage && job.stage->task;
  int claims = 0;
  for (const auto& [id, task] : board_.tasks()) {
    if (const auto flaw = core::FlawOf(task)) return "task " + id + ": " + *flaw;
    for (const core::TaskClaim& claim : task.claims) {
      if (claim.job != job.id) continue;
      ++claims;
      const core::StageId stage = core::TaskStage{.task = id, .run = claim.run};
      const bool same = runs && job.stage->id == stage && claim.attempt == job.attempt;
      if (!same) return "task " + id + " is claimed by a job that does not run it";
    }
  }
  if (runs && claims != 1) return "a task runs that the job has not claimed";
  const bool idle = std::holds_alternative<core::Idle>(job.state);
  if (idle && !job.wish_new && job.wish == core::Wish::kCancel) {
    return "a worker that was cancelled waits for another task";
  }
  return {};
}

}  // namespace jobman::test
