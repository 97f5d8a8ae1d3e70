#pragma once

#include <string>
#include <vector>

#include "jobman/base/task.hpp"
#include "jobman/ports/job_store.hpp"

namespace jobman::client {

/// The job that the user means by "42", "000042" or a name; a name means its newest job. kNotFound
/// names what is near.
base::Task<base::Result<core::JobId>> FindJob(ports::JobStore* jobs, std::string word);
/// The jobs that the user means, in that order, each once. Fails when one of them is not found,
/// before anything is done to the others.
base::Task<base::Result<std::vector<core::JobId>>> FindJobs(ports::JobStore* jobs,
                                                            std::vector<std::string> words);

/// The same for commands that take something away for good: a name must not leave a choice, else
/// the second `clean x` would take the job that the first one left. kInvalidArgument names them.
base::Task<base::Result<std::vector<core::JobId>>> FindJobsToRemove(ports::JobStore* jobs,
                                                                    std::vector<std::string> words);

}  // namespace jobman::client
