#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jobman/core/guest.hpp"
#include "jobman/core/job.hpp"

namespace jobman::controller {

/// A line of the metadata `ssh-keys`, which lets `user` log in with that key.
std::string LoginLine(const std::string& user, const std::string& public_key);
/// The logins that the job's nodes keep whoever leaves, as a value of `ssh-keys`: its own, with
/// that public key, and those of its job file.
std::string KeptLogins(const core::JobSpec& spec, const std::string& public_key);
/// What the nodes of a job need to agree with its guests.
struct NodeLogins {
  core::LoginChange change = {};
  /// The job's own key is not known, so no login of its user is taken away, and one should be.
  std::optional<base::Error> unsure = {};
};
/// As core::LoginsFor(), for a job with that public key, or the error why it cannot be read.
NodeLogins LoginsOfNodes(const std::vector<core::Guest>& guests, core::JobId job,
                         const std::string& name, const core::JobSpec& spec,
                         const base::Result<std::string>& public_key);
/// Adds the login to the nodes' metadata (key `ssh-keys`).
core::SliceRequest WithLogin(core::SliceRequest request, const std::string& user,
                             const std::string& public_key);
/// Adds the logins of those guests who are let in to the job. Not to nodes under OS Login, whose
/// hosts take no keys of the metadata.
core::SliceRequest WithGuests(core::SliceRequest request, const std::vector<core::Guest>& guests,
                              core::JobId job, const std::string& name);

}  // namespace jobman::controller
