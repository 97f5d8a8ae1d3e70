#include "jobman/controller/slice_request.hpp"

#include "jobman/base/strings.hpp"

namespace jobman::controller {
namespace {

/// "USER:TYPE DATA COMMENT", the form of Compute Engine's `ssh-keys` metadata.
std::string KeyLine(const std::string& user, const std::string& public_key) {
  const auto words = base::Split(base::Trim(public_key), ' ');
  const std::string data = words.size() > 1 ? words[0] + " " + words[1] : public_key;
  return user + ":" + data + " " + user;
}

}  // namespace

core::SliceRequest MakeSliceRequest(const core::Job& job, const std::string& store_id,
                                    const std::string& public_key) {
  core::SliceRequest request{.ref = job.slice->ref, .tpu = job.spec.tpu};
  for (const auto& [key, value] : core::OwnerLabels(job, store_id)) {
    request.tpu.labels[key] = value;
  }
  const std::string line = KeyLine(job.spec.ssh.user, public_key);
  std::string& keys = request.tpu.metadata["ssh-keys"];
  if (!base::Contains(keys, line)) keys += (keys.empty() ? "" : "\n") + line;
  if (!job.spec.tpu.startup_script.empty()) {
    request.tpu.metadata["startup-script"] = job.spec.tpu.startup_script;
  }
  return request;
}

}  // namespace jobman::controller
