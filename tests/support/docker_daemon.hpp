#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>

#include "jobman/base/strings.hpp"

namespace jobman::test {

/// What the command prints on stdout, and a line break less.
inline std::string OutputOf(const std::string& command) {
  FILE* const pipe = popen(command.c_str(), "r");
  std::string text;
  std::array<char, 4096> some = {};
  std::size_t got = 0;
  while (pipe != nullptr && (got = fread(some.data(), 1, some.size(), pipe)) > 0)
    text.append(some.data(), got);
  if (pipe != nullptr) pclose(pipe);
  return std::string(base::Trim(text));
}

/// In `folder`, what is in the image "box": root/, and root.tar of it. /box is only there.
inline void MakeBoxRoot(const std::string& folder) {
  OutputOf(
      "cd " + folder +
      " && mkdir -p root/bin root/tmp root/proc && cp $(command -v busybox) root/bin/busybox &&"
      " for file in $(ldd root/bin/busybox 2>/dev/null | grep -o '/[^ ]*'); do"
      "   mkdir -p root${file%/*} && cp -L $file root$file; done &&"
      " for name in sh cat echo sleep env ls id mkdir touch setsid; do ln -s busybox "
      "root/bin/$name; done &&"
      " touch root/box && tar -C root -cf root.tar .");
}

/// A daemon of docker with everything in a temporary folder; it ends with the object.
class DockerDaemon {
 public:
  explicit DockerDaemon(const std::string& environment = "", const std::string& data_options = "") {
    folder_ = OutputOf("mktemp -d");
    if (!data_options.empty()) {
      OutputOf("mkdir " + Folder("data") + " && mount -t tmpfs -o " + data_options + " none " +
               Folder("data"));
    }
    pid_ = fork();
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGTERM);  // also if the test is killed
      const int log = open(Folder("log").c_str(), O_WRONLY | O_CREAT, 0600);
      dup2(log, 1);
      dup2(log, 2);
      setsid();
      execl("/bin/sh", "sh", "-c", (environment + " exec " + Command()).c_str(),
            static_cast<char*>(nullptr));
      _exit(127);
    }
    Comes([&] {
      ended_ = waitpid(pid_, nullptr, WNOHANG) == pid_;
      return ended_ || !Docker("version -f '{{.Server.Version}}'").empty();
    });
  }
  ~DockerDaemon() {
    if (!ended_) {
      kill(pid_, SIGTERM);
      if (!Comes([&] { return waitpid(pid_, nullptr, WNOHANG) == pid_; })) {
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
      }
    }
    Forget(folder_);
  }
  DockerDaemon(const DockerDaemon&) = delete;
  DockerDaemon& operator=(const DockerDaemon&) = delete;

  /// Why there can be none here; empty if there can.
  static std::string Missing() {
    if (getuid() != 0) return "only root may start dockerd";
    for (const char* program : {"dockerd", "docker", "busybox"}) {
      if (OutputOf(std::string("command -v ") + program).empty())
        return std::string(program) + " is not installed";
    }
    return "";
  }
  /// Makes the image "box" of `folder`/root.tar, and tries it. Why that failed; empty if it did
  /// not.
  std::string Import(const std::string& folder) const {
    if (Docker("import " + folder + "/root.tar box").empty())
      return "dockerd does not work here: " + LastWords();
    if (Docker("run --rm --network=host box echo works") != "works")
      return "containers cannot run here";
    return "";
  }
  /// Removes the folder of a daemon that has ended, which leaves a mount behind.
  static void Forget(const std::string& folder) {
    OutputOf("umount " + folder + "/exec/netns/default " + folder + "/data 2>/dev/null; rm -rf " +
             folder);
  }
  /// How the daemon is started, with paths in `folder`.
  std::string Command() const {
    return "dockerd -H " + Address() + " --data-root " + Folder("data") + " --exec-root " +
           Folder("exec") + " --pidfile " + Folder("pid") +
           " --iptables=false --bridge=none --insecure-registry=eu-docker.pkg.dev";
  }
  std::string Folder(const std::string& name) const { return folder_ + "/" + name; }
  std::string Address() const { return "unix://" + Folder("socket"); }
  std::string Docker(const std::string& arguments) const {
    return OutputOf("DOCKER_HOST=" + Address() + " timeout -k 5 60 docker " + arguments +
                    " 2>/dev/null");
  }
  std::string LastWords() const { return OutputOf("tail -n 1 " + Folder("log")); }

 private:
  /// Whether it becomes true within a minute.
  static bool Comes(const std::function<bool()>& condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes{1};
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end) return false;
      poll(nullptr, 0, 5);
    }
    return true;
  }

  std::string folder_;
  pid_t pid_ = -1;
  bool ended_ = false;
};

}  // namespace jobman::test
