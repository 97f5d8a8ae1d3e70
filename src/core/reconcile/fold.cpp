#include <variant>

#include "core/reconcile/facts.hpp"
#include "core/reconcile/fold_parts.hpp"

namespace jobman::core {
namespace {

/// The slice that an observation is about, if the job still holds it.
Slice* HeldSlice(Job& job, const std::string& name) {
  return job.slice && job.slice->ref.name == name ? &*job.slice : nullptr;
}

/// If the slice of an abandoned request was created after all, it stays listed until it is deleted.
void DropUnseen(std::vector<AbandonedRequest>& abandoned, const SliceSeen& seen) {
  const bool there = !seen.foreign && (seen.queued || !seen.nodes.empty());
  std::erase_if(abandoned, [&](const AbandonedRequest& one) {
    return one.ref.name == seen.slice && !there && seen.began >= one.until;
  });
}

struct Folder {
  Job& job;
  TimePoint now;

  Facts operator()(const Tick&) const { return {}; }
  Facts operator()(const SliceSeen& seen) const {
    DropUnseen(job.abandoned, seen);
    Slice* const slice = HeldSlice(job, seen.slice);
    if (slice == nullptr) return {};
    Facts facts = FoldLook(*slice, seen, now);
    if (facts.view == SliceView::kReady) {
      RecordLentUntil(*slice, seen.nodes, job.spec.tpu.max_run_duration, now);
    }
    if (job.stage) LoseRuns(*job.stage, facts.hosts_replaced, "its machine was replaced");
    return facts;
  }
  Facts operator()(const LookFailed& failed) const {
    if (Slice* const slice = HeldSlice(job, failed.slice)) FoldFailedLook(*slice, failed, now);
    return {};
  }
  Facts operator()(const CreateAnswered& answer) const {
    Slice* const slice = HeldSlice(job, answer.slice);
    return slice == nullptr ? Facts{} : FoldCreate(*slice, answer, now);
  }
  Facts operator()(const OperationFailed& failed) const {
    Slice* const slice = HeldSlice(job, failed.slice);
    return slice == nullptr ? Facts{} : FoldFailure(*slice, failed);
  }
  Facts operator()(const DeleteAnswered& answer) const {
    if (Slice* const slice = HeldSlice(job, answer.slice)) return FoldDelete(*slice, answer, now);
    for (AbandonedRequest& one : job.abandoned) {
      if (one.ref.name == answer.slice) return FoldLateDelete(one, answer, now);
    }
    return {};
  }
  Facts operator()(const HostReport& report) const {
    const bool current =
        job.stage && report.attempt == job.attempt && report.stage == job.stage->id;
    return current ? FoldReport(job, report.run, now) : Facts{};
  }
  Facts operator()(const Silence& silence) const { return FoldOutputSilence(job, silence, now); }
  Facts operator()(const BadOutput& bad) const { return FoldBadOutput(job, bad); }
  Facts operator()(const KeyPinned&) const { return {}; }
  Facts operator()(const TaskOutput& output) const {
    const bool current =
        job.stage && output.attempt == job.attempt && output.stage == job.stage->id;
    if (current) FoldTaskOutput(*job.stage, output);
    return {};
  }
  Facts operator()(const TaskOffered& offered) const { return {.offer = offered.task}; }
};

}  // namespace

Facts Fold(Job& job, const Observation& seen, TimePoint now) {
  return std::visit(Folder{job, now}, seen);
}

}  // namespace jobman::core
