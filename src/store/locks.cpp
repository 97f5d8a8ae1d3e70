#include "store/locks.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>

#include "jobman/base/handle.hpp"
#include "jobman/base/random.hpp"

namespace jobman::store {
namespace {

constexpr const char* kCure =
    "set JOBMAN_HOME to a folder on a local disk; or have locks repaired there: rpc.statd for NFS "
    "3, "
    "the mount option flock for Lustre";

base::Error NoUsableLocks(const base::Path& dir, const std::string& how) {
  return {.code = base::Code::kUnavailable,
          .message = "the file system of the store " + dir.string() + " " + how,
          .hint = kCure};
}

struct flock WholeFile(short type) {
  struct flock lock = {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  return lock;
}

/// The child: locks the file, says how that went, and keeps the lock until it is killed. Calls only
/// what is safe after a fork.
[[noreturn]] void HoldLock(const char* file, int answer, LockCall call) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  struct flock lock = WholeFile(F_WRLCK);
  const int fd = open(file, O_RDWR | O_CLOEXEC);
  const int failed = fd >= 0 && call(fd, F_SETLK, &lock) == 0 ? 0 : errno;
  if (write(answer, &failed, sizeof failed) != sizeof failed) _exit(1);
  for (;;) pause();
}

/// Kills and reaps it. One that hangs in the kernel is left to the end of this process.
void EndHolder(pid_t child) {
  kill(child, SIGKILL);
  for (int look = 0; look < 100 && waitpid(child, nullptr, WNOHANG) == 0; ++look)
    poll(nullptr, 0, 1);
}

/// What the child says within the limit: 0 or an errno; nothing if it does not.
std::optional<int> AnswerOf(int from, base::Duration limit) {
  pollfd ready = {.fd = from, .events = POLLIN, .revents = 0};
  int failed = 0;
  const auto end = std::chrono::steady_clock::now() + limit;
  int answered = -1;
  do {
    const auto left = std::chrono::ceil<base::Duration>(end - std::chrono::steady_clock::now());
    answered = poll(&ready, 1, std::max(0, static_cast<int>(left.count())));
  } while (answered < 0 && errno == EINTR);
  if (answered != 1) return std::nullopt;
  if (read(from, &failed, sizeof failed) != sizeof failed) return EIO;
  return failed;
}

base::Status LookAtLock(const base::Path& dir, int fd, std::optional<int> held,
                        base::Duration limit, LockCall call) {
  if (!held)
    return NoUsableLocks(dir, fmt::format("does not answer when a file is locked: {} s have passed",
                                          limit / std::chrono::seconds{1}));
  if (*held != 0)
    return NoUsableLocks(dir, std::string("does not lock files: ") + std::strerror(*held));
  struct flock seen = WholeFile(F_WRLCK);
  if (call(fd, F_GETLK, &seen) != 0)
    return NoUsableLocks(dir, std::string("does not lock files: ") + std::strerror(errno));
  if (seen.l_type == F_UNLCK) return NoUsableLocks(dir, "lets two processes lock one file");
  return base::Ok();
}

}  // namespace

int SystemLock(int fd, int command, struct flock* lock) {
  return fcntl(fd, command, lock);
}

base::Status ProbeLocks(const base::Path& dir, base::Duration limit, LockCall call) {
  const std::string file = (dir / (".locks." + base::RandomHex(6))).string();
  const base::UniqueFd fd(open(file.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600));
  // Whether the folder can be written is for others to say.
  if (!fd) return base::Ok();
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0) return base::FromErrno(errno, "making a pipe");
  const base::UniqueFd from(ends[0]);
  base::UniqueFd to(ends[1]);
  const pid_t child = fork();
  if (child == 0) HoldLock(file.c_str(), to.get(), call);
  base::Status looked = base::Ok();
  if (child > 0) {
    to = {};
    looked = LookAtLock(dir, fd.get(), AnswerOf(from.get(), limit), limit, call);
    EndHolder(child);
  }
  unlink(file.c_str());
  return looked;
}

}  // namespace jobman::store
