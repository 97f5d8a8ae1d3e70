#pragma once

#include <string>
#include <vector>

#include "jobman/base/task.hpp"
#include "jobman/ports/job_store.hpp"

namespace jobman::client {

/// The job that "42", "000042" or a name refers to; a name refers to its newest job. kNotFound
/// suggests similar names.
base::Task<base::Result<core::JobId>> FindJob(ports::JobStore* jobs, std::string word);
/// The jobs that `words` refer to, in that order, without duplicates. A word with * or ? that is no
/// job's name stands for every job whose name matches, except deleted ones. Fails if any word finds
/// nothing.
base::Task<base::Result<std::vector<core::JobId>>> FindJobs(ports::JobStore* jobs,
                                                            std::vector<std::string> words);

/// The same for commands that delete for good. A name must be unambiguous: otherwise a second
/// `clean x` would remove an older job of that name. kInvalidArgument lists the candidates.
base::Task<base::Result<std::vector<core::JobId>>> FindJobsToRemove(ports::JobStore* jobs,
                                                                    std::vector<std::string> words);

}  // namespace jobman::client
