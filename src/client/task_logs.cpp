#include "jobman/client/task_logs.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace jobman::client {
namespace {

/// The names of what is in a folder; none if it does not exist.
std::vector<std::string> NamesIn(const base::Path& folder) {
  std::vector<std::string> names;
  std::error_code failed;
  std::filesystem::directory_iterator at(folder, failed);
  for (const std::filesystem::directory_iterator end; !failed && at != end; at.increment(failed)) {
    names.push_back(at->path().filename().string());
  }
  return names;
}

}  // namespace

std::vector<base::TaskRunName> TaskLogRuns(const base::StatePaths& paths, core::QueueId queue,
                                           const std::string& task) {
  std::vector<base::TaskRunName> runs;
  for (const std::string& name : NamesIn(paths.TaskDir(queue.value, task))) {
    if (const auto run = base::StatePaths::TaskRunOfDir(name)) runs.push_back(*run);
  }
  std::sort(runs.begin(), runs.end(),
            [](const auto& a, const auto& b) { return a.number < b.number; });
  return runs;
}

std::vector<LogFile> TaskLogFiles(const base::StatePaths& paths, core::QueueId queue,
                                  const std::string& task, base::TaskRunName run) {
  std::vector<LogFile> files;
  const base::Path folder = paths.TaskRunDir(queue.value, task, run);
  for (const std::string& name : NamesIn(folder)) {
    if (const auto host = base::StatePaths::HostOfLog(name)) {
      files.push_back({.host = *host, .path = folder / name});
    }
  }
  std::sort(files.begin(), files.end(),
            [](const LogFile& a, const LogFile& b) { return a.host < b.host; });
  return files;
}

}  // namespace jobman::client
