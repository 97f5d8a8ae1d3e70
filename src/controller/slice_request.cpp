#include "jobman/controller/slice_request.hpp"

#include "jobman/base/strings.hpp"

namespace jobman::controller {

/// As Compute Engine has them: "USER:TYPE DATA COMMENT".
std::string LoginLine(const std::string& user, const std::string& public_key) {
  const auto words = base::Split(base::Trim(public_key), ' ');
  const std::string data = words.size() > 1 ? words[0] + " " + words[1] : public_key;
  return user + ":" + data + " " + user;
}

std::string KeptLogins(const core::JobSpec& spec, const base::Result<std::string>& public_key) {
  const auto of_file = spec.tpu.metadata.find("ssh-keys");
  std::string kept = of_file == spec.tpu.metadata.end() ? std::string{} : of_file->second;
  if (public_key.ok()) kept += "\n" + LoginLine(spec.ssh.user, *public_key);
  return kept;
}

core::SliceRequest WithLogin(core::SliceRequest request, const std::string& user,
                             const std::string& public_key) {
  const std::string line = LoginLine(user, public_key);
  std::string& keys = request.tpu.metadata["ssh-keys"];
  if (!base::Contains(keys, line)) keys += (keys.empty() ? "" : "\n") + line;
  return request;
}

core::SliceRequest WithGuests(core::SliceRequest request, const std::vector<core::Guest>& guests,
                              core::JobId job, const std::string& name) {
  const core::LoginChange change{.add = core::LoginsFor(guests, job, name, {}).add};
  if (change.empty()) return request;
  std::string& keys = request.tpu.metadata["ssh-keys"];
  keys = core::ChangedLogins(keys, change);
  return request;
}

}  // namespace jobman::controller
