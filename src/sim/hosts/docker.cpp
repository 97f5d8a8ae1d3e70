#include "sim/hosts/docker.hpp"

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "jobman/base/log.hpp"
#include "jobman/base/process.hpp"
#include "jobman/base/strings.hpp"
#include "sim/hosts/processes.hpp"

namespace jobman::sim {

namespace {

constexpr auto kDockerLimit = std::chrono::seconds(20);  ///< for an answer of the daemon

/// What `docker ARGS` prints; an error with its last words if it fails.
base::Result<std::string> AskDocker(const Docker& docker, const std::vector<std::string>& args) {
  std::vector<std::string> words = {docker.client, "-H", "unix://" + docker.socket.string()};
  words.insert(words.end(), args.begin(), args.end());
  asio::io_context loop;
  JM_ASSIGN_OR_RETURN(const auto ended,
                      base::RunTask(loop, base::WithTimeout(base::RunProcess(std::move(words)),
                                                            kDockerLimit, "docker")));
  if (ended.exit_code == 0) return ended.out;
  return base::Error{.code = base::Code::kFailedPrecondition,
                     .message = base::Split(base::Trim(ended.err), '\n').back()};
}

/// The ids of the containers, also of those that do not run.
base::Result<std::vector<std::string>> ContainersOf(const Docker& docker,
                                                    const base::Path& folder) {
  JM_ASSIGN_OR_RETURN(
      const std::string listed,
      AskDocker(docker, {"ps", "--all", "--no-trunc", "--format", "{{.ID}} {{.Mounts}}"}));
  std::vector<std::string> ids;
  for (const std::string& line : base::Split(listed, '\n')) {
    const std::size_t end = line.find(' ');
    if (end == std::string::npos) continue;
    for (const std::string& mount : base::Split(line.substr(end + 1), ',')) {
      if (!mount.starts_with(folder.string() + "/")) continue;
      ids.push_back(line.substr(0, end));
      break;
    }
  }
  return ids;
}

base::Status RemoveContainers(const Docker& docker, const base::Path& folder) {
  JM_ASSIGN_OR_RETURN(const std::vector<std::string> ids, ContainersOf(docker, folder));
  if (ids.empty()) return base::Ok();
  std::vector<std::string> words = {"rm", "--force"};
  words.insert(words.end(), ids.begin(), ids.end());
  JM_TRY(AskDocker(docker, words));
  return base::Ok();
}

}  // namespace

base::Result<Docker> FindDocker(const base::Path& socket) {
  const std::string what = "--docker " + socket.string();
  std::error_code failed;
  const Docker docker{.client = FindProgram("docker"),
                      .socket = std::filesystem::canonical(socket, failed)};
  if (failed) {
    return base::NotFound(what + ": " + failed.message(),
                          "start the docker daemon, or name the socket that it listens on");
  }
  if (docker.client.empty()) {
    return base::NotFound(what + ": the docker client (docker) is not installed",
                          "apt-get install docker.io");
  }
  if (auto answer = AskDocker(docker, {"version", "--format", "{{.Server.Version}}"});
      !answer.ok()) {
    return base::Error{.code = base::Code::kFailedPrecondition,
                       .message = what + ": no docker daemon answers: " + answer.error().message,
                       .hint = "start it, and see that you may use it: docker version"};
  }
  return docker;
}

void EndContainers(const Docker& docker, const base::Path& folder) {
  const base::Status ended = RemoveContainers(docker, folder);
  if (ended.ok()) return;
  base::Log(base::LogLevel::kWarn, "hosts", "containers of {} may still run: {}", folder.string(),
            ended.error().ToString());
}

}  // namespace jobman::sim
