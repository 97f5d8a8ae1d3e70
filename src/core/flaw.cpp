#include "jobman/core/flaw.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/reconcile/turn.hpp"
#include "jobman/core/run_id.hpp"
#include "jobman/core/slice_name.hpp"

namespace jobman::core {
namespace {

using Flaw = std::optional<std::string>;

template <class... States>
bool IsAny(const JobState& state) {
  return (std::holds_alternative<States>(state) || ...);
}

Flaw FlawOfSlice(const Slice& slice) {
  if (slice.ref.name.empty()) return "its slice has no name";
  if (slice.ref.nodes < 1) return "its slice has no nodes";
  const auto nodes = NodeIds(slice.ref);
  if (!std::all_of(nodes.begin(), nodes.end(), IsRunIdField)) {
    return "no node can have the name of its slice";
  }
  if (slice.requests_sent < 1) return "its slice was never requested";
  if (slice.phase == SlicePhase::kIntended && !slice.hosts.empty()) {
    return "its slice has hosts and was never created";
  }
  if (slice.ref.existing && slice.phase != SlicePhase::kCreated) {
    return "the user's own node is requested or deleted";
  }
  if (slice.delete_refused && slice.phase != SlicePhase::kDeleting) {
    return "the delete of its slice was refused and never asked for";
  }
  const int hosts =
      std::accumulate(slice.nodes.begin(), slice.nodes.end(), 0,
                      [](int sum, const SliceNode& node) { return sum + node.hosts; });
  if (hosts != static_cast<int>(slice.hosts.size())) {
    return fmt::format("its slice has {} hosts, but its nodes have {}", slice.hosts.size(), hosts);
  }
  const auto names = NamesOfParts(slice.ref);
  const bool own = std::all_of(slice.unshown.begin(), slice.unshown.end(), [&](const auto& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  });
  if (!own) return "its slice waits for a node that is not its own";
  return std::nullopt;
}

Flaw FlawOfTask(const Job& job) {
  const Stage& stage = *job.stage;
  const auto* const id = std::get_if<TaskStage>(&stage.id);
  if ((id != nullptr) != stage.task.has_value()) return "a task runs of which nothing is known";
  if (id == nullptr) return std::nullopt;
  if (id->run < 1) return "the run of its task has no number";
  if (id->task != stage.task->definition.id) return "it runs another task than it knows";
  if (!job.spec.queue) return "a task runs, but the job serves no queue";
  return std::nullopt;
}

Flaw FlawOfStage(const Job& job) {
  const Stage& stage = *job.stage;
  if (!job.slice) return "a stage runs without a slice";
  if (const auto* const setup = std::get_if<SetupStage>(&stage.id)) {
    const int steps = CountSteps(job.spec);
    if (setup->index < 0 || setup->index >= steps) {
      return fmt::format("setup step {} runs, but the spec has {}", setup->index, steps);
    }
    if (stage.told) return "a setup step was told of a notice";
  }
  if (auto flaw = FlawOfTask(job)) return flaw;
  if (stage.hosts.empty()) return "a stage runs on no host";
  int last = -1;
  for (const HostRun& run : stage.hosts) {
    if (run.host <= last) return "the hosts of its stage are out of order";
    last = run.host;
  }
  if (last >= static_cast<int>(job.slice->hosts.size())) {
    return fmt::format("host {} is in its stage but not in its slice", last);
  }
  if (stage.generation > job.slice->generation) {
    return "its stage began on machines that the slice never had";
  }
  return std::nullopt;
}

/// What the state requires or rules out.
Flaw FlawOfState(const Job& job) {
  const std::string state{StateName(job.state)};
  const bool acquiring = IsAny<Requesting, Waiting, Provisioning>(job.state);
  const bool working = IsAny<Setup, Running>(job.state);
  const bool stopping = IsAny<Cancelling, Deleting>(job.state);
  const bool holding = acquiring || working || IsAny<Idle>(job.state);
  if (holding && !job.slice) return state + " without a slice";
  if (working != job.stage.has_value() && !stopping) {
    return state + (job.stage ? " with a stage" : " without a stage");
  }
  if (holding && job.attempt < 1) return state + " before the first attempt";
  if (holding && job.attempt_end) return state + ", but the attempt has ended";
  if (IsAny<Idle>(job.state) && !job.spec.queue) return state + ", but it serves no queue";
  if (Rests(job.state) && job.attempt > 0 && !job.attempt_end) {
    return state + ", but the attempt goes on";
  }
  const auto* const setup = std::get_if<Setup>(&job.state);
  const bool fits =
      !working || (setup == nullptr ? !IsSetup(job.stage->id)
                                    : job.stage->id == StageId{SetupStage{setup->step}});
  if (!fits) return fmt::format("{}, but {} runs", state, StageWord(job.stage->id));
  return std::nullopt;
}

}  // namespace

std::optional<std::string> FlawOf(const Job& job) {
  if (NeedsCare(job) && !job.wish_new && !job.wake_at) return "it is active and has no wake_at";
  if (job.attempt < 0) return "its attempt has no number";
  if (auto flaw = FlawOfState(job)) return flaw;
  if (job.slice) {
    if (auto flaw = FlawOfSlice(*job.slice)) return flaw;
  }
  if (job.stage) return FlawOfStage(job);
  return std::nullopt;
}

}  // namespace jobman::core
