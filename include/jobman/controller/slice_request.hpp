#pragma once

#include <string>
#include <vector>

#include "jobman/core/guest.hpp"
#include "jobman/core/job.hpp"

namespace jobman::controller {

/// A line of the metadata `ssh-keys`, which lets `user` log in with that key.
std::string LoginLine(const std::string& user, const std::string& public_key);
/// The logins that the job's nodes keep whoever leaves, as a value of `ssh-keys`: its own, if its
/// key can be read, and those of its job file.
std::string KeptLogins(const core::JobSpec& spec, const base::Result<std::string>& public_key);
/// Adds the login to the nodes' metadata (key `ssh-keys`).
core::SliceRequest WithLogin(core::SliceRequest request, const std::string& user,
                             const std::string& public_key);
/// Adds the logins of those guests who are let in to the job.
core::SliceRequest WithGuests(core::SliceRequest request, const std::vector<core::Guest>& guests,
                              core::JobId job, const std::string& name);

}  // namespace jobman::controller
