#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "jobman/client/context.hpp"

namespace jobman::client {

/// What is to be taken over from Python jobman.
struct ImportOrder {
  base::Path dir = {};
  std::optional<std::string> endpoint = {};  ///< --endpoint
  std::vector<std::string> sets = {};        ///< --set, for the file of each job
  std::vector<std::string> set_files = {};   ///< --set-file
  bool dry_run = false;                      ///< store and copy nothing
};

/// What becomes of something that the old tool had.
enum class ImportFate {
  kTaken,  ///< is stored here now; of a dry run: would be
  kThere,  ///< an earlier import stored it
  kLeft,   ///< is left out: see `why`
};

struct ImportedRow {
  ImportFate fate = ImportFate::kTaken;
  core::JobId id = {};
  std::string name = {};
  std::string why = {};    ///< one sentence; empty when there is nothing to say
  std::string slice = {};  ///< the READY node that it goes on with; empty: none
  int logs = 0;            ///< files of logs that the old folder has of it
  base::Path queue = {};   ///< the queue file that it serves, if it is a worker of one
};

/// The tasks of a queue file, or those that were submitted.
struct ImportedQueue {
  std::string file = {};  ///< ports::kSubmittedQueue: of no file
  int taken = 0;
  int there = 0;
  int left = 0;
  int logs = 0;
  std::string why = {};  ///< why tasks are left out, the first of them
};

struct Imported {
  std::string generation = {};  ///< "version 3"
  base::Path dir = {};
  std::vector<ImportedRow> jobs = {};
  std::vector<ImportedQueue> queues = {};
  std::vector<std::string> notes = {};  ///< a sentence each
  /// What the old tool runs still, a sentence each. Only of a dry run: else it is refused.
  std::vector<std::string> alive = {};
};

/// Takes over what Python jobman has in a folder, of any of its generations: jobs with their
/// numbers, files and logs, and how its tasks stand. A job is stored as cancelled; one whose slice
/// is READY goes on with it when it is resumed (tpu.existing). What an earlier import stored is
/// left as it is. The old folder is only read; logs are copied.
///
/// kFailedPrecondition while the old tool runs one of its jobs: two controllers would fight for the
/// slice. kNotFound, kInvalidArgument: see config::ReadOldFolder(). A number that another job of
/// the store has is left out. It may take a while: logs are copied, and the cloud is asked once for
/// each job.
base::Task<base::Result<Imported>> ImportFolder(Context context, ImportOrder order);

}  // namespace jobman::client
