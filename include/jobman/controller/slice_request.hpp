#pragma once

#include <string>

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

}  // namespace jobman::controller
