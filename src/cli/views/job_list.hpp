#pragma once

#include <string>
#include <vector>

#include "jobman/base/json.hpp"
#include "jobman/ports/job_store.hpp"
#include "jobman/ui/text.hpp"

namespace jobman::cli::views {

/// `jobman list`: a row per job, sorted by number.
struct JobList {
  std::vector<ports::JobSummary> jobs = {};
  core::TimePoint now = {};
};
std::string RenderText(const JobList& view, const ui::Style& style);
/// The ids, one per line.
std::string RenderQuiet(const JobList& view);
base::OrderedJson ToJson(const JobList& view);

}  // namespace jobman::cli::views
