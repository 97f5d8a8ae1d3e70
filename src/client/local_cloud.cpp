#include "jobman/client/local_cloud.hpp"

#include <signal.h>

#include <cerrno>

#include "jobman/base/json.hpp"
#include "jobman/base/log.hpp"
#include "jobman/base/process.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/client/times.hpp"

namespace jobman::client {

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

base::Task<base::Result<LocalCloud>> StartLocalCloud(base::StatePaths paths, base::Path simulator) {
  if (const auto cloud = FindLocalCloud(paths)) co_return *cloud;
  JM_CO_TRY(base::EnsureDir(paths.SimDir()));
  const std::string program = simulator.string();
  const std::string dir = paths.SimDir().string();
  base::Log(base::LogLevel::kDebug, "cli", "starting the local simulator in {}", dir);
  const std::vector<std::string> argv = {program, "up", "--detach", "--dir", dir};
  JM_CO_ASSIGN_OR_RETURN(const auto ended,
                         co_await base::WithTimeout(base::RunProcess(argv), kSimulatorStartLimit,
                                                    "starting the local simulator"));
  if (const auto cloud = FindLocalCloud(paths); cloud && ended.exit_code == 0) co_return *cloud;
  const std::string said(base::Trim(ended.out + ended.err));
  base::Error error{.code = base::Code::kUnavailable,
                    .message = "the local simulator did not start: " + program + " up ended with " +
                               std::to_string(ended.exit_code) + (said.empty() ? "" : ": " + said),
                    .hint = "run it by hand to see why: " + program + " up --dir " + dir};
  co_return error;
}

}  // namespace jobman::client
