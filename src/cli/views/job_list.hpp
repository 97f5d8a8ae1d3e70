#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "jobman/base/json.hpp"
#include "jobman/ports/job_store.hpp"
#include "jobman/ui/text.hpp"

namespace jobman::cli::views {

/// `jobman list`: a row per job.
struct JobList {
  std::vector<ports::JobSummary> jobs = {};
  core::TimePoint now = {};
  bool wide = false;  ///< every column, whole
  /// With --details: what the hosts of a job wrote last, and when. Where the width is limited it is
  /// a line below the row.
  std::optional<std::map<core::JobId, std::string>> outputs = {};
  bool header = true;
  int height = 0;  ///< lines that fit the window; more jobs are only counted; 0: no limit
};
/// Empty without jobs.
std::string RenderText(const JobList& view, const ui::Style& style);
/// The ids, one per line.
std::string RenderQuiet(const JobList& view);
base::OrderedJson ToJson(const JobList& view);

}  // namespace jobman::cli::views
