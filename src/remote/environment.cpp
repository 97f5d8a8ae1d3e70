#include "jobman/base/strings.hpp"
#include "jobman/remote/host_script.hpp"

namespace jobman::remote {
namespace {

/// With commas. Made for each host, so it copies no address.
std::string Addresses(const std::vector<core::HostAddress>& hosts) {
  std::string text;
  for (const core::HostAddress& host : hosts) {
    if (&host != hosts.data()) text += ',';
    text += host.internal;
  }
  return text;
}

/// The nodes of a queued resource know that they are one multislice. Nodes created one by one must
/// be told, by the variables that JAX and libtpu read (jax/_src/clusters/cloud_tpu_cluster.py).
void AddMegascale(const core::Job& job, const core::HostPosition& position,
                  const std::vector<core::HostAddress>& hosts,
                  std::map<std::string, std::string>& env) {
  const core::TpuSpec& tpu = job.spec.tpu;
  const bool one_by_one = tpu.allocation_mode == core::AllocationMode::kTpuVm;
  if (!one_by_one || tpu.num_slices == 1 || hosts.empty()) return;
  env["MEGASCALE_COORDINATOR_ADDRESS"] = hosts.front().internal;
  env["MEGASCALE_NUM_SLICES"] = std::to_string(tpu.num_slices);
  env["MEGASCALE_SLICE_ID"] = std::to_string(position.node);
}

}  // namespace

std::map<std::string, std::string> RunEnvironment(const core::Job& job, int host,
                                                  const core::RunId& run) {
  const std::string id = core::FormatJobId(job.id);
  const std::vector<core::HostAddress> none;
  const std::vector<core::HostAddress>& hosts = job.slice ? job.slice->hosts : none;
  std::string name, zone = job.spec.tpu.zone;
  if (job.slice) {
    name = job.slice->ref.name;
    zone = job.slice->ref.place.zone;
  }
  const core::HostPosition position =
      job.slice ? core::PositionOf(*job.slice, host) : core::HostPosition{};
  std::map<std::string, std::string> env = {
      {"JOBMAN_JOB_ID", id},
      {"JOBMAN_ATTEMPT", std::to_string(job.attempt)},
      {"JOBMAN_RESTART_REASON", core::RestartText(job.restart)},
      {"JOBMAN_HOST_INDEX", std::to_string(host)},
      {"JOBMAN_NUM_HOSTS", std::to_string(hosts.size())},
      {"JOBMAN_HOSTS", Addresses(hosts)},
      {"JOBMAN_HEAD", hosts.empty() ? "" : hosts.front().internal},
      {"JOBMAN_SLICE_INDEX", std::to_string(position.node)},
      {"JOBMAN_NUM_SLICES", std::to_string(job.spec.tpu.num_slices)},
      {"JOBMAN_CHECKPOINT_DIR", "~/.jobman/checkpoints/" + run.on.store + ".j" + id},
      {"JOBMAN_TPU_NAME", name},
      {"JOBMAN_ZONE", zone},
      {"JOBMAN_RUN_ID", core::FormatRunId(run)},
  };
  if (const core::ArraySpec& array = job.spec.array; !array.empty()) {
    env["JOBMAN_ARRAY_INDEX"] = std::to_string(array.index);
    env["JOBMAN_ARRAY_SIZE"] = std::to_string(array.size);
    env["JOBMAN_ARRAY_VALUE"] = array.value;
  }
  for (const auto& [matrix_name, value] : job.spec.matrix) env[matrix_name] = value;
  const std::string& commit = job.spec.code.snapshot.commit;
  if (!commit.empty()) env["JOBMAN_CODE_COMMIT"] = commit;
  AddMegascale(job, position, hosts, env);
  return env;
}

}  // namespace jobman::remote
