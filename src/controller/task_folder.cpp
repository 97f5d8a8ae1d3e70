#include "controller/task_folder.hpp"

#include <filesystem>
#include <system_error>
#include <vector>

#include "jobman/base/log.hpp"
#include "jobman/ports/queue_store.hpp"

namespace jobman::controller {

void DropOldRuns(const base::StatePaths& paths, std::int64_t queue, std::string_view task,
                 int run) {
  const int newest = run - ports::kRunsKept;
  if (newest < 1) return;
  std::vector<base::Path> old;
  std::error_code failed;
  std::filesystem::directory_iterator entry(paths.TaskDir(queue, task), failed);
  for (; !failed && entry != std::filesystem::directory_iterator(); entry.increment(failed)) {
    const auto name = base::StatePaths::TaskRunOfDir(entry->path().filename().string());
    if (name && name->number <= newest) old.push_back(entry->path());
  }
  for (const base::Path& folder : old) {
    std::filesystem::remove_all(folder, failed);
    if (failed) {
      base::Log(base::LogLevel::kWarn, "queue", "{} cannot be removed: {}", folder.string(),
                failed.message());
    }
  }
}

}  // namespace jobman::controller
