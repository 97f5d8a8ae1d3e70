#include "client/node_users.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "jobman/base/strings.hpp"
#include "jobman/core/slice_name.hpp"

namespace jobman::client {
namespace {

/// What the spec asks for, in the cloud `endpoint`.
bool AsksFor(const core::JobSpec& spec, const core::SliceRef& node, const std::string& endpoint) {
  const core::TpuSpec& tpu = spec.tpu;
  return tpu.existing == node.name && spec.cloud.endpoint == endpoint &&
         core::Place{.project = tpu.project, .zone = tpu.zone} == node.place;
}

/// Whether the job's slice is the node, or has it.
bool Holds(const core::Job& job, const core::SliceRef& node, const std::string& endpoint) {
  if (!job.slice || job.spec.cloud.endpoint != endpoint) return false;
  const auto ids = core::NodeIds(job.slice->ref);
  return job.slice->ref.place == node.place &&
         std::find(ids.begin(), ids.end(), node.name) != ids.end();
}

/// job.max_running: 1 keeps them apart.
bool InTurn(const core::JobSpec& a, const core::JobSpec& b) {
  return a.max_running == 1 && b.max_running == 1 && a.group == b.group;
}

std::string StateText(const core::Job& job) {
  return fmt::format("job {}, which is {}", core::FormatJobId(job.id), core::StateName(job.state));
}

constexpr const char* kWhatFollows =
    "only one command at a time can have its chips, and a job that finds them in use tries again "
    "(retries.infra)";

}  // namespace

base::Task<base::Result<std::string>> NoteOnNode(ports::JobStore* jobs, core::JobSpec spec) {
  if (spec.tpu.existing.empty()) co_return std::string{};
  const core::SliceRef node{.place = {.project = spec.tpu.project, .zone = spec.tpu.zone},
                            .name = spec.tpu.existing};
  const ports::JobFilter all;
  JM_CO_ASSIGN_OR_RETURN(const auto rows, co_await jobs->List(all));
  std::vector<std::string> users;
  for (const ports::JobSummary& row : rows) {
    if (row.zone != node.place.zone) continue;
    const auto job = co_await jobs->Get(row.id);
    if (!job.ok()) continue;
    const bool holds = Holds(*job, node, spec.cloud.endpoint);
    if (holds && !job->slice->ref.existing) {
      co_return fmt::format("node {} is the slice of {}: it is deleted when that job gives it back",
                            node.name, StateText(*job));
    }
    if (InTurn(job->spec, spec)) continue;
    const bool uses = holds || AsksFor(job->spec, node, spec.cloud.endpoint);
    if (uses && !core::IsFinal(job->state)) users.push_back(StateText(*job));
  }
  if (users.empty()) co_return std::string{};
  co_return fmt::format("node {} is also used by {}; {}", node.name, base::Join(users, ", and "),
                        kWhatFollows);
}

std::string NoteOnNode(const core::JobSpec& earlier, const core::JobSpec& spec) {
  if (spec.tpu.existing.empty() || InTurn(earlier, spec)) return {};
  const core::SliceRef node{.place = {.project = spec.tpu.project, .zone = spec.tpu.zone},
                            .name = spec.tpu.existing};
  if (!AsksFor(earlier, node, spec.cloud.endpoint)) return {};
  return fmt::format(
      "several of these jobs are to use node {}; {}; job.max_running: 1 runs the "
      "jobs of a group one after the other",
      node.name, kWhatFollows);
}

}  // namespace jobman::client
