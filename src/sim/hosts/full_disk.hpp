#pragma once

#include <string>

#include "jobman/base/result.hpp"

namespace jobman::sim {

/// Whether a process here may have mounts of its own, which a full disk is made of: root in the
/// namespace of its parent, others in a user namespace. An error quotes what refused it.
base::Status TryFullDisk();

/// A program for a login without a sandbox: `full LOGIN` runs `LOGIN full` where $HOME is a copy of
/// itself on a disk without a free byte. Other processes see the real home, as does the next login
/// after the fault; what a login changed in its copy is gone when it ends. Needs $TMPDIR on another
/// path than $HOME. A home of more than 256 MiB is refused, with the reason on stderr.
std::string FullDiskScript();

}  // namespace jobman::sim
