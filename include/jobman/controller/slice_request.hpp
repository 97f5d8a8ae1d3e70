#pragma once

#include <string>

#include "jobman/core/job.hpp"

namespace jobman::controller {

/// A line of the metadata `ssh-keys`, which lets `user` log in with that key.
std::string LoginLine(const std::string& user, const std::string& public_key);
/// Adds the login to the nodes' metadata (key `ssh-keys`).
core::SliceRequest WithLogin(core::SliceRequest request, const std::string& user,
                             const std::string& public_key);

}  // namespace jobman::controller
