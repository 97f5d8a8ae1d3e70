#pragma once

#include <string>
#include <vector>

#include "jobman/client/context.hpp"
#include "jobman/ports/job_store.hpp"

namespace jobman::cli {

/// What the rows of `list` do not say, in lines of at most `width` columns (0: no limit): which
/// slices cost although nothing runs, and that nobody cares for the jobs.
base::Result<std::vector<std::string>> ListFooter(const client::Context& context,
                                                  const std::vector<ports::JobSummary>& jobs,
                                                  int width);

}  // namespace jobman::cli
