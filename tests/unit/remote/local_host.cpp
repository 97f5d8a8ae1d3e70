#include "tests/unit/remote/local_host.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <vector>

#include "jobman/base/strings.hpp"

namespace jobman::remote {
namespace {

base::Path MakeTempDir() {
  std::string name = std::filesystem::temp_directory_path() / "jobman-remote-XXXXXX";
  if (!mkdtemp(name.data())) ADD_FAILURE() << "mkdtemp failed";
  return name;
}

void WriteTo(const base::Path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// Starts the command as sshd would. By posix_spawn: to copy the pages of a program with
/// sanitizers, as fork does, costs more than most commands.
pid_t SpawnShell(const base::Path& folder, const std::string& command,
                 const std::vector<std::string>& environment) {
  std::vector<char*> envp;
  for (const auto& entry : environment) envp.push_back(const_cast<char*>(entry.c_str()));
  envp.push_back(nullptr);
  constexpr int kNew = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, (folder / "in").c_str(), O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, (folder / "out").c_str(), kNew, 0600);
  posix_spawn_file_actions_addopen(&files, 2, (folder / "err").c_str(), kNew, 0600);
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigdefault(&attributes, &pipe);  // as on a host
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  char* const argv[] = {const_cast<char*>("sh"), const_cast<char*>("-c"),
                        const_cast<char*>(command.c_str()), nullptr};
  pid_t pid = -1;
  EXPECT_EQ(posix_spawn(&pid, "/bin/sh", &files, &attributes, argv, envp.data()), 0);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return pid;
}

}  // namespace

std::string Slurp(const base::Path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

bool Eventually(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{180};
  while (true) {
    const auto began = std::chrono::steady_clock::now();
    if (condition()) return true;
    const auto ended = std::chrono::steady_clock::now();
    if (ended > deadline) return false;
    // A look that starts processes rests as long as it took.
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(ended - began);
    poll(nullptr, 0, std::max(5, static_cast<int>(took.count())));
  }
}

bool IsAlive(pid_t pid) {
  const std::string stat = Slurp("/proc/" + std::to_string(pid) + "/stat");
  const auto end_of_name = stat.rfind(") ");
  return end_of_name != std::string::npos && stat[end_of_name + 2] != 'Z';
}

LocalHost::LocalHost(const std::string& shell, base::Path home)
    : owns_home_(home.empty()), home_(owns_home_ ? MakeTempDir() : std::move(home)) {
  std::string path = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";
  if (!shell.empty()) {
    std::filesystem::create_directories(home_ / "shell");
    std::error_code there_already;
    std::filesystem::create_symlink(shell, home_ / "shell/sh", there_already);
    path = (home_ / "shell").string() + ":" + path;
  }
  WriteTo(home_ / "boot_id", "boot-1\n");
  env = {{"HOME", home_},
         {"PATH", path},
         {"JOBMAN_BOOT_ID_FILE", home_ / "boot_id"},
         {"JOBMAN_CHIP_DEVICES", (home_ / "dev/accel*").string()},
         {"JOBMAN_CHIP_LOCK", home_ / "libtpu_lockfile"},
         {"GCE_METADATA_HOST", ""}};
}

LocalHost::~LocalHost() {
  std::error_code ignored;
  for (const auto& run : std::filesystem::directory_iterator(home_ / ".jobman/runs", ignored))
    Stop(run.path().filename(), 0);
  if (owns_home_) std::filesystem::remove_all(home_, ignored);
}

std::string LocalHost::Running::Out() const {
  return Slurp(folder / "out");
}

LocalHost::Running LocalHost::Start(const Call& call) {
  Running running;
  static int calls = 0;  // over all hosts, which may share a home
  running.folder = home_ / "calls" / std::to_string(++calls);
  std::filesystem::create_directories(running.folder);
  WriteTo(running.folder / "in", call.late_input ? call.late_input().value() : call.input);
  std::vector<std::string> environment;
  for (const auto& [name, value] : env) environment.push_back(name + "=" + value);
  running.pid = SpawnShell(running.folder, call.command, environment);
  return running;
}

Ended LocalHost::Wait(const Running& running) {
  int status = 0;
  pid_t got = 0;
  const bool ended = Eventually([&] {
    got = waitpid(running.pid, &status, WNOHANG);
    return got != 0;
  });
  if (!ended) {
    ADD_FAILURE() << "the call did not end; so far: " << running.Out();
    kill(running.pid, SIGKILL);
    waitpid(running.pid, &status, 0);
  }
  // The order may contain secrets: it was stdin, not a file of the host.
  std::filesystem::remove(running.folder / "in");
  return {.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          .out = running.Out(),
          .err = Slurp(running.folder / "err")};
}

Ended LocalHost::Run(const RunOrder& order, std::int64_t offset) {
  const auto call = RunCall(order, offset);
  if (!call.ok()) {
    ADD_FAILURE() << call.error().ToString();
    return {};
  }
  return Do(*call);
}

RunStatus LocalHost::StatusOf(const std::string& run_id) {
  for (const std::string& line : base::Split(Do(ListCall(run_id)).out, '\n')) {
    if (!line.starts_with(run_id + " ")) continue;
    const auto status = ParseStatus(line.substr(run_id.size()));
    return status.ok() ? *status : RunStatus{.kind = RunStatus::Kind::kError, .text = line};
  }
  return {.kind = RunStatus::Kind::kAbsent};
}

RunStatus LocalHost::Stop(const std::string& run_id, int grace_seconds) {
  const Ended ended = Do(StopCall(run_id, std::chrono::seconds{grace_seconds}));
  const auto status = ParseStatus(ended.out);
  return status.ok() ? *status
                     : RunStatus{.kind = RunStatus::Kind::kError, .text = ended.out + ended.err};
}

}  // namespace jobman::remote
