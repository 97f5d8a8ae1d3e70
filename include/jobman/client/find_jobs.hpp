#pragma once

#include <string>
#include <vector>

#include "jobman/base/task.hpp"
#include "jobman/ports/job_store.hpp"

namespace jobman::client {

/// The job that "42", "000042" or a name refers to. A name refers to its newest job that is not
/// deleted; if all are, to the newest. kNotFound suggests similar names.
base::Task<base::Result<core::JobId>> FindJob(ports::JobStore* jobs, std::string word);
/// What words mean to a command.
struct FindRules {
  /// It deletes for good, so a name must be unambiguous among the jobs that are not deleted:
  /// otherwise a second `delete x` would take an older job of that name. kInvalidArgument lists the
  /// candidates.
  bool removes = false;
  /// It looks at records or erases them: patterns stand for deleted jobs, too.
  bool with_deleted = false;
  /// It goes on to choose among them: a name means all its jobs, not only the one that FindJob()
  /// takes.
  bool all_of_name = false;
};
/// The jobs that `words` refer to, in that order, without duplicates. A word with * or ? that is no
/// job's name stands for every job whose name matches. Fails if any word finds nothing.
base::Task<base::Result<std::vector<core::JobId>>> FindJobs(ports::JobStore* jobs,
                                                            std::vector<std::string> words,
                                                            FindRules rules = {});

}  // namespace jobman::client
