#include "jobman/base/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <memory>
#include <mutex>
#include <utility>

#include "jobman/base/handle.hpp"
#include "jobman/base/readiness.hpp"

namespace jobman::base {
namespace {

/// Killed children that had not died yet when their owner went on; the next start reaps them. The
/// simulator starts processes on several threads.
class Orphans {
 public:
  void Add(pid_t pid) {
    const std::lock_guard lock(mutex_);
    pids_.push_back(pid);
  }
  void Reap() {
    const std::lock_guard lock(mutex_);
    std::erase_if(pids_, [](pid_t pid) { return ::waitpid(pid, nullptr, WNOHANG) != 0; });
  }

 private:
  std::mutex mutex_ = {};
  std::vector<pid_t> pids_ = {};
};

Orphans& AllOrphans() {
  static Orphans orphans;
  return orphans;
}

UniqueFd OpenPidFd(pid_t pid) {
  return UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

/// A child process and the group it leads. Killed and reaped, if it still runs, by the destructor.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid), pidfd_(OpenPidFd(pid)) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ > 0) KillGroup(pid_);
  }

  /// Ends when the process has ended; it is not reaped yet.
  Task<void> WaitExit() {
    // Without a duplicate the descriptor would be closed twice.
    UniqueFd watched(pidfd_ ? ::fcntl(pidfd_.get(), F_DUPFD_CLOEXEC, 3) : -1);
    if (watched) {
      const auto executor = co_await asio::this_coro::executor;
      asio::posix::stream_descriptor ended(executor, watched.Release());
      co_await AwaitReady(&ended, asio::posix::stream_descriptor::wait_read);
    }
    // Before Linux 5.3, where a sandbox refuses pidfd_open, and without a free descriptor.
    while (!HasExited()) co_await Sleep(kPoll);
  }

  /// After WaitExit(), so that it does not wait.
  Result<int> Reap() {
    int status = 0;
    const pid_t reaped = ::waitpid(std::exchange(pid_, 0), &status, 0);
    if (reaped < 0) return FromErrno(errno, "waiting for a process");
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

 private:
  static constexpr Duration kPoll = std::chrono::milliseconds{20};

  bool HasExited() const {
    siginfo_t info = {};
    const int failed = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
    return failed != 0 || info.si_pid != 0;
  }

  pid_t pid_ = 0;
  UniqueFd pidfd_;
};

struct Pipe {
  UniqueFd read = {};
  UniqueFd write = {};
};

Result<Pipe> MakePipe() {
  std::array<int, 2> ends = {};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return FromErrno(errno, "making a pipe");
  Pipe pipe{.read = MoveUp(UniqueFd(ends[0])), .write = MoveUp(UniqueFd(ends[1]))};
  if (!pipe.read || !pipe.write) return FromErrno(errno, "making a pipe");
  ::fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK);
  return pipe;
}

/// Standard input as a file in memory: nothing to write later, no SIGPIPE if the child does not
/// read.
Result<UniqueFd> InputFile(std::string_view input) {
  if (input.empty()) return MoveUp(UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC)));
  UniqueFd file = MoveUp(UniqueFd(::memfd_create("input", MFD_CLOEXEC)));
  if (!file) return FromErrno(errno, "making the input of a process");
  while (!input.empty()) {
    const ssize_t count = ::write(file.get(), input.data(), input.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return FromErrno(errno, "writing the input of a process");
    input.remove_prefix(static_cast<std::size_t>(count));
  }
  ::lseek(file.get(), 0, SEEK_SET);
  return file;
}

/// The two option objects of posix_spawn, released together.
struct SpawnPlan {
  SpawnPlan() {
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
  }

  void Redirect(int target, int from) {
    if (from < 0) {
      posix_spawn_file_actions_addopen(&files, target, "/dev/null", O_RDWR, 0);
    } else {
      posix_spawn_file_actions_adddup2(&files, from, target);
    }
  }

  posix_spawn_file_actions_t files = {};
  posix_spawnattr_t attributes = {};
};

short FlagOf(ProcessGroup group) {
  switch (group) {
    case ProcessGroup::kShared:
      return 0;
    case ProcessGroup::kOwn:
      return POSIX_SPAWN_SETPGROUP;
    case ProcessGroup::kOwnSession:
      return POSIX_SPAWN_SETSID;
  }
  return 0;
}

/// The output of a child on one descriptor.
struct Stream {
  Stream(asio::any_io_executor executor, UniqueFd fd) : descriptor(executor, fd.Release()) {}
  asio::posix::stream_descriptor descriptor;
  std::string text = {};

