#include "jobman/base/strings.hpp"
#include "jobman/remote/host_script.hpp"

namespace jobman::remote {

std::map<std::string, std::string> RunEnvironment(const core::Job& job, int host,
                                                  const std::string& run_id) {
  const std::string id = core::FormatJobId(job.id);
  std::vector<std::string> addresses;
  std::string name, zone = job.spec.tpu.zone;
  if (job.slice) {
    for (const auto& address : job.slice->hosts) addresses.push_back(address.internal);
    name = job.slice->ref.name;
    zone = job.slice->ref.place.zone;
  }
  return {
      {"JOBMAN_JOB_ID", id},
      {"JOBMAN_ATTEMPT", std::to_string(job.attempt)},
      {"JOBMAN_RESTART_REASON", job.restart_reason},
      {"JOBMAN_HOST_INDEX", std::to_string(host)},
      {"JOBMAN_NUM_HOSTS", std::to_string(addresses.size())},
      {"JOBMAN_HOSTS", base::Join(addresses, ",")},
      {"JOBMAN_HEAD", addresses.empty() ? "" : addresses.front()},
      // One slice for a job until tpu.num_slices exists.
      {"JOBMAN_SLICE_INDEX", "0"},
      {"JOBMAN_NUM_SLICES", "1"},
      {"JOBMAN_CHECKPOINT_DIR", "~/.jobman/checkpoints/" + id},
      {"JOBMAN_TPU_NAME", name},
      {"JOBMAN_ZONE", zone},
      {"JOBMAN_RUN_ID", run_id},
  };
}

}  // namespace jobman::remote
