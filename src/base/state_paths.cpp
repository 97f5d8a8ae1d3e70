#include "jobman/base/state_paths.hpp"

#include <fmt/format.h>
#include <sys/un.h>

namespace jobman::base {

Path StatePaths::StoreDir() const {
  return home / "store";
}

Path StatePaths::JobDir(std::int64_t job) const {
  return home / "jobs" / FormatJobNumber(job);
}

Path StatePaths::AttemptDir(std::int64_t job, int attempt) const {
  return JobDir(job) / fmt::format("attempt-{}", attempt);
}

Path StatePaths::LogPath(std::int64_t job, int attempt, std::string_view stage, int host) const {
  return AttemptDir(job, attempt) / std::string(stage) / fmt::format("host-{:04}.log", host);
}

Path StatePaths::ControllerLog() const {
  return home / "controller.log";
}

Path StatePaths::ControllerSocket() const {
  return home / "controller.sock";
}

Path StatePaths::SimDir() const {
  return home / "sim";
}

Path StatePaths::KeyPath() const {
  return home / "ssh" / "id_ed25519";
}

bool SocketPathFits(const Path& path) {
  return path.native().size() < sizeof(sockaddr_un{}.sun_path);
}

std::string FormatJobNumber(std::int64_t job) {
  return fmt::format("{:06}", job);
}

}  // namespace jobman::base
