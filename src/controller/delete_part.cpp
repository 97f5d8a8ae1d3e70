#include "controller/delete_part.hpp"

#include "jobman/core/job.hpp"

namespace jobman::controller {
namespace {

base::Task<base::Result<Labels>> LabelsOf(std::shared_ptr<ports::SliceApi> api,
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

}  // namespace

base::Task<base::Result<bool>> DeletePart(std::shared_ptr<ports::SliceApi> api, Labels ours,
                                          core::SliceRef part, Unfound unfound) {
  const auto labels = co_await LabelsOf(api, part);
  const bool found = labels.ok();
  if (!found && labels.error().code != base::Code::kNotFound) co_return labels.error();
  if (!found && unfound == Unfound::kLeave) co_return false;
  if (found && !core::IsOurs(*labels, ours)) co_return false;
  const auto deleted = co_await api->Delete(part);
  if (deleted.ok()) co_return true;
  if (deleted.error().code == base::Code::kNotFound) co_return false;
  co_return deleted.error();
}

}  // namespace jobman::controller
