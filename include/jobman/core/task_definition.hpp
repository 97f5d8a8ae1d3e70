#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "jobman/base/id.hpp"
#include "jobman/core/job_spec.hpp"

namespace jobman::core {

struct QueueTag;
/// A queue of the store: that of one queue file.
using QueueId = base::Id<QueueTag>;

/// What a queue file says of a task, with every default filled in.
struct TaskDefinition {
  std::string id = {};           ///< unique within the queue; names the folder of its logs
  std::string accelerator = {};  ///< only workers of exactly this type take it
  std::string zone = {};         ///< and in exactly this zone; empty: no worker does
  std::string run = {};          ///< shell script
  std::string env = {};          ///< the conda or venv environment it runs in; empty: none
  std::string repo = {};         ///< its name in the file; empty: it runs in an empty folder
  std::string url = {};          ///< of the repository
  std::string branch = {};
  std::string workdir = {};  ///< below the home folder; empty: one of jobman's choice
  HostSet workers = {.all = false, .numbers = {0}};
  std::vector<std::string> depends_on = {};  ///< ids of tasks that must be done before
  int max_jobs = 1;                          ///< how many workers may run it at a time
  int max_retries = 3;                       ///< it is parked when it has failed so often
  bool hide = false;                         ///< not shown unless asked for
  static void Fields(auto&& field) {
    field("id", &TaskDefinition::id);
    field("accelerator", &TaskDefinition::accelerator);
    field("zone", &TaskDefinition::zone);
    field("run", &TaskDefinition::run);
    field("env", &TaskDefinition::env);
    field("repo", &TaskDefinition::repo);
    field("url", &TaskDefinition::url);
    field("branch", &TaskDefinition::branch);
    field("workdir", &TaskDefinition::workdir);
    field("workers", &TaskDefinition::workers);
    field("depends_on", &TaskDefinition::depends_on);
    field("max_jobs", &TaskDefinition::max_jobs);
    field("max_retries", &TaskDefinition::max_retries);
    field("hide", &TaskDefinition::hide);
  }
  friend bool operator==(const TaskDefinition&, const TaskDefinition&) = default;
};

}  // namespace jobman::core
