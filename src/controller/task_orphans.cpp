#include "controller/task_orphans.hpp"

#include <string>
#include <utility>
#include <variant>

#include "jobman/ports/records.hpp"

namespace jobman::controller {
namespace {

bool HasRun(const core::Job& job, const core::TaskRelease& run) {
  if (job.attempt != run.claim.attempt || !job.stage || !job.stage->task) return false;
  const auto* const stage = std::get_if<core::TaskStage>(&job.stage->id);
  return stage != nullptr && stage->task == run.task && stage->run == run.claim.run &&
         job.stage->task->queue == run.queue;
}

/// A claim and its stage are written together, and never again. So if the job as it is read after
/// the claim was seen does not have it, the run has ended, or nobody will ever end it.
base::Task<base::Result<bool>> IsOrphan(const Ports& ports, core::TaskRelease run) {
  const auto job = co_await ports.stores.jobs->Get(run.claim.job);
  if (job.ok()) co_return !HasRun(*job, run);
  if (job.error().code == base::Code::kNotFound) co_return true;
  // A job that is set aside may run it.
  if (ports::IsUnusable(job.error())) co_return false;
  co_return job.error();
}

/// Claims of jobs that the book has are compared without a look at the store.
std::vector<core::TaskRelease> Suspects(const JobBook& book, const core::TaskBoard& board) {
  std::vector<core::TaskRelease> suspects;
  for (const auto& [id, task] : board.tasks()) {
    for (const core::TaskClaim& claim : task.claims) {
      core::TaskRelease run{.queue = task.queue, .task = id, .claim = claim};
      const core::Job* const job = book.Find(claim.job);
      if (job == nullptr || !HasRun(*job, run)) suspects.push_back(std::move(run));
    }
  }
  return suspects;
}

}  // namespace

base::Task<base::Result<std::vector<core::TaskRelease>>> FindOrphans(const Ports& ports,
                                                                     const JobBook& book,
                                                                     const core::TaskBoard& board,
                                                                     core::TimePoint now) {
  std::vector<core::TaskRelease> orphans;
  for (core::TaskRelease& run : Suspects(book, board)) {
    JM_CO_ASSIGN_OR_RETURN(const bool orphan, co_await IsOrphan(ports, run));
    if (!orphan) continue;
    run.end.kind = core::TaskEndKind::kInterrupted;
    run.end.slice_lost = true;
    run.end.why = "its worker is gone";
    run.at = now;
    orphans.push_back(std::move(run));
  }
  co_return orphans;
}

}  // namespace jobman::controller
