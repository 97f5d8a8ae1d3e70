#include "sim/command/sim_file.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include "jobman/base/env.hpp"

namespace jobman::sim {

base::UniqueFd TryLock(const base::Path& dir) {
  base::UniqueFd fd(open((dir / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (fd && flock(fd.get(), LOCK_EX | LOCK_NB) != 0) fd.Reset();
  return fd;
}

bool IsHeld(const base::Path& dir) {
  return base::FileSize(dir / "lock").has_value() && !TryLock(dir);
}

base::Path DefaultSimDir() {
  if (const auto dir = base::GetEnv("JOBMAN_SIM_DIR")) return base::ExpandHome(*dir);
  if (const auto home = base::GetEnv("JOBMAN_HOME")) return base::ExpandHome(*home) / "sim";
  const auto state = base::GetEnv("XDG_STATE_HOME");
  return (state ? base::ExpandHome(*state) : base::HomeDir() / ".local/state") / "jobman" / "sim";
}

base::Path SimFilePath(const base::Path& dir) {
  return dir / "sim.json";
}

Json ToJson(const SimFile& file) {
  return {{"pid", file.pid},           {"endpoint", file.endpoint},
          {"ssh_port", file.ssh_port}, {"metadata_port", file.metadata_port},
          {"sandbox", file.sandbox},   {"user", file.user},
          {"started", file.started}};
}

base::Result<SimFile> ReadSimFile(const base::Path& dir) {
  JM_ASSIGN_OR_RETURN(const std::string text, base::ReadFile(SimFilePath(dir)));
  const auto json = ParseJson(text);
  if (!json || Number(*json, "pid") <= 0) {
    return base::InvalidArgument(SimFilePath(dir).string() + " is damaged");
  }
  return SimFile{.pid = static_cast<int>(Number(*json, "pid")),
                 .endpoint = Text(*json, "endpoint"),
                 .ssh_port = static_cast<int>(Number(*json, "ssh_port")),
                 .metadata_port = static_cast<int>(Number(*json, "metadata_port")),
                 .sandbox = Text(*json, "sandbox"),
                 .user = Text(*json, "user"),
                 .started = Text(*json, "started")};
}

base::Status WriteSimFile(const base::Path& dir, const SimFile& file) {
  return base::WriteFileAtomic(SimFilePath(dir), ToJson(file).dump(2) + "\n", 0600);
}

}  // namespace jobman::sim
