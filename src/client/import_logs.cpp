#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "client/import_parts.hpp"
#include "jobman/base/random.hpp"
#include "jobman/base/strings.hpp"
#include "jobman/config/old_state.hpp"

namespace jobman::client {
namespace {

namespace fs = std::filesystem;
using base::Path;

/// The logs of one job, or the runs of one task, are counted in tens.
constexpr int kMostFiles = 100'000;

/// The first that cannot be read. In a folder of several users, no one may be able to mend that, so
/// it holds up nothing else.
void NoteUnread(std::string& unread, const Path& path, const std::error_code& problem) {
  if (unread.empty()) unread = "cannot read " + path.string() + ": " + problem.message();
}

/// Regular files of a folder by name; links are passed over, as they may lead anywhere.
std::vector<Path> FilesIn(const Path& folder, std::string& unread) {
  std::vector<Path> files;
  std::error_code problem;
  for (fs::directory_iterator at(folder, problem), end; !problem && at != end;
       at.increment(problem)) {
    std::error_code unknown;
    const bool regular = fs::is_regular_file(at->symlink_status(unknown));
    if (regular && static_cast<int>(files.size()) < kMostFiles) files.push_back(at->path());
  }
  if (problem && problem != std::errc::no_such_file_or_directory) {
    NoteUnread(unread, folder, problem);
  }
  std::erase_if(files, [&unread](const Path& file) {
    if (::access(file.c_str(), R_OK) == 0) return false;
    NoteUnread(unread, file, {errno, std::generic_category()});
    return true;
  });
  std::sort(files.begin(), files.end());
  return files;
}

/// Through a file beside it, so that an import that was killed leaves no half of a log. Another
/// import may copy the same one now.
base::Status CopyNew(const Path& from, const Path& to) {
  std::error_code problem;
  if (fs::exists(fs::symlink_status(to, problem))) return base::Ok();
  JM_TRY(base::EnsureDir(to.parent_path()));
  const Path part = to.string() + "." + base::RandomHex(6) + ".part";
  fs::copy_file(from, part, fs::copy_options::overwrite_existing, problem);
  if (!problem) fs::permissions(part, fs::perms::owner_read | fs::perms::owner_write, problem);
  // Of a short log it says when its lines came.
  std::error_code unknown;
  const auto written = fs::last_write_time(from, unknown);
  if (!problem && !unknown) fs::last_write_time(part, written, unknown);
  if (!problem) fs::rename(part, to, problem);
  if (!problem) return base::Ok();
  std::error_code ignored;
  fs::remove(part, ignored);
  return base::Error{.code = base::Code::kUnavailable,
                     .message = "cannot copy " + from.string() + ": " + problem.message(),
                     .hint = "import again when that is mended: it goes on where it was"};
}

struct OldRunLog {
  base::TaskRunName run = {};
  int host = 0;
};

/// "run_1", of the branch refactor, which does not say which worker it was: 0 here.
std::optional<base::TaskRunName> PlainRunOf(std::string_view name) {
  constexpr std::string_view kRun = "run_";
  if (!name.starts_with(kRun)) return std::nullopt;
  const auto number = base::ParseNumber(name.substr(kRun.size()));
  if (!number || *number < 1 || *number > kMostFiles) return std::nullopt;
  return base::TaskRunName{.number = static_cast<int>(*number)};
}

/// "run_001_job000042_worker_0.log" or "run_1_worker_0.log"
std::optional<OldRunLog> RunLogOf(const std::string& name) {
  constexpr std::string_view kWorker = "_worker_";
  constexpr std::string_view kEnd = ".log";
  const auto at = name.find(kWorker);
  if (at == std::string::npos || !name.ends_with(kEnd)) return std::nullopt;
  const std::string of_run = name.substr(0, at);
  const auto named = base::StatePaths::TaskRunOfDir(of_run);
  const auto run = named ? named : PlainRunOf(of_run);
  std::string_view host = name;
  host.remove_prefix(at + kWorker.size());
  host.remove_suffix(kEnd.size());
  const auto number = base::ParseNumber(host);
  if (!run || !number || *number >= 10'000) return std::nullopt;
  return OldRunLog{.run = *run, .host = static_cast<int>(*number)};
}

}  // namespace

base::Result<int> ImportLogs(const base::StatePaths& paths, core::JobId job,
                             const base::Path& folder, bool copy, std::string& unread) {
  int count = 0;
  for (const Path& file : FilesIn(folder, unread)) {
    const auto log = config::OldLogOf(file.filename().string());
    if (!log) continue;
    ++count;
    if (copy) JM_TRY(CopyNew(file, paths.LogPath(job.value, 1, log->stage, log->host)));
  }
  return count;
}

base::Result<int> ImportTaskLogs(const base::StatePaths& paths, core::QueueId queue,
                                 const std::string& task, const base::Path& folder, bool copy,
                                 std::string& unread) {
  int count = 0;
  for (const Path& file : FilesIn(folder, unread)) {
    const auto log = RunLogOf(file.filename().string());
    if (!log) continue;
    ++count;
    if (copy) JM_TRY(CopyNew(file, paths.TaskLogPath(queue.value, task, log->run, log->host)));
  }
  return count;
}

}  // namespace jobman::client
