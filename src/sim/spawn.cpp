#include "sim/spawn.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "jobman/base/env.hpp"
#include "jobman/base/strings.hpp"

extern char** environ;

namespace jobman::sim {

namespace {

/// posix_spawn's two objects, released together.
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

}  // namespace

base::Result<pid_t> Spawn(const std::vector<std::string>& argv, const Stdio& stdio) {
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
  posix_spawnattr_setflags(&plan.attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);

  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  pid_t pid = 0;
  const int failed =
      posix_spawn(&pid, words[0], &plan.files, &plan.attributes, words.data(), environ);
  if (failed != 0) return base::FromErrno(failed, "starting " + argv[0]);
  return pid;
}

base::Path FindProgram(const std::string& name) {
  std::vector<std::string> folders = base::Split(base::GetEnv("PATH").value_or(""), ':');
  folders.insert(folders.end(),
                 {"/usr/sbin", "/usr/local/sbin", "/sbin", "/usr/bin", "/usr/local/bin", "/bin",
                  "/usr/lib/openssh", "/usr/libexec/openssh"});
  for (const std::string& folder : folders) {
    if (folder.empty()) continue;
    base::Path path = base::Path(folder) / name;
    if (access(path.c_str(), X_OK) == 0) return path;
  }
  return {};
}

std::vector<pid_t> Children(pid_t pid) {
  const std::string number = std::to_string(pid);
  std::vector<pid_t> children;
  std::error_code ignored;
  for (const auto& task :
       std::filesystem::directory_iterator("/proc/" + number + "/task", ignored)) {
    std::ifstream file(task.path() / "children");
    for (pid_t child = 0; file >> child;) children.push_back(child);
  }
  return children;
}

std::vector<pid_t> Tree(pid_t root) {
  std::vector<pid_t> tree = {root};
  for (std::size_t i = 0; i < tree.size(); ++i) {
    const std::vector<pid_t> children = Children(tree[i]);
    tree.insert(tree.end(), children.begin(), children.end());
  }
  return tree;
}

bool IsAlive(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  // "1234 (name) S ...": the name may hold anything, parentheses too.
  const auto end = text.rfind(')');
  if (end == std::string::npos || end + 2 >= text.size()) return false;
  const char state = text[end + 2];
  return state != 'Z' && state != 'X';
}

}  // namespace jobman::sim
