#include "jobman/config/old_folder.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "config/import/old_refactor.hpp"
#include "jobman/base/state_paths.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/config/old_state.hpp"

namespace jobman::config {
namespace {

namespace fs = std::filesystem;
using base::Path;
using base::Result;

constexpr std::int64_t kLargestOldId = 999'999'999;

bool IsThere(const Path& path) {
  std::error_code problem;
  return fs::exists(path, problem);
}

/// The names in a folder, sorted; none if it cannot be read.
std::vector<std::string> NamesIn(const Path& folder) {
  std::vector<std::string> names;
  std::error_code problem;
  for (fs::directory_iterator at(folder, problem), end; !problem && at != end;
       at.increment(problem)) {
    names.push_back(at->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<std::int64_t> NumberOf(std::string_view text) {
  const auto number = base::ParseNumber(text);
  if (!number || *number < 1 || *number > kLargestOldId) return std::nullopt;
  return number;
}

/// From the file that has the number of the next job; 0 if it has none.
std::int64_t LastIdOf(const Path& file) {
  const auto text = base::ReadRegularFile(file);
  const auto next = text.ok() ? NumberOf(base::Trim(*text)) : std::nullopt;
  return next ? *next - 1 : 0;
}

/// What sessions of tmux may be called that run the job.
std::vector<std::string> SessionsOf(std::int64_t id) {
  return {"job_" + base::FormatJobNumber(id), "job_" + std::to_string(id)};
}

/// The first of the folders that has a job file. A folder may have been moved since meta.json
/// named it.
Path FolderOf(const Path& jobs, const OldJob& job) {
  // A name of its own, not a way out of the folder.
  const bool plain = !job.user.empty() && base::SafeFileName(job.user) == job.user;
  const Path of_user = plain ? jobs / job.user : jobs;
  for (const Path& folder : {of_user / base::FormatJobNumber(job.id),
                             of_user / std::to_string(job.id), Path(job.folder)}) {
    if (!folder.empty() && IsThere(folder / "config.yaml")) return folder;
  }
  return of_user / base::FormatJobNumber(job.id);
}

Result<OldFolder> ReadNumbered(const Path& jobs) {
  OldFolder found;
  JM_ASSIGN_OR_RETURN(const std::string text,
                      base::ReadRegularFile(jobs / ".jobman" / "meta.json"));
  auto meta = ReadOldJobs(text);
  if (!meta.ok()) {
    return base::InvalidArgument((jobs / ".jobman" / "meta.json").string() + ": " +
                                 meta.error().message);
  }
  bool named = false;
  for (const OldJob& job : meta->jobs) {
    const Path folder = FolderOf(jobs, job);
    std::vector<std::string> sessions = SessionsOf(job.id);
    if (!job.session.empty()) sessions.insert(sessions.begin(), job.session);
    named = named || !job.name.empty();
    found.entries.push_back({.id = job.id,
                             .name = job.name,
                             .user = job.user,
                             .config_file = folder / "config.yaml",
                             .logs = folder / "logs",
                             .sessions = std::move(sessions)});
  }
  found.last_id = LastIdOf(jobs / ".jobman" / "next_job_id.txt");
  found.unclear = std::move(meta->unclear);
  found.generation = named ? "version 3" : "version 1 or 2";
  found.task_logs = jobs / "tasks";
  return found;
}

OldFolder ReadFirst(const Path& jobs) {
  OldFolder found{.generation = "version 0",
                  .last_id = LastIdOf(jobs / ".state" / "next_job_id.txt")};
  for (const std::string& name : NamesIn(jobs)) {
    const auto id = NumberOf(name);
    if (!id || !IsThere(jobs / name / "config.yaml")) continue;
    found.entries.push_back({.id = *id,
                             .config_file = jobs / name / "config.yaml",
                             .logs = jobs / name / "logs",
                             .sessions = SessionsOf(*id)});
  }
  return found;
}

OldFolder ReadLite(const Path& holders) {
  OldFolder found{.generation = "lite"};
  for (const std::string& name : NamesIn(holders)) {
    const auto id = NumberOf(std::string_view(name).substr(0, name.find('-')));
    if (!id || !IsThere(holders / name / "config.yaml")) continue;
    std::vector<std::string> sessions = SessionsOf(*id);
    sessions.push_back(name);
    found.entries.push_back({.id = *id,
                             .config_file = holders / name / "config.yaml",
                             .logs = holders / name / "logs",
                             .sessions = std::move(sessions)});
  }
  return found;
}

/// Those in the folder that have a state file beside them.
std::vector<Path> QueuesIn(const Path& dir) {
  std::vector<Path> queues;
  for (const std::string& name : NamesIn(dir)) {
    const Path file = dir / name;
    const bool yaml = file.extension() == ".yaml" || file.extension() == ".yml";
    if (yaml && IsThere(OldStateFileOf(file))) queues.push_back(file);
  }
  return queues;
}

Result<OldFolder> ReadAny(const Path& dir, core::TimePoint now) {
  const Path jobs = IsThere(dir / "jobs") ? dir / "jobs" : dir;
  if (IsThere(jobs / ".jobman" / "meta.json")) return ReadNumbered(jobs);
  if (IsThere(dir / "workers.json") || IsThere(dir / "queue.json")) return ReadRefactor(dir, now);
  if (IsThere(jobs / ".state")) return ReadFirst(jobs);
  const Path logs = IsThere(dir / "logs") ? dir / "logs" : dir;
  if (IsThere(logs / "tpus")) return ReadLite(logs / "tpus");
  return base::InvalidArgument(dir.string() + " is no folder of Python jobman: it has neither " +
                                   "jobs/.jobman/meta.json nor workers.json",
                               "name the folder in which it was run, or the one that has jobs/");
}

}  // namespace

Path OldStateFileOf(const Path& queue_file) {
  return queue_file.parent_path() /
         (queue_file.stem().string() + "_state" + queue_file.extension().string());
}

Result<OldFolder> ReadOldFolder(const Path& dir, core::TimePoint now) {
  std::error_code problem;
  if (!fs::is_directory(dir, problem)) {
    return base::NotFound("there is no folder " + dir.string(),
                          "name the folder in which Python jobman was run");
  }
  const Path real = base::RealPath(dir);
  JM_ASSIGN_OR_RETURN(OldFolder found, ReadAny(real, now));
  found.dir = real;
  found.queues = QueuesIn(real);
  for (const OldEntry& entry : found.entries) found.last_id = std::max(found.last_id, entry.id);
  std::sort(found.entries.begin(), found.entries.end(), [](const auto& a, const auto& b) {
    return std::pair(a.id, a.name) < std::pair(b.id, b.name);
  });
  return found;
}

}  // namespace jobman::config
