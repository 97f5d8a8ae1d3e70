#pragma once

#include <fcntl.h>

#include "jobman/base/files.hpp"
#include "jobman/base/time.hpp"

namespace jobman::store {

/// fcntl(2) with F_SETLK or F_GETLK; tests pass others.
using LockCall = int (*)(int fd, int command, struct flock* lock);
int SystemLock(int fd, int command, struct flock* lock);

/// How long a file server may take to lock a file.
inline constexpr base::Duration kLockAnswer = std::chrono::seconds{10};

/// Whether the file system of the folder `dir` locks files as SQLite needs it: one process locks a
/// file of its own, and this one looks at the lock. On a file system of the network the call may
/// fail (NFS 3 without rpc.statd, Lustre without flock), hang (the server's lock manager is gone),
/// or pretend. kUnavailable with the cause and the cure; then nothing was stored. Forks: for a
/// process with one thread. Source: fcntl_locking(2), nfs(5), sqlite.org/lockingv3.html.
base::Status ProbeLocks(const base::Path& dir, base::Duration limit = kLockAnswer,
                        LockCall call = SystemLock);

}  // namespace jobman::store
