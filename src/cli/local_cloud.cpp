#include "cli/local_cloud.hpp"

#include <signal.h>

#include <cerrno>

#include "cli/spawn.hpp"
#include "jobman/base/json.hpp"
#include "jobman/base/log.hpp"

namespace jobman::cli {
namespace {

base::Path SimulatorProgram() {
  const base::Path beside = base::SelfExe().parent_path() / "jobman-sim";
  return std::filesystem::exists(beside) ? beside : base::Path{"jobman-sim"};
}

}  // namespace

std::optional<LocalCloud> FindLocalCloud(const base::StatePaths& paths) {
  const auto text = base::ReadFile(paths.SimDir() / "sim.json");
  if (!text.ok()) return {};
  const auto json = base::ParseJson(*text);
  if (!json.ok()) return {};
  LocalCloud cloud{.endpoint = base::GetString(*json, "endpoint"),
                   .ssh_port = static_cast<int>(base::GetInt(*json, "ssh_port")),
                   .pid = base::GetInt(*json, "pid"),
                   .user = base::GetString(*json, "user")};
  if (cloud.pid <= 0 || cloud.endpoint.empty()) return {};
  if (kill(static_cast<pid_t>(cloud.pid), 0) != 0 && errno == ESRCH) return {};
  return cloud;
}

base::Result<LocalCloud> EnsureLocalCloud(const base::StatePaths& paths) {
  if (const auto cloud = FindLocalCloud(paths)) return *cloud;
  JM_TRY(base::EnsureDir(paths.SimDir()));
  const std::string program = SimulatorProgram().string();
  const base::Path log = paths.SimDir() / "up.log";
  base::Log(base::LogLevel::kDebug, "cli", "starting the local simulator in {}; its output is {}",
            paths.SimDir().string(), log.string());
  JM_ASSIGN_OR_RETURN(const int code,
                      RunToEnd({program, "up", "--detach", "--dir", paths.SimDir().string()}, log));
  if (const auto cloud = FindLocalCloud(paths); cloud && code == 0) return *cloud;
  const auto said = base::ReadFile(log);
  return base::Error{
      .code = base::Code::kUnavailable,
      .message = "the local simulator did not start: " + program + " up ended with " +
                 std::to_string(code) + (said.ok() && !said->empty() ? ": " + *said : ""),
      .hint = "run it by hand to see why: " + program + " up --dir " + paths.SimDir().string()};
}

}  // namespace jobman::cli