  /// Reads what is available, but lets others run if that does not end. False at the end.
  bool ReadAvailable() {
    std::array<char, 65536> buffer;
    for (int piece = 0; piece < kPiecesAtOnce; ++piece) {
      const ssize_t count = ::read(descriptor.native_handle(), buffer.data(), buffer.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return errno == EAGAIN;
      if (count == 0) return false;
      const std::size_t room = kMostOutput - text.size();
      text.append(buffer.data(), std::min(static_cast<std::size_t>(count), room));
    }
    return true;
  }
  static constexpr int kPiecesAtOnce = 16;
};

Task<void> Pump(std::shared_ptr<Stream> stream) {
  do {
    co_await stream->descriptor.async_wait(asio::posix::stream_descriptor::wait_read,
                                           asio::use_awaitable);
  } while (stream->ReadAvailable());
}

constexpr Duration kReadyPoll = std::chrono::milliseconds{5};

}  // namespace

Result<pid_t> StartProcess(std::vector<std::string> argv, Stdio stdio, ProcessGroup group) {
  AllOrphans().Reap();
  if (argv.empty() || argv[0].empty()) return InvalidArgument("no command to run");
  SpawnPlan plan;
  plan.Redirect(STDIN_FILENO, stdio.in);
  plan.Redirect(STDOUT_FILENO, stdio.out);
  plan.Redirect(STDERR_FILENO, stdio.err);
  posix_spawn_file_actions_addclosefrom_np(&plan.files, STDERR_FILENO + 1);

  sigset_t all;
  sigset_t none;
  sigfillset(&all);
  sigemptyset(&none);
  posix_spawnattr_setsigdefault(&plan.attributes, &all);
  posix_spawnattr_setsigmask(&plan.attributes, &none);
  posix_spawnattr_setflags(
      &plan.attributes,
      static_cast<short>(FlagOf(group) | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK));

  std::vector<char*> words;
  words.reserve(argv.size() + 1);
  for (std::string& word : argv) words.push_back(word.data());
  words.push_back(nullptr);
  pid_t pid = 0;
  const int problem =
      ::posix_spawnp(&pid, words[0], &plan.files, &plan.attributes, words.data(), environ);
  if (problem != 0) return FromErrno(problem, "running " + argv[0]);
  return pid;
}

Result<pid_t> StartDaemon(std::vector<std::string> argv, const Path& log) {
  const UniqueFd out =
      MoveUp(UniqueFd(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)));
  if (!out) return FromErrno(errno, "opening " + log.string());
  return StartProcess(std::move(argv), {.out = out.get(), .err = out.get()},
                      ProcessGroup::kOwnSession);
}

void KillGroup(pid_t child) {
  const UniqueFd watched = OpenPidFd(child);
  ::kill(-child, SIGKILL);
  ::kill(child, SIGKILL);
  // SIGKILL takes well under a millisecond unless the process hangs in the kernel.
  pollfd ended = {.fd = watched.get(), .events = POLLIN, .revents = 0};
  ::poll(&ended, 1, 50);
  if (::waitpid(child, nullptr, WNOHANG) == 0) AllOrphans().Add(child);
}

bool HasEnded(pid_t child) {
  return ::waitpid(child, nullptr, WNOHANG) != 0;
}

Task<Result<bool>> AwaitReady(pid_t child, std::function<Result<bool>()> ready, Duration limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  for (;;) {
    const bool ended = HasEnded(child);  // checked first: what it did before it ended counts
    JM_CO_ASSIGN_OR_RETURN(const bool is_ready, ready());
    if (is_ready) co_return true;
    if (ended || std::chrono::steady_clock::now() >= deadline) co_return false;
    co_await Sleep(kReadyPoll);
  }
}

Task<Result<ProcessResult>> RunProcess(std::vector<std::string> argv, std::string input) {
  JM_CO_ASSIGN_OR_RETURN(UniqueFd in, InputFile(input));
  JM_CO_ASSIGN_OR_RETURN(Pipe out_pipe, MakePipe());
  JM_CO_ASSIGN_OR_RETURN(Pipe err_pipe, MakePipe());
  const Stdio stdio{.in = in.get(), .out = out_pipe.write.get(), .err = err_pipe.write.get()};
  JM_CO_ASSIGN_OR_RETURN(const pid_t pid, StartProcess(std::move(argv), stdio, ProcessGroup::kOwn));
  Child child(pid);
  out_pipe.write.Reset();
  err_pipe.write.Reset();

  const auto executor = co_await asio::this_coro::executor;
  const auto out = std::make_shared<Stream>(executor, std::move(out_pipe.read));
  const auto err = std::make_shared<Stream>(executor, std::move(err_pipe.read));
  CancelScope pumps;
  Spawn(executor, pumps, Pump(out));
  Spawn(executor, pumps, Pump(err));
  co_await child.WaitExit();
  // Wait for the end of the process, not of its output: processes it left in the background may
  // hold the pipes open for ever.
  pumps.Cancel();
  out->ReadAvailable();
  err->ReadAvailable();
  JM_CO_ASSIGN_OR_RETURN(const int exit_code, child.Reap());
  ProcessResult result{
      .exit_code = exit_code, .out = std::move(out->text), .err = std::move(err->text)};
  co_return result;
}

void ForbidCoreDumps() {
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

}  // namespace jobman::base
