#pragma once

#include <string>
#include <vector>

#include "jobman/ports/job_store.hpp"

namespace jobman::cli::views {

/// The rows of a list that fit into a window.
struct JobWindow {
  std::vector<const ports::JobSummary*> rows = {};
  std::string rest = {};  ///< one line about the others; empty if all fit
};

/// All jobs as they are sorted, or, if there is no room for so many lines, those that matter most:
/// see CurrentFirst(). At least one. Each job takes up to `lines` lines, at least 1.
JobWindow WindowOf(const std::vector<ports::JobSummary>& jobs, int room, int lines = 1);

}  // namespace jobman::cli::views
