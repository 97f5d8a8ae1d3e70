#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "jobman/client/import.hpp"
#include "jobman/config/old_folder.hpp"

// The parts of ImportFolder().
namespace jobman::client {

/// "imported from /old, job 000024 of Python jobman": how an entry is known again.
std::string OriginOf(const config::OldFolder& old, const config::OldEntry& entry);

/// What the old tool runs still: a sentence for each entry with a session of tmux or a process.
base::Task<std::vector<std::string>> FindAlive(config::OldFolder old);

/// Asks the clouds of old jobs for their nodes. Each cloud is opened once; one that cannot be asked
/// is asked no more.
class NodeAsker {
 public:
  explicit NodeAsker(Context context) : context_(std::move(context)) {}
  /// The READY node of that name in the job's zone, if there is one.
  base::Task<bool> IsReady(core::JobSpec spec, std::string node);
  /// Why nodes could not be asked for, a sentence for each cloud.
  const std::set<std::string>& troubles() const { return troubles_; }

 private:
  Context context_;
  std::map<std::string, CloudClient> clouds_ = {};  ///< by endpoint
  std::set<std::string> closed_ = {};
  std::set<std::string> troubles_ = {};
};

/// Stores the entry as a job, unless the order is a dry run. `next`: the number of an entry that
/// has none; counted on when it is used. An error is of the store as a whole.
base::Task<base::Result<ImportedRow>> ImportEntry(Context context, ImportOrder order,
                                                  config::OldFolder old, config::OldEntry entry,
                                                  std::int64_t* next, NodeAsker* nodes);

/// Copies logs of a job that are not here yet; returns how many the old folder has. `copy` false:
/// counts alone. `unread`: the first that cannot be read, in a sentence, unless it says something.
base::Result<int> ImportLogs(const base::StatePaths& paths, core::JobId job,
                             const base::Path& folder, bool copy, std::string& unread);
/// The same for the runs of a task.
base::Result<int> ImportTaskLogs(const base::StatePaths& paths, core::QueueId queue,
                                 const std::string& task, const base::Path& folder, bool copy,
                                 std::string& unread);

/// How the tasks of a queue file stand there.
base::Task<base::Result<ImportedQueue>> ImportQueue(Context context, ImportOrder order,
                                                    config::OldFolder old, base::Path file);
/// Submitted tasks.
base::Task<base::Result<ImportedQueue>> ImportSubmitted(Context context, ImportOrder order,
                                                        config::OldFolder old);

}  // namespace jobman::client
