#include "sim/hosts/processes.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "jobman/base/env.hpp"
#include "jobman/base/strings.hpp"

namespace jobman::sim {

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

std::vector<pid_t> SshServers(pid_t root) {
  std::vector<pid_t> servers = Tree(root);
  std::erase_if(servers, [](pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/comm");
    std::string name;
    std::getline(file, name);
    return !name.starts_with("sshd");
  });
  return servers;
}

bool IsAlive(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  // "1234 (name) S ...": the name may contain parentheses too.
  const auto end = text.rfind(')');
  if (end == std::string::npos || end + 2 >= text.size()) return false;
  const char state = text[end + 2];
  return state != 'Z' && state != 'X';
}

}  // namespace jobman::sim
