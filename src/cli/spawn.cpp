#include "cli/spawn.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

extern char** environ;

namespace jobman::cli {
namespace {

/// Owns the two option objects of posix_spawn.
class SpawnOptions {
 public:
  SpawnOptions(const base::Path& log, int log_flags, short flags) {
    posix_spawn_file_actions_init(&files_);
    posix_spawn_file_actions_addopen(&files_, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files_, 1, log.c_str(), O_WRONLY | O_CREAT | log_flags, 0600);
    posix_spawn_file_actions_adddup2(&files_, 1, 2);
    posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigset_t reset;
    sigemptyset(&none);
    sigemptyset(&reset);
    sigaddset(&reset, SIGPIPE);  // ignored in this program; not in the others
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &reset);
    posix_spawnattr_setflags(
        &attributes_, static_cast<short>(flags | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
  }
  ~SpawnOptions() {
    posix_spawn_file_actions_destroy(&files_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnOptions(const SpawnOptions&) = delete;
  SpawnOptions& operator=(const SpawnOptions&) = delete;

  base::Result<int> Spawn(const std::vector<std::string>& argv) const {
    std::vector<char*> words;
    for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    pid_t pid = 0;
    const int failed = posix_spawnp(&pid, words[0], &files_, &attributes_, words.data(), environ);
    if (failed != 0) return base::FromErrno(failed, "starting " + argv[0]);
    return static_cast<int>(pid);
  }

 private:
  posix_spawn_file_actions_t files_ = {};
  posix_spawnattr_t attributes_ = {};
};

}  // namespace

base::Result<int> SpawnDetached(const std::vector<std::string>& argv, const base::Path& log) {
  return SpawnOptions(log, O_APPEND, POSIX_SPAWN_SETSID).Spawn(argv);
}

base::Result<int> RunToEnd(const std::vector<std::string>& argv, const base::Path& log) {
  JM_ASSIGN_OR_RETURN(const int pid, SpawnOptions(log, O_TRUNC, 0).Spawn(argv));
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return base::FromErrno(errno, "waiting for " + argv[0]);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool HasEnded(int pid) {
  return waitpid(pid, nullptr, WNOHANG) == pid;
}

}  // namespace jobman::cli
