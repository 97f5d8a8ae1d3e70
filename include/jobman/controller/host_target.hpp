#pragma once

#include "jobman/core/job.hpp"
#include "jobman/ports/host_shell.hpp"

namespace jobman::controller {

/// How to log in to host number `host` of the job's slice, which has it. `default_port` is for a
/// job whose `ssh.port` is 0.
ports::HostTarget TargetOf(const core::Job& job, int host, int default_port);

}  // namespace jobman::controller
