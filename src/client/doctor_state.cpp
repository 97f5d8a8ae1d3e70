// What `doctor` finds of jobman itself: its folder, its store, its controller, its libraries.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>

#include "client/doctor_parts.hpp"
#include "jobman/base/process.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/base/trusted.hpp"
#include "jobman/client/background_controller.hpp"
#include "jobman/client/store_site.hpp"
#include "jobman/client/times.hpp"
#include "jobman/controller/controller.hpp"

namespace jobman::client {
namespace {

/// Logs of a job easily take that much.
constexpr std::int64_t kLittleRoom = std::int64_t{256} << 20;

/// The folder, or the nearest one above it that is there.
base::Path NearestFolder(base::Path folder) {
  std::error_code ignored;
  while (folder.has_relative_path() && !std::filesystem::exists(folder, ignored))
    folder = folder.parent_path();
  return folder;
}

base::Status CanWrite(const base::Path& folder) {
  if (::access(folder.c_str(), W_OK | X_OK) == 0) return base::Ok();
  base::Error error = base::FromErrno(errno, "writing to " + folder.string());
  error.hint = "set JOBMAN_HOME (or pass --home) to a folder that you may write to";
  return error;
}

base::Status FolderIsUsable(const base::StatePaths& paths, const base::Path& folder) {
  JM_TRY(base::CheckTrusted(
      paths.home, {.what = "jobman's home folder",
                   .instead = "set JOBMAN_HOME (or pass --home) to a folder of your own"}));
  JM_TRY(CanWrite(folder));
  return ControllerCanWork({.home = folder});
}

std::string StoreCure(const base::StatePaths& paths) {
  return "see to " + paths.StoreDir().string() +
         ": is its disk there, and are its files yours? Or use another home: JOBMAN_HOME";
}

std::string RoomText(const std::optional<std::int64_t>& room) {
  return room ? ", " + base::FormatBytes(*room) + " free" : std::string();
}

/// Whether the controller is not the program that runs here. Nothing if that cannot be seen: it is
/// on another machine, or may not be looked into, as every process that has had credentials.
std::optional<bool> IsAnotherProgram(const std::string& lease_holder) {
  const auto holder = controller::ParseHolder(lease_holder);
  if (!holder || !controller::IsHere(*holder)) return std::nullopt;
  std::error_code failed;
  const auto theirs =
      std::filesystem::read_symlink(fmt::format("/proc/{}/exe", holder->pid), failed);
  if (failed) return std::nullopt;
  const auto ours = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed) return std::nullopt;
  return theirs != ours;
}

Finding JudgeController(const std::string& name, const std::string& lease_holder) {
  const std::string found = controller::HolderText(lease_holder);
  const auto another = IsAnotherProgram(lease_holder);
  if (!another)
    return IsFine(name, found + "; whether it is of this version cannot be seen from here");
  if (!*another) return IsFine(name, found);
  return IsOdd(name, found + ", of another version",
               "jobman controller stop && jobman controller start");
}

/// "OpenSSH_9.2p1 Debian-2": what `ssh -V` writes, up to the first comma.
base::Task<std::string> OpenSshVersion() {
  const std::vector<std::string> argv = {"ssh", "-V"};
  auto running = base::RunProcess(argv);
  std::string what = "ssh -V";
  const auto ran = co_await base::WithTimeout(std::move(running), kCheckLimit, std::move(what));
  if (!ran.ok()) co_return std::string();
  const std::string line = base::Split(ran->err, '\n').front();
  co_return base::Split(line, ',').front();
}

}  // namespace

base::Task<Finding> CheckFolder(CheckupPtr checkup, std::string name) {
  const base::StatePaths& paths = checkup->context.paths;
  const base::Path folder = NearestFolder(paths.home);
  const base::Status usable = FolderIsUsable(paths, folder);
  if (!usable.ok()) co_return HasFailed(name, usable.error());
  const Disk disk = checkup->probes.look_at_disk ? checkup->probes.look_at_disk(folder) : Disk();
  const auto room = base::FreeSpace(folder);
  std::string found = paths.home.string();
  if (folder != paths.home) found += " will be made when it is needed";
  if (!disk.type.empty()) found += ", on " + disk.type;
  found += RoomText(room);
  if (disk.locks_stay_here)
    co_return IsOdd(name, found + "; machines do not see each other's locks there",
                    "use it from one machine only, or set JOBMAN_HOME to a local disk");
  if (room && *room < kLittleRoom)
    co_return IsOdd(name, found, "free some space: jobman clean, jobman gc");
  co_return IsFine(name, found);
}

base::Task<Finding> CheckStore(CheckupPtr checkup, std::string name) {
  const Context& context = checkup->context;
  const std::string cure = StoreCure(context.paths);
  if (!checkup->about.store.ok()) co_return HasFailed(name, checkup->about.store.error(), cure);
  if (context.stores.jobs == nullptr) co_return IsSkipped(name, "there is none");
  const base::Status site = co_await CheckSite(context, false);
  if (!site.ok()) co_return HasFailed(name, site.error(), cure);
  const ports::JobFilter all;
  const auto jobs = co_await context.stores.jobs->List(all);
  if (!jobs.ok()) co_return HasFailed(name, jobs.error(), cure);
  const auto count = static_cast<std::int64_t>(jobs->size());
  co_return IsFine(name, "it opens, and has " + base::Plural(count, "job"));
}

base::Task<Finding> CheckController(CheckupPtr checkup, std::string name) {
  const Context& context = checkup->context;
  if (context.stores.leases == nullptr) co_return IsSkipped(name, "the store does not open");
  const auto lease = co_await LiveController(context.stores.leases, context.Now());
  if (!lease.ok()) co_return HasFailed(name, lease.error(), StoreCure(context.paths));
  if (*lease) co_return JudgeController(name, (*lease)->holder);
  const auto active = co_await context.stores.jobs->ActiveVersions();
  const auto waiting = active.ok() ? static_cast<std::int64_t>(active->size()) : 0;
  if (waiting == 0) co_return IsFine(name, "none runs; a command that needs one starts it");
  co_return IsOdd(name, "none runs, and " + base::Plural(waiting, "job") + " not over",
                  "jobman controller start");
}

base::Task<Finding> CheckVersions(CheckupPtr checkup, std::string name) {
  std::vector<std::string> words;
  if (checkup->probes.versions) {
    for (const auto& [program, version] : checkup->probes.versions())
      words.push_back(program + " " + version);
  }
  const std::string openssh = co_await OpenSshVersion();
  if (!openssh.empty()) words.push_back(openssh);
  const std::string found = base::Join(words, ", ");
  if (!openssh.empty()) co_return IsFine(name, found);
  co_return IsOdd(name, found + "; there is no ssh here",
                  "install OpenSSH's client for jobman ssh; nothing else needs it");
}

}  // namespace jobman::client
