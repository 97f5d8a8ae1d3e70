#pragma once

#include "jobman/core/job.hpp"
#include "jobman/ports/host_shell.hpp"

namespace jobman::controller {

/// How to log in to host number `host` of the job's slice, which has it. `default_port` is for a
/// job whose `ssh.port` is 0.
ports::HostTarget TargetOf(const core::Job& job, int host, int default_port);

/// Whether an error of SliceApi::GetHostKeys() leaves open what the node reported: the cloud could
/// not be asked, so no key may be pinned for its lack of an answer.
bool SaysNothingOfKeys(const base::Error& error);

}  // namespace jobman::controller
