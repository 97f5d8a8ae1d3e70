#include "jobman/core/ownership.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "jobman/base/strings.hpp"
#include "jobman/core/slice_name.hpp"

namespace jobman::core {
namespace {

std::string LabelOf(const std::map<std::string, std::string>& labels, const std::string& key) {
  const auto found = labels.find(key);
  return found == labels.end() ? std::string{} : found->second;
}

FoundSlice FromQueued(const Place& place, const QueuedSeen& queued) {
  return {.ref = {.mode = AllocationMode::kQueuedResources, .place = place, .name = queued.id},
          .raw_state = queued.raw_state,
          .create_time = queued.create_time,
          .labels = queued.labels,
          .leaving = queued.state == QueuedState::kDeleting};
}

FoundSlice FromNode(const Place& place, const NodeSeen& node) {
  return {.ref = {.mode = AllocationMode::kTpuVm, .place = place, .name = node.id},
          .nodes = {node.id},
          .raw_state = node.raw_state,
          .accelerator = node.accelerator,
          .create_time = node.create_time,
          .uid = node.uid,
          .labels = node.labels,
          .leaving = node.state == NodeState::kDeleting};
}

}  // namespace

std::vector<FoundSlice> FindSlices(const Place& place, const std::vector<NodeSeen>& nodes,
                                   const std::vector<QueuedSeen>& queued) {
  std::vector<FoundSlice> found;
  for (const QueuedSeen& one : queued) found.push_back(FromQueued(place, one));
  for (const NodeSeen& node : nodes) {
    const auto owner = std::find_if(queued.begin(), queued.end(), [&](const QueuedSeen& one) {
      return one.id == node.queued_resource;
    });
    if (owner == queued.end()) {
      found.push_back(FromNode(place, node));
      continue;
    }
    FoundSlice& slice = found[static_cast<std::size_t>(owner - queued.begin())];
    slice.nodes.push_back(node.id);
    slice.accelerator = node.accelerator;
  }
  return found;
}

std::optional<JobId> LabelledJob(const std::map<std::string, std::string>& labels) {
  const auto number = base::ParseNumber(LabelOf(labels, "jobman-job"));
  if (!number) return std::nullopt;
  return JobId{*number};
}

Claim JudgeSlice(const FoundSlice& found, const std::map<std::string, std::string>& ours,
                 const std::optional<Job>& job) {
  const std::string store = LabelOf(found.labels, "jobman-store");
  const std::string owner = LabelOf(found.labels, "jobman-owner");
  const auto id = LabelledJob(found.labels);
  const bool of_store = store == LabelOf(ours, "jobman-store");
  // The owner's label counts first: a copy of this store may be in another user's hands.
  if (!owner.empty() && owner != LabelOf(ours, "jobman-owner"))
    return {Ownership::kOtherOwner, "it is " + owner + "'s"};
  if (store.empty() || !id) return {Ownership::kUnlabelled, "it has no jobman labels"};
  if (owner.empty() && !of_store) return {Ownership::kOtherOwner, "it is somebody's"};
  const std::string number = FormatJobId(*id);
  if (!of_store)
    return {Ownership::kOtherStore, fmt::format("job {} of store {} may hold it", number, store)};
  if (!job) return {Ownership::kOrphan, fmt::format("there is no job {}", number)};
  const std::string job_is = fmt::format("job {} is {}", number, StateName(job->state));
  if (!job->slice) return {Ownership::kOrphan, job_is + " and holds no slice"};
  const SliceRef& held = job->slice->ref;
  const std::string named =
      found.ref.mode == AllocationMode::kTpuVm ? found.nodes.front() : found.ref.name;
  // A project has a name and a number, and a listing may cover all zones ("-"): neither makes it
  // another slice.
  const std::string& zone = found.ref.place.zone;
  const bool elsewhere = zone != "-" && zone != held.place.zone;
  if (!elsewhere && IsPartOf(held.name, named))
    return {Ownership::kOwned, job_is + " and holds it"};
  return {Ownership::kOrphan, job_is + " and holds slice " + held.name};
}

std::optional<std::string> StrayRun(const std::string& run_id, const JobOnHost& on,
                                    const Job& job) {
  const auto run = ParseRunId(run_id);
  if (!run || run->on != on || on.job != job.id) return std::nullopt;
  const std::string number = FormatJobId(job.id);
  const bool over = IsFinal(job.state) && !job.wish_new;
  const auto* const task = std::get_if<WorkRun>(&run->what);
  if (over) return fmt::format("job {} is {}", number, StateName(job.state));
  // A setup step's id is the same for every attempt, so the next one may be about to use it.
  const auto* const command = std::get_if<CommandRun>(&run->what);
  if (task != nullptr && task->number < job.task_runs)
    return fmt::format("job {} has begun a later task", number);
  // Attempts only grow: a greater number was started after the job was read.
  if (command == nullptr || command->attempt >= job.attempt) return std::nullopt;
  return fmt::format("job {} is at attempt {}", number, job.attempt);
}

}  // namespace jobman::core
