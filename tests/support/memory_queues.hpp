#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "jobman/ports/queue_store.hpp"

namespace jobman::test {

/// The queues of a MemoryStore, which checks leases.
class MemoryQueues {
 public:
  core::QueueId Open(const std::string& file);
  std::vector<ports::Queue> All() const;
  base::Result<ports::TasksRead> Tasks(core::QueueId queue, std::int64_t after) const;
  base::Result<core::Task> Get(core::QueueId queue, const std::string& id) const;
  std::vector<core::TaskRun> Runs(core::QueueId queue, const std::string& id) const;

  base::Status Sync(core::QueueId queue, const ports::QueueReading& reading,
                    const std::vector<core::Task>& tasks);
  base::Result<std::vector<std::string>> Change(const std::vector<core::Task>& tasks);
  base::Status Erase(core::QueueId queue, const std::string& id, std::int64_t version);

  /// What a turn writes. On an error, a part of it may be written.
  base::Status Write(const std::vector<core::TaskWrite>& writes);

  void SetUnreadable(core::QueueId queue, const std::string& id, bool unreadable);

 private:
  struct Record {
    core::Task task = {};
    std::int64_t change = 0;
    std::map<int, core::TaskRun> runs = {};
    bool unreadable = false;
  };
  struct Entry {
    ports::Queue queue = {};
    std::int64_t erased = 0;
    std::map<std::string, Record, std::less<>> tasks = {};
  };

  static base::Result<core::Task> Read(const Record& record);
  base::Result<const Entry*> Find(core::QueueId queue) const;
  const Record* FindTask(core::QueueId queue, const std::string& id) const;
  /// Whether the task can be written: new, or as it was read.
  bool IsCurrent(const core::Task& task) const;
  Record& Put(Entry& entry, core::Task task);
  base::Status WriteChange(const core::TaskChange& change);
  base::Status Release(const core::TaskRelease& release);

  std::map<core::QueueId, Entry> queues_ = {};
};

}  // namespace jobman::test
