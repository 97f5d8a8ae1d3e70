#pragma once

#include <functional>
#include <optional>
#include <string>

#include "jobman/core/job.hpp"
#include "jobman/remote/direct_command.hpp"

namespace jobman::controller {

/// A secret's value; nothing when it is not known.
using SecretReader = std::function<std::optional<std::string>(const core::SecretRef&)>;
/// The value of a secret in a file; nothing if it cannot be read.
std::optional<std::string> SecretInFile(const std::string& file);

/// The folder on a host in which the job's command begins: command.workdir, else that of the code,
/// else empty for the home folder. Of a command in a container the first is a folder there, which
/// the host need not have.
std::string CommandFolder(const core::JobSpec& spec);

/// What the job's command has around it in this attempt on host number `host` of the slice, which
/// the job must have. `job_dir` is the job's folder on this machine. kFailedPrecondition when a
/// secret has no value.
base::Result<remote::CommandEnvironment> EnvironmentOn(const core::Job& job, int host,
                                                       const std::string& store_id,
                                                       const std::string& job_dir,
                                                       const SecretReader& secret);

}  // namespace jobman::controller
