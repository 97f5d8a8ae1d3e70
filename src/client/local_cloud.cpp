#include "jobman/client/local_cloud.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include "jobman/base/files.hpp"
#include "jobman/base/handle.hpp"
#include "jobman/base/json.hpp"
#include "jobman/base/log.hpp"
#include "jobman/base/process.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/base/trusted.hpp"
#include "jobman/client/times.hpp"

namespace jobman::client {
namespace {

using base::Error;

constexpr std::string_view kOwnHome = "set JOBMAN_HOME to a folder of your own";
constexpr std::string_view kHere = "http://127.0.0.1:";
constexpr std::int64_t kLastPort = 65535;

/// Whether a simulator holds its lock. A shared lock, so that two who look do not see each other.
bool IsHeld(const base::Path& dir) {
  const base::UniqueFd fd(open((dir / "lock").c_str(), O_RDONLY | O_CLOEXEC));
  return fd && flock(fd.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

bool IsOnThisMachine(const std::string& endpoint) {
  if (!endpoint.starts_with(kHere)) return false;
  const auto port = base::ParseNumber(endpoint.substr(kHere.size()));
  return port && *port > 0 && *port <= kLastPort;
}

}  // namespace

base::Result<LocalCloud> FindLocalCloud(const base::StatePaths& paths) {
  const base::Path dir = paths.SimDir();
  const base::Path file = dir / "sim.json";
  const Error none = base::NotFound("no simulator runs in " + dir.string());
  if (!base::FileSize(file) || !IsHeld(dir)) return none;
  // Who else could write here could send our jobs, and our logins, to hosts of their own.
  JM_TRY(base::CheckTrusted(file, {.what = "the simulator's folder", .instead = kOwnHome}));
  const auto text = base::ReadRegularFile(file);
  const auto json = text.ok() ? base::ParseJson(*text) : base::Result<base::Json>(text.error());
  if (!json.ok()) return none;
  LocalCloud cloud{.endpoint = base::GetString(*json, "endpoint"),
                   .ssh_port = static_cast<int>(base::GetInt(*json, "ssh_port")),
                   .pid = base::GetInt(*json, "pid"),
                   .user = base::GetString(*json, "user"),
                   .token = base::GetString(*json, "token")};
  if (cloud.pid <= 0 || cloud.endpoint.empty()) return none;
  if (!IsOnThisMachine(cloud.endpoint)) {
    return Error{.code = base::Code::kFailedPrecondition,
                 .message = file.string() + " has the endpoint " + cloud.endpoint +
                            ", which is no simulator of this machine",
                 .hint = "remove the file, and end the simulator with `jobman-sim down`"};
  }
  return cloud;
}

base::Task<base::Result<LocalCloud>> StartLocalCloud(base::StatePaths paths, base::Path simulator) {
  auto found = FindLocalCloud(paths);
  if (found.ok() || found.error().code != base::Code::kNotFound) co_return found;
  JM_CO_TRY(base::EnsureDir(paths.SimDir()));
  const std::string program = simulator.string();
  const std::string dir = paths.SimDir().string();
  base::Log(base::LogLevel::kDebug, "cli", "starting the local simulator in {}", dir);
  const std::vector<std::string> argv = {program, "up", "--detach", "--dir", dir};
  JM_CO_ASSIGN_OR_RETURN(const auto ended,
                         co_await base::WithTimeout(base::RunProcess(argv), kSimulatorStartLimit,
                                                    "starting the local simulator"));
  auto started = FindLocalCloud(paths);
  if (started.ok() && ended.exit_code == 0) co_return started;
  const std::string said(base::Trim(ended.out + ended.err));
  Error error{.code = base::Code::kUnavailable,
              .message = "the local simulator did not start: " + program + " up ended with " +
                         std::to_string(ended.exit_code) + (said.empty() ? "" : ": " + said),
              .hint = "run it by hand to see why: " + program + " up --dir " + dir};
  co_return error;
}

}  // namespace jobman::client
