#pragma once

#include <optional>
#include <string>
#include <vector>

#include "controller/job_book.hpp"
#include "jobman/core/task_list.hpp"

namespace jobman::controller {

/// The tasks of one queue as the store has them. Calls may overlap.
class QueueRecords {
 public:
  QueueRecords(const Ports& ports, std::string file, std::int64_t lease_token)
      : ports_(ports), file_(std::move(file)), lease_token_(lease_token) {}

  const std::string& file() const { return file_; }
  core::QueueId id() const { return id_; }
  bool loaded() const { return loaded_; }
  const core::TaskBoard& board() const { return board_; }

  /// Reads what was written since the last call; the first one makes the queue if there is none.
  base::Task<base::Status> Refresh();
  /// Records what was seen of the file, unless the store has it already. Without a list the tasks
  /// stay as they are. How many tasks were written.
  base::Task<base::Result<std::size_t>> Sync(ports::QueueReading reading,
                                             std::optional<core::TaskList> list);
  /// Ends runs whose worker does not have them: its job was erased, is over, or is in another
  /// attempt.
  base::Task<base::Status> EndOrphans(const JobBook& book);

 private:
  base::Task<base::Status> Open();
  base::Task<base::Result<bool>> IsOrphan(std::string task, core::TaskClaim claim);
  void Take(ports::TasksRead read);

  const Ports& ports_;
  const std::string file_;
  const std::int64_t lease_token_;
  core::QueueId id_ = {};
  bool loaded_ = false;
  std::int64_t change_ = 0;
  core::TaskBoard board_ = core::TaskBoard{};
  ports::QueueReading reading_ = {};
};

}  // namespace jobman::controller
