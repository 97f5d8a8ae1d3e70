#pragma once

#include <string>

#include "jobman/core/job_spec.hpp"

namespace jobman::controller {

/// The folder on a host in which the job's command begins: command.workdir, else that of the code,
/// else empty for the home folder. Of a command in a container the first is a folder there, which
/// the host need not have.
std::string CommandFolder(const core::JobSpec& spec);

}  // namespace jobman::controller
