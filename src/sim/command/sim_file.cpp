#include "sim/command/sim_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jobman/base/env.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/base/trusted.hpp"

namespace jobman::sim {

namespace {

constexpr std::string_view kHere = "http://127.0.0.1:";

base::Path TokenPath(const base::Path& dir) {
  return dir / "token";
}

base::Error Distrusted(const base::Path& path, const std::string& why, const std::string& cure) {
  return {.code = base::Code::kPermissionDenied, .message = path.string() + why, .hint = cure};
}

/// Whether only `owner` can change it.
base::Status CheckOwner(const base::Path& path, uid_t owner) {
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0) return base::FromErrno(errno, path.string());
  if (info.st_uid != owner) {
    return Distrusted(path, fmt::format(" belongs to another user (uid {})", info.st_uid),
                      "choose a folder of your own with --dir");
  }
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0 && !S_ISLNK(info.st_mode)) {
    return Distrusted(path, " can be written by other users",
                      "chmod go-w " + path.string() + ", if it is right as it is");
  }
  return base::Ok();
}

/// Root may look after the simulators of others.
uid_t TrustedOwner(const base::Path& path) {
  struct stat info {};
  if (geteuid() != 0 || lstat(path.c_str(), &info) != 0) return geteuid();
  return info.st_uid;
}

}  // namespace

base::Status CheckSimDir(const base::Path& dir) {
  JM_TRY(CheckOwner(dir, geteuid()));
  return base::CheckTrusted(
      dir, {.what = "the simulator's folder", .instead = "choose another one with --dir"});
}

base::UniqueFd TryLock(const base::Path& dir) {
  base::UniqueFd fd(open((dir / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (fd && flock(fd.get(), LOCK_EX | LOCK_NB) != 0) fd.Reset();
  return fd;
}

bool IsHeld(const base::Path& dir) {
  // A shared lock, so that two who look do not take each other for a simulator.
  const base::UniqueFd fd(open((dir / "lock").c_str(), O_RDONLY | O_CLOEXEC));
  return fd && flock(fd.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
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
  const base::Path path = SimFilePath(dir);
  JM_TRY(CheckOwner(path, TrustedOwner(path)));
  JM_ASSIGN_OR_RETURN(const std::string text, base::ReadRegularFile(path));
  const auto json = ParseJson(text);
  if (!json || Number(*json, "pid") <= 0) {
    return base::InvalidArgument(path.string() + " is damaged");
  }
  const std::string endpoint = Text(*json, "endpoint");
  if (!endpoint.starts_with(kHere) || !base::ParseNumber(endpoint.substr(kHere.size()))) {
    return Distrusted(path, " has the endpoint " + endpoint + ", which is no simulator here",
                      "remove the file");
  }
  return SimFile{.pid = static_cast<int>(Number(*json, "pid")),
                 .endpoint = endpoint,
                 .ssh_port = static_cast<int>(Number(*json, "ssh_port")),
                 .metadata_port = static_cast<int>(Number(*json, "metadata_port")),
                 .sandbox = Text(*json, "sandbox"),
                 .user = Text(*json, "user"),
                 .started = Text(*json, "started"),
                 .token = Text(*json, "token")};
}

base::Status WriteSimFile(const base::Path& dir, const SimFile& file) {
  JM_TRY(base::WriteFileAtomic(TokenPath(dir), file.token + "\n", 0600));
  Json json = ToJson(file);
  json["token"] = file.token;
  return base::WriteFileAtomic(SimFilePath(dir), json.dump(2) + "\n", 0600);
}

void RemoveSimFile(const base::Path& dir) {
  for (const base::Path& path : {SimFilePath(dir), TokenPath(dir)}) {
    (void)base::RemoveAll(path).ok();
  }
}

}  // namespace jobman::sim
