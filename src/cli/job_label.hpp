#pragma once

#include <string>
#include <vector>

#include "jobman/core/job.hpp"

namespace jobman::cli {

/// What tells a job from others whose output is shown with its own.
struct JobLabel {
  std::string prefix = {};  ///< of its lines: "sweep-0  "; those of all jobs have the same width
  std::string title = {};   ///< in a heading: "job 000042 (sweep-0), "
  int number = 0;           ///< among them: its colour
};

/// The labels of jobs, in their order: by name, or by number if a name is long or two are the same.
/// A job that is alone needs none.
std::vector<JobLabel> LabelsOf(const std::vector<core::Job>& jobs, bool utf8);

/// "job 000042 (sweep-0)".
std::string NumberAndName(const core::Job& job);
/// "000042 sweep-0", where a long name is cut.
std::string NumberAndShortName(const core::Job& job, bool utf8);

}  // namespace jobman::cli
