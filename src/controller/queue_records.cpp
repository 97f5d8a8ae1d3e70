#include "controller/queue_records.hpp"

#include <algorithm>
#include <utility>

#include "jobman/base/log.hpp"

namespace jobman::controller {
namespace {

/// Each try follows a write of somebody else: users, the ends of runs.
constexpr int kMostSyncs = 10;

bool HoldsClaim(const core::Job& job, core::QueueId queue, const std::string& task,
                const core::TaskClaim& claim) {
  if (job.attempt != claim.attempt || !job.stage || !job.stage->task) return false;
  const auto* const stage = std::get_if<core::TaskStage>(&job.stage->id);
  return stage != nullptr && stage->task == task && stage->run == claim.run &&
         job.stage->task->queue == queue;
}

bool SaysTheSame(ports::QueueReading one, const ports::QueueReading& other) {
  one.at = other.at;
  return one == other;
}

}  // namespace

base::Task<base::Status> QueueRecords::Open() {
  JM_CO_ASSIGN_OR_RETURN(const core::QueueId id, co_await ports_.stores.queues->OpenQueue(file_));
  JM_CO_ASSIGN_OR_RETURN(const auto queues, co_await ports_.stores.queues->Queues());
  for (const ports::Queue& queue : queues)
    if (queue.id == id) reading_ = queue.reading;
  id_ = id;
  co_return base::Ok();
}

base::Task<base::Status> QueueRecords::Refresh() {
  if (!id_) {
    JM_CO_TRY(co_await Open());
  }
  for (;;) {
    const std::int64_t after = change_;
    auto read = co_await ports_.stores.queues->Tasks(id_, after);
    if (!read.ok()) {
      // Another store may have been put in its place.
      if (read.error().code == base::Code::kNotFound) id_ = {};
      co_return read.error();
    }
    if (change_ != after) continue;  // a call that began later has ended before
    Take(std::move(read).value());
    co_return base::Ok();
  }
}

void QueueRecords::Take(ports::TasksRead read) {
  if (read.complete) board_ = core::TaskBoard{};
  for (core::Task& task : read.tasks) board_.Put(std::move(task));
  for (const ports::TaskSetAside& task : read.set_aside) {
    board_.Erase(task.id);
    base::Log(base::LogLevel::kWarn, "queue", "task {} is left alone: {}", task.id, task.why);
  }
  change_ = read.change;
  loaded_ = true;
}

base::Task<base::Result<std::size_t>> QueueRecords::Sync(ports::QueueReading reading,
                                                         std::optional<core::TaskList> list) {
  if (!list) reading.fingerprint = reading_.fingerprint;  // the tasks are still of that one
  for (int tries = 0; tries < kMostSyncs; ++tries) {
    JM_CO_TRY(co_await Refresh());
    std::vector<core::Task> changed;
    if (list) changed = core::SyncTasks(*list, board_, id_, ports_.clock->Now());
    const std::size_t count = changed.size();
    if (changed.empty() && SaysTheSame(reading, reading_)) co_return count;
    const base::Status written =
        co_await ports_.stores.queues->SyncQueue(id_, reading, std::move(changed), lease_token_);
    if (written.ok()) {
      reading_ = reading;
      co_return count;
    }
    if (written.error().reason != base::Reason::kStale) co_return written.error();
  }
  co_return base::Error{.code = base::Code::kAborted,
                        .message = "the tasks of the queue change all the time",
                        .reason = base::Reason::kStale};
}

/// A claim and its stage are written together, and never again. So if the job as it is read after
/// the claim was seen does not have it, the run has ended, or nobody will ever end it.
base::Task<base::Result<bool>> QueueRecords::IsOrphan(std::string task, core::TaskClaim claim) {
  const auto job = co_await ports_.stores.jobs->Get(claim.job);
  if (job.ok()) co_return !HoldsClaim(*job, id_, task, claim);
  if (job.error().code == base::Code::kNotFound) co_return true;
  // A job that is set aside may run it.
  const bool aside =
      job.error().reason == base::Reason::kNewerStore || job.error().code == base::Code::kDataLoss;
  if (aside) co_return false;
  co_return job.error();
}

base::Task<base::Status> QueueRecords::EndOrphans(const JobBook& book) {
  std::vector<core::TaskRelease> suspects;
  for (const auto& [id, task] : board_.tasks()) {
    for (const core::TaskClaim& claim : task.claims) {
      const core::Job* const job = book.Find(claim.job);
      if (job != nullptr && HoldsClaim(*job, id_, id, claim)) continue;
      suspects.push_back({.queue = id_, .task = id, .claim = claim});
    }
  }
  std::vector<core::TaskRelease> orphans;
  for (core::TaskRelease& release : suspects) {
    JM_CO_ASSIGN_OR_RETURN(const bool orphan, co_await IsOrphan(release.task, release.claim));
    if (!orphan) continue;
    release.end = {
        .kind = core::TaskEndKind::kInterrupted, .slice_lost = true, .why = "its worker is gone"};
    release.at = ports_.clock->Now();
    base::Log(base::LogLevel::kWarn, "queue", "run {} of task {}: its worker, job {}, is gone",
              release.claim.run, release.task, core::FormatJobId(release.claim.job));
    orphans.push_back(std::move(release));
  }
  if (orphans.empty()) co_return base::Ok();
  JM_CO_TRY(co_await ports_.stores.queues->ReleaseTasks(std::move(orphans), lease_token_));
  co_return co_await Refresh();
}

}  // namespace jobman::controller
