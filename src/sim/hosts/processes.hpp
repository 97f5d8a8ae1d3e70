#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "jobman/base/files.hpp"

namespace jobman::sim {

/// The program of this name on PATH or in the usual folders; empty if there is none.
base::Path FindProgram(const std::string& name);

/// The children of a process; none if it is gone.
std::vector<pid_t> Children(pid_t pid);
/// The process and all its descendants.
std::vector<pid_t> Tree(pid_t root);
/// The sshd processes among them, the uppermost first.
std::vector<pid_t> SshServers(pid_t root);
/// Whether it is running; a zombie is not.
bool IsAlive(pid_t pid);

}  // namespace jobman::sim
