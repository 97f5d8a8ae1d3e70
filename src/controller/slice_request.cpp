#include "jobman/controller/slice_request.hpp"

#include <utility>

#include "jobman/base/strings.hpp"

namespace jobman::controller {
namespace {

base::Error OwnKeyIsUnknown(const std::string& file, const base::Error& why) {
  return {.code = base::Code::kFailedPrecondition,
          .message = "the job's own key " + file + " cannot be read here: " + why.message,
          .reason = base::Reason::kKeyUnreadable,
          .hint = "it may be the key to take away: try again where the job's key is"};
}

}  // namespace

/// As Compute Engine has them: "USER:TYPE DATA COMMENT".
std::string LoginLine(const std::string& user, const std::string& public_key) {
  const auto words = base::Split(base::Trim(public_key), ' ');
  const std::string data = words.size() > 1 ? words[0] + " " + words[1] : public_key;
  return user + ":" + data + " " + user;
}

std::string KeptLogins(const core::JobSpec& spec, const std::string& public_key) {
  const auto of_file = spec.tpu.metadata.find("ssh-keys");
  std::string kept = of_file == spec.tpu.metadata.end() ? std::string{} : of_file->second;
  if (!public_key.empty()) kept += "\n" + LoginLine(spec.ssh.user, public_key);
  return kept;
}

NodeLogins LoginsOfNodes(const std::vector<core::Guest>& guests, core::JobId job,
                         const std::string& name, const core::JobSpec& spec,
                         const base::Result<std::string>& public_key) {
  const std::string kept = KeptLogins(spec, public_key.value_or(""));
  NodeLogins logins{.change = core::LoginsFor(guests, job, name, kept)};
  if (public_key.ok()) return logins;
  const std::string own = spec.ssh.user + ":";
  const auto is_own = [&](const std::string& line) { return line.starts_with(own); };
  if (std::erase_if(logins.change.remove, is_own) > 0)
    logins.unsure = OwnKeyIsUnknown(spec.ssh.private_key, public_key.error());
  return logins;
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
  if (core::IsTrueIn(request.tpu.metadata, core::kEnableOsLogin)) return request;
  const core::LoginChange change{.add = core::LoginsFor(guests, job, name, {}).add};
  if (change.empty()) return request;
  std::string& keys = request.tpu.metadata["ssh-keys"];
  keys = core::ChangedLogins(keys, change);
  return request;
}

}  // namespace jobman::controller
