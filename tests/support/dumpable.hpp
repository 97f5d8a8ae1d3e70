#pragma once

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace jobman::test {

/// Whether a process can be dumped after it did that: 1 or 0. It is done in a child, which does not
/// return.
template <class Act>
int DumpableAfter(const Act& act) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    act();
    ::_exit(::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0));
  }
  int status = 0;
  const bool ended = child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status);
  return ended ? WEXITSTATUS(status) : -1;
}

}  // namespace jobman::test
