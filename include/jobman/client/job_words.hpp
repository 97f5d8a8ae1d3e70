#pragma once

#include <string>
#include <vector>

#include "jobman/ports/job_store.hpp"

namespace jobman::client {

/// For each of the jobs a word that means it to FindJob(): its name; its number if the name means
/// another job, or is not a word that a shell leaves as it is. `all`: of the store, deleted ones
/// too.
std::vector<std::string> WordsOf(const std::vector<ports::JobSummary>& jobs,
                                 const std::vector<ports::JobSummary>& all);

}  // namespace jobman::client
