#pragma once

#include <string>
#include <vector>

#include "jobman/client/context.hpp"
#include "jobman/core/task.hpp"

namespace jobman::client {

/// Tasks for the store's own queue, that of tasks which are in no file.
struct SubmitOrder {
  std::vector<core::TaskDefinition> tasks = {};  ///< in the order in which they are to be run
  /// Their ids are only what they begin with: "train" becomes train-001, or the next number that no
  /// task has had since.
  bool numbered = false;
};

struct Submitted {
  core::Task task = {};
  std::string waits_for = {};  ///< a sentence without its subject, as in `queue`
  bool has_worker = false;     ///< one of its accelerator and zone serves the queue
};

/// Stores the tasks and wakes the controller. kAlreadyExists if one of the ids is taken: then none
/// is stored, unless another command took it in the same moment.
base::Task<base::Result<std::vector<Submitted>>> SubmitTasks(Context context, SubmitOrder order);

}  // namespace jobman::client
