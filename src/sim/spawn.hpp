#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "jobman/base/files.hpp"
#include "jobman/base/result.hpp"

namespace jobman::sim {

/// Standard input, output and error of a new process; -1 is /dev/null.
struct Stdio {
  int in = -1;
  int out = -1;
  int err = -1;
};

/// Starts `argv` (argv[0] is a path) with default signals, no signal blocked and no other file
/// descriptor of ours: what runs on a host must not hold our sockets open.
base::Result<pid_t> Spawn(const std::vector<std::string>& argv, const Stdio& stdio = {});

/// The program of this name in the usual folders and on PATH; empty when there is none.
base::Path FindProgram(const std::string& name);

/// The children of a process; none when it is gone.
std::vector<pid_t> Children(pid_t pid);
/// The process and all below it, by parent links.
std::vector<pid_t> Tree(pid_t root);
/// Whether it runs; a zombie does not.
bool IsAlive(pid_t pid);

}  // namespace jobman::sim
